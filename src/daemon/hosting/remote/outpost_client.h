// The daemon's end of an outpost: calls over one connection, which is opened on demand and reopened
// after a failure, and tunnels to agentctls, each over its own connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/wire/outpost.h"
#include "env/env.h"
#include "env/link.h"

namespace perdure {

// A link to the outpost; it closes if the certificate is not the known one.
struct DialledLink {
  std::unique_ptr<Link> link;
  std::function<std::string()> trouble;  // why it closed; valid while the link lives
};

struct OutpostAccess {
  std::string name;  // the remote's name, for people
  std::string secret;
  std::function<DialledLink()> dial;  // returns no link if the remote is unknown
  std::int64_t backoff_min_ms = 200;  // delay after a failed connection; doubles
  std::int64_t backoff_max_ms = 10'000;
};

class OutpostClient final : private LinkEvents {
 public:
  // The result is JSON. An outpost's own error has its code. remote_unavailable: the call was not
  // sent; unavailable: it was sent, but its effect is unknown.
  using OnReply = std::move_only_function<void(Result<std::string>)>;

  // The loop must outlive it. Destroying it fails the pending calls.
  OutpostClient(Loop& loop, Clock& clock, OutpostAccess access);
  ~OutpostClient() override;

  // Never answers from within the call.
  void call(OutpostCall call, OnReply done);
  // A link to that agentctl's socket; it closes if there is none.
  Result<std::unique_ptr<Link>> tunnel(ExecId exec, const std::string& owner);

  // Why the last connection failed; empty: it did not.
  const std::string& trouble() const { return trouble_; }
  const OutpostAccess& access() const { return access_; }

 private:
  struct Open {
    OnReply done;
    std::int64_t answer_ms = 0;
    std::string line;  // empty: it was sent
    Loop::TimerId timer = 0;
  };

  void on_bytes(std::string_view bytes) override;
  void on_drained() override {}
  void on_closed() override;
  Result<> read_line(const std::string& line);
  Result<> meet(const std::string& line);
  void connect();
  void send_waiting();
  void cut(const std::string& why);
  void tell_later(OnReply done, Result<std::string> result);
  std::int64_t now_ms() { return clock_.now().since_boot.ms; }

  Loop& loop_;
  Clock& clock_;
  OutpostAccess access_;
  DialledLink link_;
  OutpostLines lines_{outpost_line_bytes_max};
  bool is_welcome_ = false;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_call_ = 0;
  std::int64_t backoff_ms_ = 0;
  std::int64_t not_before_ms_ = 0;
  std::string trouble_;
};

}  // namespace perdure
