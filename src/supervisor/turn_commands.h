// The commands of a cancelled turn. An agent may answer `cancelled` and leave what it started
// running (trap 9), so they are ended here. The one rule: what lived before the turn, an MCP server
// or the agent's own helpers, is never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "env/env.h"
#include "env/process.h"

namespace perdure {

class TurnCommands {
 public:
  // How many of them SIGTERM did not end.
  using Ended = std::move_only_function<void(std::size_t killed)>;

  // Both outlive it.
  TurnCommands(Loop& loop, Processes& processes) : loop_(loop), processes_(processes) {}
  ~TurnCommands() { forget(); }
  TurnCommands(const TurnCommands&) = delete;
  TurnCommands& operator=(const TurnCommands&) = delete;

  // A turn begins: what the family has now is not of it.
  void begin(const Family& family);
  // Ends what the family got since: SIGTERM now, SIGKILL to what is left after the grace. Gives how
  // many there are; if any, `ended` follows when the last is gone or was killed.
  std::size_t end(const Family& family, std::int64_t grace_ms, Ended ended);
  // Between end() and its `ended`.
  bool is_ending() const { return timer_ != 0; }
  // The agent is gone, and everything of it is ended by others: `ended` is not called any more.
  void forget();

 private:
  void look();
  void look_later();

  Loop& loop_;
  Processes& processes_;
  ProcessSet before_;
  ProcessSet ending_;
  std::int64_t left_ms_ = 0;
  Ended ended_;
  Loop::TimerId timer_ = 0;
};

}  // namespace perdure
