// Checks whether an agentctl with an open link still answers. A stopped process keeps its link and
// sends nothing: that is silence, not death (C19), and any message ends it.
#pragma once

#include <cstdint>
#include <functional>

#include "env/env.h"

namespace perdure {

struct PulseTimes {
  std::int64_t quiet_ms = 0;   // silence after which a question is sent
  std::int64_t answer_ms = 0;  // time for any message after that
};

class Pulse {
 public:
  // `ask` sends a question to which any message is an answer. `missed` is called once if nothing
  // comes, and not again before something was received.
  Pulse(Loop& loop, PulseTimes times, std::function<void()> ask, std::function<void()> missed)
      : loop_(loop), times_(times), ask_(std::move(ask)), missed_(std::move(missed)) {}
  ~Pulse() { end(); }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // The link is up.
  void begin();
  // The link is down: a missing answer no longer matters.
  void end();
  // Something was received. Returns true if it was missed until now.
  bool heard();
  bool is_missed() const { return state_ == State::missed; }

 private:
  enum class State { off, listening, asked, missed };
  void arm(std::int64_t delay_ms);
  void on_time();

  Loop& loop_;
  PulseTimes times_;
  std::function<void()> ask_;
  std::function<void()> missed_;
  State state_ = State::off;
  bool heard_ = false;  // since the timer was armed
  Loop::TimerId timer_ = 0;
};

}  // namespace perdure
