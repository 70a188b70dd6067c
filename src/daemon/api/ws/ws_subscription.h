// One session read by one socket. Records are sent one by one, each followed by its events. If the
// client wants them gathered, the first is sent at once, then those that arrived in the interval.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "daemon/api/ws/ws_connection.h"

namespace perdure {

class WsConnection::Subscription final : public RecordSink {
 public:
  Subscription(WsConnection& owner, const Cursor& cursor);
  ~Subscription() override;

  // Named events are sent only for records after the head; earlier records are history.
  Result<> start(Seq after, const std::string& log_id, Seq head);
  void drained();
  bool is_cut() const { return id_ == 0; }

  std::size_t room() const override;
  void on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) override;
  // C16: disconnected with its cursor; the client subscribes again after it.
  void on_cut(Seq cursor) override;

 private:
  void tell(Seq seq, const std::string& bytes);
  void gather(const std::string& bytes);
  void send_gathered();
  void rest();

  WsConnection& owner_;
  SessionId session_;
  std::int64_t gather_ms_;
  SubscriptionId id_ = 0;
  Seq live_after_ = 0;
  EventNamer namer_;
  std::string gathered_;  // records, joined by commas
  bool is_resting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
