// The rules of following a session, without a socket or a clock: when to connect, from where, what
// is new, and when a stream that says nothing is given up. Each record is told once, in order,
// over any number of reconnects (STREAM1).
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
  // Gives numbers from 0 up to but not including 1: the jitter, so that a thousand clients of a
  // daemon that was restarted do not come all at once.
  using Dice = std::function<double()>;

  FollowCore(FollowRequest request, FollowEvents& events, Dice dice);

  enum class Wish { connect, wait, hang_up, nothing };
  struct Next {
    Wish wish = Wish::nothing;
    std::int64_t at_ms = 0;  // of wait: when to ask again
  };
  // What is to be done now. Asked again after everything that happened.
  Next next(std::int64_t now_ms) const;

  // The path and headers for the connection that begins now.
  ApiRequest connect(std::int64_t now_ms);
  void on_open(std::int64_t now_ms);
  void on_refused(const Refusal& refusal, std::int64_t now_ms);
  void on_event(const SseEvent& event, std::int64_t now_ms);
  // The stream ended, was cut, or was hung up on request.
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
  std::int64_t heard_ms_ = 0;  // open: when the last event came
  int failures_ = 0;           // since the last connection that told something
  int behind_ = 0;             // heartbeats in a row that knew of records we do not have
  bool was_open_ = false;
};

}  // namespace perdure::client
