// The rules of following one session, without a socket or a clock: when to connect, from which
// cursor, which records are new, and when a silent stream is given up. Each record is delivered
// once, in order, across any number of reconnects (STREAM1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "client/api.h"
#include "client/sse.h"

namespace perdure::client {

class FollowCore {
 public:
  // Returns numbers from 0 up to but not including 1: the jitter, so that a thousand clients do not
  // reconnect to a restarted daemon all at once.
  using Dice = std::function<double()>;

  FollowCore(FollowRequest request, FollowEvents& events, Dice dice);

  enum class Wish { connect, wait, hang_up, nothing };
  struct Next {
    Wish wish = Wish::nothing;
    std::int64_t at_ms = 0;  // for wait: when to call next() again
  };
  // The next action. Call it again after every event.
  Next next(std::int64_t now_ms) const;

  // The path and headers of the connection that starts now.
  ApiRequest connect(std::int64_t now_ms);
  void on_open(std::int64_t now_ms);
  void on_refused(const Refusal& refusal, std::int64_t now_ms);
  void on_event(const SseEvent& event, std::int64_t now_ms);
  // The stream ended, was cut, or was closed on request.
  void on_closed(std::int64_t now_ms);

  std::uint64_t cursor() const { return cursor_; }
  bool is_over() const { return phase_ == Phase::over; }

 private:
  enum class Phase { waiting, connecting, open, broken, over };

  void on_heartbeat(std::uint64_t head);
  void start_over();
  void lose();

  FollowRequest request_;
  FollowEvents& events_;
  Dice dice_;
  Phase phase_ = Phase::waiting;
  std::uint64_t cursor_;
  std::string log_id_;
  std::int64_t due_ms_ = 0;    // waiting: when to connect
  std::int64_t heard_ms_ = 0;  // open: time of the last event
  int failures_ = 0;           // since the last connection that delivered an event
  int behind_ = 0;             // consecutive heartbeats that named records we lack
  bool was_open_ = false;
};

}  // namespace perdure::client
