// A task's state, derived only from its sessions' states (C17, K36).
#pragma once

#include <span>

#include "core/views/read_model.h"

namespace perdure {

enum class TaskState { todo, in_progress, review, done, failed };
ENUM_TEXT(TaskState, "TODO", "IN_PROGRESS", "REVIEW", "DONE", "FAILED");

// The first that applies: a session runs or starts, one waits for input, one failed. TODO without
// sessions; DONE if all have ended.
TaskState derive_task_state(std::span<const SessionState> sessions);

}  // namespace perdure
