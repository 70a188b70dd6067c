// A client's view of one session's event stream over many connections: each starts after the last
// record that it has. Repeated, misordered or missing records are errors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.h"
#include "net/client.h"

namespace perdure {

class EventReader final : public HttpBodyEvents {
 public:
  EventReader(ApiClient& client, std::string session)
      : client_(client), session_(std::move(session)) {}
  ~EventReader() override;

  // Connects or reconnects after the last record, or after `after` if given. Keeps known records:
  // repeated ones must be equal to them.
  void open();
  void open_behind(std::uint64_t after);
  void close() { call_.reset(); }
  bool is_open() const { return call_ != nullptr && !ended_; }
  bool was_refused() const { return status_ != 0 && status_ != 200; }

  std::uint64_t last() const { return records_.size(); }
  // records()[n - 1] is the record with seq n, as served.
  const std::vector<std::string>& records() const { return records_; }
  // The number of run ends among them.
  std::uint64_t runs_ended() const { return runs_ended_; }
  // The first error; empty if there is none.
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
