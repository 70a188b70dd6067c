// A task as clients read it: the node journal's data, and what follows from its sessions (C17,
// K36). Only sessions that the reader may see are listed and counted.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/views/task_state.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {

struct TaskSession {
  SessionId session;
  std::string title;
  std::string agent;
  Status status = Status::idle;
  SessionState state = SessionState::waiting_for_input;
  Timestamp updated;
  bool archived = false;
  bool operator==(const TaskSession&) const = default;
};

struct TaskView {
  Task task;
  TaskState state = TaskState::todo;
  std::vector<TaskSession> sessions;  // newest first
  bool operator==(const TaskView&) const = default;
};

// Newest first. With `may_see`, only tasks with a visible session.
Result<std::vector<TaskView>> list_tasks(SessionList& sessions, const NodeState& node,
                                         const MaySee& may_see);
// not_found if the task does not exist or is not visible.
Result<TaskView> read_task(SessionList& sessions, const NodeState& node, TaskId task,
                           const MaySee& may_see);

}  // namespace perdure
