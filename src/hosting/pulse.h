// Whether an agentctl to which a link is up still answers. A process that is stopped keeps its link
// and says nothing: that is silence, not death (C19), and whatever it says ends it.
#pragma once

#include <cstdint>
#include <functional>

#include "env/env.h"

namespace perdure {

struct PulseTimes {
  std::int64_t quiet_ms = 0;   // nothing was heard for so long: it is asked
  std::int64_t answer_ms = 0;  // for anything to be heard then
};

class Pulse {
 public:
  // `ask` sends a question that any answer will do for; `missed` is called once when none came, and
  // not again before something was heard.
  Pulse(Loop& loop, PulseTimes times, std::function<void()> ask, std::function<void()> missed)
      : loop_(loop), times_(times), ask_(std::move(ask)), missed_(std::move(missed)) {}
  ~Pulse() { end(); }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // The link is up.
  void begin();
  // The link is down: what was missed is nobody's business any more.
  void end();
  // Something came. True when it was missed until now.
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
