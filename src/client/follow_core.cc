#include "client/follow_core.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "client/json_view.h"

namespace perdure::client {
namespace {

// After one heartbeat with a higher number, records may still be on their way; after a second one
// they are lost (N3).
constexpr int behind_max = 2;

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

FollowCore::FollowCore(FollowRequest request, FollowEvents& events, Dice dice)
    : request_(std::move(request)),
      events_(events),
      dice_(std::move(dice)),
      cursor_(request_.after),
      log_id_(request_.log_id) {}

FollowCore::Next FollowCore::next(std::int64_t now_ms) const {
  switch (phase_) {
    case Phase::waiting:
      if (now_ms >= due_ms_) return {.wish = Wish::connect};
      return {.wish = Wish::wait, .at_ms = due_ms_};
    case Phase::connecting:
    case Phase::open: {
      const std::int64_t silent_until = heard_ms_ + stream_silence_ms;
      if (now_ms >= silent_until) return {.wish = Wish::hang_up};
      return {.wish = Wish::wait, .at_ms = silent_until};
    }
    case Phase::broken: return {.wish = Wish::hang_up};
    case Phase::over: break;
  }
  return {};
}

ApiRequest FollowCore::connect(std::int64_t now_ms) {
  phase_ = Phase::connecting;
  heard_ms_ = now_ms;
  behind_ = 0;
  ApiRequest request;
  request.path =
      request_.path.empty() ? "/api/sessions/" + request_.session + "/events" : request_.path;
  request.accept = "text/event-stream";
  request.query.emplace_back("after", std::to_string(cursor_));
  if (!log_id_.empty()) request.query.emplace_back("log_id", log_id_);
  return request;
}

void FollowCore::on_open(std::int64_t now_ms) {
  if (phase_ != Phase::connecting) return;
  phase_ = Phase::open;
  heard_ms_ = now_ms;
  was_open_ = true;
  events_.on_connection(Connection::open);
}

void FollowCore::on_refused(const Refusal& refusal, std::int64_t now_ms) {
  if (refusal.error().code() == Code::cursor_invalid && cursor_ != 0) {
    start_over();
    on_closed(now_ms);
    return;
  }
  // Retry temporary errors and limits later. Any other error would repeat.
  const Code code = refusal.error().code();
  if (refusal.status >= 500 || code == Code::limit_reached) {
    on_closed(now_ms);
    return;
  }
  phase_ = Phase::over;
  events_.on_refused(refusal);
}

void FollowCore::on_event(const SseEvent& event, std::int64_t now_ms) {
  if (phase_ != Phase::open) return;
  heard_ms_ = now_ms;
  failures_ = 0;
  if (event.event == "reset") {
    start_over();
    phase_ = Phase::broken;
    return;
  }
  const auto json = JsonView::read(event.data);
  if (event.event == "heartbeat") {
    if (!json) return;
    const JsonView head = (*json)["head"].is_there() ? (*json)["head"] : (*json)["as_of"];
    on_heartbeat(head.number());
    return;
  }
  if (!json) {
    phase_ = Phase::broken;  // cannot be parsed: read it again
    return;
  }
  if (event.event == "state") {
    if (const std::string id = (*json)["log_id"].text(); !id.empty()) log_id_ = id;
    events_.on_state(event.data);
    return;
  }
  const std::uint64_t seq = number_of(event.id.value_or(""));
  if (seq <= cursor_) return;  // without a number, or already delivered
  cursor_ = seq;
  behind_ = 0;
  events_.on_record(seq, event.data);
}

void FollowCore::on_heartbeat(std::uint64_t head) {
  behind_ = head > cursor_ ? behind_ + 1 : 0;
  if (behind_ >= behind_max) phase_ = Phase::broken;
}

void FollowCore::on_closed(std::int64_t now_ms) {
  if (phase_ == Phase::over) return;
  phase_ = Phase::waiting;
  const int doublings = std::min(failures_, 16);
  const std::int64_t full = std::min(reconnect_first_ms << doublings, reconnect_longest_ms);
  due_ms_ = now_ms + full / 2 + static_cast<std::int64_t>(static_cast<double>(full) / 2 * dice_());
  failures_ += 1;
  lose();
}

void FollowCore::start_over() {
  cursor_ = 0;
  log_id_.clear();
  events_.on_reset();
}

void FollowCore::lose() {
  if (std::exchange(was_open_, false)) events_.on_connection(Connection::lost);
}

}  // namespace perdure::client
