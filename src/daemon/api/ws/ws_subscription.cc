#include "daemon/api/ws/ws_subscription.h"

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

constexpr std::size_t records_at_once = 32;

}  // namespace

WsConnection::Subscription::Subscription(WsConnection& owner, const Cursor& cursor)
    : owner_(owner), session_(cursor.session), gather_ms_(cursor.gather_ms) {}

WsConnection::Subscription::~Subscription() {
  if (id_ != 0) owner_.place_.server.world().runtime.unsubscribe(id_);
}

Result<> WsConnection::Subscription::start(Seq after, const std::string& log_id, Seq head) {
  live_after_ = head;
  id_ = TRY(owner_.place_.server.world().runtime.subscribe(session_, after, log_id, *this));
  return {};
}

void WsConnection::Subscription::drained() {
  if (id_ != 0) owner_.place_.server.world().runtime.drained(id_);
}

std::size_t WsConnection::Subscription::room() const {
  return owner_.has_room() ? records_at_once : 0;
}

void WsConnection::Subscription::on_records(
    Seq first, std::span<const std::shared_ptr<const std::string>> records) {
  for (Seq seq = first; const auto& bytes : records) {
    if (gather_ms_ == 0) {
      tell(seq, *bytes);
    } else {
      gather(*bytes);
    }
    seq += 1;
  }
  if (!is_resting_) send_gathered();
}

void WsConnection::Subscription::on_cut(Seq cursor) {
  send_gathered();
  id_ = 0;
  owner_.event("session.reset", session_,
               ",\"after\":" + std::to_string(cursor) + ",\"reason\":\"behind\"");
  owner_.forget_cut(session_);
}

void WsConnection::Subscription::tell(Seq seq, const std::string& bytes) {
  if (const Result<std::string> served = encode_served(session_, bytes)) {
    owner_.event("session.record", session_,
                 ",\"seq\":" + std::to_string(seq) + ",\"record\":" + *served);
  }
  const Result<DecodedRecord> decoded = decode_record(bytes);
  if (!decoded) return;
  for (const NamedEvent& named : namer_.add(decoded->record)) {
    if (seq > live_after_) owner_.event(named.action, session_, named.members);
  }
}

void WsConnection::Subscription::gather(const std::string& bytes) {
  const Result<std::string> served = encode_served(session_, bytes);
  if (!served) return;
  if (!gathered_.empty()) gathered_ += ',';
  gathered_ += *served;
  if (gathered_.size() >= ws_gather_bytes_max) send_gathered();
}

void WsConnection::Subscription::send_gathered() {
  if (gathered_.empty()) return;
  owner_.event("session.records", session_, ",\"records\":[" + gathered_ + "]");
  gathered_.clear();
  if (!is_resting_) rest();
}

// Gathers what arrives during the interval; if nothing does, the next record is sent at once.
void WsConnection::Subscription::rest() {
  is_resting_ = true;
  owner_.place_.server.world().loop.after_ms(gather_ms_,
                                             [this, alive = std::weak_ptr<bool>(alive_)] {
                                               if (alive.expired()) return;
                                               is_resting_ = false;
                                               send_gathered();
                                             });
}

}  // namespace perdure
