#include "daemon/hosting/pulse.h"

#include <utility>

namespace perdure {

void Pulse::arm(std::int64_t delay_ms) {
  heard_ = false;
  timer_ = loop_.after_ms(delay_ms, [this] {
    timer_ = 0;
    on_time();
  });
}

void Pulse::begin() {
  end();
  state_ = State::listening;
  arm(times_.quiet_ms);
}

void Pulse::end() {
  state_ = State::off;
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
}

// Cheap, because it is called for every frame.
bool Pulse::heard() {
  heard_ = true;
  if (state_ != State::missed) return false;
  state_ = State::listening;
  arm(times_.quiet_ms);
  return true;
}

void Pulse::on_time() {
  if (heard_) {
    state_ = State::listening;
    return arm(times_.quiet_ms);
  }
  if (state_ == State::listening) {
    state_ = State::asked;
    arm(times_.answer_ms);
    return ask_();
  }
  state_ = State::missed;
  missed_();
}

}  // namespace perdure
