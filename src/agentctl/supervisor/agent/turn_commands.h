// Ends the commands of a cancelled turn. An agent may answer `cancelled` and leave what it started
// running (trap 9). Processes that lived before the turn (MCP servers, the agent's own helpers) are
// never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "env/env.h"
#include "env/process.h"

namespace perdure {

class TurnCommands {
 public:
  // Receives how many processes SIGTERM did not end.
  using Ended = std::move_only_function<void(std::size_t killed)>;

  // Both must outlive this object.
  TurnCommands(Loop& loop, Processes& processes) : loop_(loop), processes_(processes) {}
  ~TurnCommands() { forget(); }
  TurnCommands(const TurnCommands&) = delete;
  TurnCommands& operator=(const TurnCommands&) = delete;

  // Call when a turn begins: processes that the family has now do not belong to the turn.
  void begin(const Family& family);
  // Ends the processes that the family got since begin(): SIGTERM now, SIGKILL after the grace.
  // Returns their number; if any, `ended` is called when the last is gone or was killed.
  std::size_t end(const Family& family, std::int64_t grace_ms, Ended ended);
  // True from end() until its `ended`.
  bool is_ending() const { return timer_ != 0; }
  // Call when the agent has ended and others end its processes: `ended` is no longer called.
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
