// A reader of one session's events that keeps only counts, so that thousands fit next to the daemon
// they measure. Records must come as 1, 2, 3 … after the cursor: missing, repeated and misordered
// ones are counted, and so is each chunk's delay after its due time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "figures.h"
#include "net/client.h"

namespace perdure::load {

// How clients reach the daemon.
struct Door {
  HttpEndpoint endpoint;
  std::vector<HttpHeader> headers;  // Host, and the token over TCP
};

class SseClient final : public HttpBodyEvents {
 public:
  struct Order {
    std::string session;
    std::uint64_t after = 0;
  };
  // Adds the delays to `delays`, which must outlive the client.
  SseClient(HttpIo& io, const Door& door, Order order, Times& delays);

  const std::string& session() const { return order_.session; }
  std::uint64_t last() const { return last_; }      // the last record received
  std::uint64_t head() const { return head_; }      // of the session when the stream began
  std::uint64_t chunks() const { return chunks_; }  // those with a due time
  std::uint64_t completed() const { return completed_; }
  std::uint64_t wrong() const { return wrong_; }
  bool has_state() const { return has_state_; }
  bool is_open() const { return status_ == 200 && !ended_; }

  void on_head(const HttpResponse& head) override { status_ = head.status; }
  void on_bytes(std::string_view bytes) override;
  void on_end(Result<> result) override;

 private:
  void take_frame(std::string_view frame);

  Order order_;
  Times& delays_;
  std::unique_ptr<HttpCall> call_;
  std::string unread_;
  std::uint64_t last_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t wrong_ = 0;
  int status_ = 0;
  bool has_state_ = false;
  bool ended_ = false;
};

}  // namespace perdure::load
