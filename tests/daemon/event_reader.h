// A client's view of one session's event stream over many connections: each begins behind the last
// record that it has. What a daemon sends twice, out of order or not at all is noted as wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.h"
#include "http/client.h"

namespace perdure {

class EventReader final : public HttpBodyEvents {
 public:
  EventReader(ApiClient& client, std::string session)
      : client_(client), session_(std::move(session)) {}
  ~EventReader() override;

  // Connects, or connects again, behind the last record; from `after` when one is given, which
  // forgets nothing: records that come again must equal those that came before.
  void open();
  void open_behind(std::uint64_t after);
  void close() { call_.reset(); }
  bool is_open() const { return call_ != nullptr && !ended_; }
  bool was_refused() const { return status_ != 0 && status_ != 200; }

  std::uint64_t last() const { return records_.size(); }
  // records()[n - 1] is the record of seq n as it was served.
  const std::vector<std::string>& records() const { return records_; }
  // Ends of runs among them.
  std::uint64_t runs_ended() const { return runs_ended_; }
  // The first thing that was wrong; empty when nothing was.
  const std::string& wrong() const { return wrong_; }
  std::uint64_t resets() const { return resets_; }
  std::uint64_t connections() const { return connections_; }

  void on_head(const HttpResponse& head) override;
  void on_bytes(std::string_view bytes) override;
  void on_end(Result<> result) override;

 private:
  void take_frame(std::string_view frame);
  void take_record(std::uint64_t seq, std::string data);

  ApiClient& client_;
  std::string session_;
  std::unique_ptr<HttpCall> call_;
  std::string unread_;
  std::vector<std::string> records_;
  std::uint64_t next_ = 1;
  std::uint64_t runs_ended_ = 0;
  std::uint64_t resets_ = 0;
  std::uint64_t connections_ = 0;
  int status_ = 0;
  bool ended_ = false;
  std::string wrong_;
};

}  // namespace perdure
