#include "daemon/runtime/reads/task_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/limits.h"

namespace perdure {
namespace {

using Grouped = std::map<TaskId, std::vector<TaskSession>>;

// The sessions of one task, or all sessions if it is null.
Result<Grouped> sessions_by_task(SessionList& sessions, TaskId task, const MaySee& may_see) {
  Grouped out;
  SessionList::Ask ask{
      .task = task, .archived = ArchivedFilter::all, .limit = page_records_max, .may_see = may_see};
  do {
    const SessionList::Page page = TRY(sessions.page(ask));
    for (const SessionRow* row : page.rows) {
      if (!row->summary.task) continue;
      out[row->summary.task].push_back({.session = row->session,
                                        .title = row->summary.title,
                                        .agent = row->summary.agent,
                                        .status = row->summary.status,
                                        .state = row->summary.state,
                                        .updated = row->updated,
                                        .archived = row->archived});
    }
    ask.cursor = page.next;
  } while (!ask.cursor.empty());
  return out;
}

TaskView view_of(const Task& task, Grouped& grouped) {
  TaskView view{.task = task};
  if (const auto at = grouped.find(task.id); at != grouped.end()) {
    view.sessions = std::move(at->second);
  }
  std::vector<SessionState> states;
  for (const TaskSession& session : view.sessions) states.push_back(session.state);
  view.state = derive_task_state(states);
  return view;
}

}  // namespace

Result<std::vector<TaskView>> list_tasks(SessionList& sessions, const NodeState& node,
                                         const MaySee& may_see) {
  Grouped grouped = TRY(sessions_by_task(sessions, TaskId(), may_see));
  std::vector<TaskView> out;
  for (const auto& [id, task] : node.tasks) {
    TaskView view = view_of(task, grouped);
    if (!may_see || !view.sessions.empty()) out.push_back(std::move(view));
  }
  std::ranges::reverse(out);  // ids grow with time
  return out;
}

Result<TaskView> read_task(SessionList& sessions, const NodeState& node, TaskId task,
                           const MaySee& may_see) {
  const auto at = node.tasks.find(task);
  if (at == node.tasks.end()) return fail(Code::not_found, "no task " + task.text());
  Grouped grouped = TRY(sessions_by_task(sessions, task, may_see));
  TaskView view = view_of(at->second, grouped);
  if (may_see && view.sessions.empty()) return fail(Code::not_found, "no task " + task.text());
  return view;
}

}  // namespace perdure
