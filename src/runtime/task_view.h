// A task as a client reads it: what the node journal says, and what follows from its sessions
// (C17, K36). Only sessions that the reader may know of are listed and counted.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/node.h"
#include "runtime/session_list.h"
#include "session/task_state.h"

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

// Newest first. With `may_see` only tasks that have a session it lets pass.
Result<std::vector<TaskView>> list_tasks(SessionList& sessions, const NodeState& node,
                                         const MaySee& may_see);
// not_found for a task that there is not, or that is not to be known of.
Result<TaskView> read_task(SessionList& sessions, const NodeState& node, TaskId task,
                           const MaySee& may_see);

}  // namespace perdure
