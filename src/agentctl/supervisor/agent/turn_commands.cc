#include "agentctl/supervisor/agent/turn_commands.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace perdure {
namespace {

constexpr std::int64_t look_again_ms = 50;

}  // namespace

void TurnCommands::begin(const Family& family) { before_ = processes_.offspring(family); }

std::size_t TurnCommands::end(const Family& family, std::int64_t grace_ms, Ended ended) {
  forget();
  const ProcessSet now = processes_.offspring(family);
  ProcessSet started;
  std::ranges::set_difference(now, before_, std::inserter(started, started.end()));
  ending_ = processes_.signal_each(started, SIGTERM);
  if (ending_.empty()) return 0;
  left_ms_ = grace_ms;
  ended_ = std::move(ended);
  look_later();
  return ending_.size();
}

void TurnCommands::look_later() {
  const std::int64_t wait_ms = std::clamp<std::int64_t>(left_ms_, 0, look_again_ms);
  left_ms_ -= wait_ms;
  timer_ = loop_.after_ms(wait_ms, [this] { look(); });
}

// Each look also finds processes that they have started since.
void TurnCommands::look() {
  timer_ = 0;
  const int number = left_ms_ > 0 ? 0 : SIGKILL;
  const ProcessSet left = processes_.signal_each(ending_, number);
  ending_.insert(left.begin(), left.end());
  if (!left.empty() && number == 0) return look_later();
  ending_.clear();
  std::exchange(ended_, nullptr)(left.size());
}

void TurnCommands::forget() {
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
  ending_.clear();
  ended_ = nullptr;
}

}  // namespace perdure
