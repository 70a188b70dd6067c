#include "core/views/task_state.h"

#include <algorithm>

namespace perdure {

TaskState derive_task_state(std::span<const SessionState> sessions) {
  if (sessions.empty()) return TaskState::todo;
  const auto any = [&](SessionState state) {
    return std::ranges::find(sessions, state) != sessions.end();
  };
  if (any(SessionState::running) || any(SessionState::starting)) return TaskState::in_progress;
  if (any(SessionState::waiting_for_input)) return TaskState::review;
  if (any(SessionState::failed) || any(SessionState::error)) return TaskState::failed;
  return TaskState::done;
}

}  // namespace perdure
