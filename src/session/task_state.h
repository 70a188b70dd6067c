// A task's state, derived from its sessions' states and from nothing else (C17, K36).
#pragma once

#include <span>

#include "session/read_model.h"

namespace perdure {

enum class TaskState { todo, in_progress, review, done, failed };
ENUM_TEXT(TaskState, "TODO", "IN_PROGRESS", "REVIEW", "DONE", "FAILED");

// Of several sessions the first that applies: one runs or starts, one waits for input, one failed.
// Without sessions TODO; when all have ended DONE.
TaskState derive_task_state(std::span<const SessionState> sessions);

}  // namespace perdure
