// Tasks: groups of sessions with a purpose. A caller bound to some sessions sees only the tasks of
// those and changes none.
#include <memory>
#include <utility>

#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/bodies.h"
#include "daemon/api/json/list_json.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/runtime/reads/task_view.h"

namespace perdure {
namespace {

struct CreateTaskBody {
  std::string title;
  std::string description;
  FIELDS {
    visit("title", self.title);
    visit("description", self.description);
  }
};

struct ChangeTaskBody {
  std::optional<std::string> title;
  std::optional<std::string> description;
  FIELDS {
    visit("title", self.title);
    visit("description", self.description);
  }
};

MaySee may_see_of(const Principal& principal) {
  if (!principal.is_restricted()) return {};
  return [principal](SessionId session) { return principal.may_see(session); };
}

std::string task_answer(const TaskView& view) {
  JsonWriter out;
  out.begin_object().key("task").raw(task_json(view));
  return std::move(out.end_object()).take();
}

// The view of the task named by the path, for this caller.
Result<TaskView> task_of(ApiWorld& world, const Call& call) {
  const Result<TaskId> task = TaskId::parse(call.arguments.at(0));
  if (!task) return fail(Code::not_found, "no such task");
  return read_task(world.sessions, world.node.state(), *task, may_see_of(call.principal));
}

Result<> check_may_change(const Principal& principal) {
  if (!principal.is_restricted()) return {};
  return fail(Code::denied,
              "This caller sees only some sessions (a token bound to them, or a process inside a "
              "session). It cannot change tasks.");
}

void list(ApiWorld& world, const Call& call) {
  const auto tasks = list_tasks(world.sessions, world.node.state(), may_see_of(call.principal));
  if (!tasks) return call.fail(tasks.error());
  JsonWriter out;
  out.begin_object().key("tasks").begin_array();
  for (const TaskView& view : *tasks) out.raw(task_json(view));
  call.answer(std::move(out.end_array().end_object()).take());
}

void show(ApiWorld& world, const Call& call) {
  const Result<TaskView> view = task_of(world, call);
  if (!view) return call.fail(view.error());
  call.answer(task_answer(*view));
}

// Answers with the task as it was created or changed, and the sessions that it has now.
void answer_task(ApiWorld& world, const Call& call, int status, const Result<Task>& task) {
  if (!task) return call.fail(task.error());
  TaskView view{.task = *task};
  auto now = read_task(world.sessions, world.node.state(), task->id, may_see_of(call.principal));
  if (now) {
    view = std::move(*now);
    view.task = *task;
  }
  call.answer(status, task_answer(view));
}

void create(ApiWorld& world, Call call) {
  Result<CreateTaskBody> body = read_body<CreateTaskBody>(call.request.body);
  if (const auto may = check_may_change(call.principal); !may) return call.fail(may.error());
  if (!body) return call.fail(body.error());
  NodeRequest request = node_request(call);
  world.node.create_task(std::move(request), std::move(body->title), std::move(body->description),
                         [&world, call = std::move(call)](const Result<Task>& task) {
                           answer_task(world, call, 201, task);
                         });
}

void change(ApiWorld& world, Call call) {
  const Result<TaskView> view = task_of(world, call);
  if (!view) return call.fail(view.error());
  if (const auto may = check_may_change(call.principal); !may) return call.fail(may.error());
  Result<ChangeTaskBody> body = read_body<ChangeTaskBody>(call.request.body);
  if (!body) return call.fail(body.error());
  NodeRequest request = node_request(call);
  world.node.change_task(std::move(request), view->task.id,
                         {std::move(body->title), std::move(body->description)},
                         [&world, call = std::move(call)](const Result<Task>& task) {
                           answer_task(world, call, 200, task);
                         });
}

// Its sessions remain, without a task that exists. Unlike a change, this does not look the task up
// first, because a repeat of the key must get the same answer as the first request.
void remove(ApiWorld& world, Call call) {
  const Result<TaskId> task = TaskId::parse(call.arguments.at(0));
  if (!task) return call.fail(Error(Code::not_found, "no such task"));
  if (call.principal.is_restricted()) {
    const Result<TaskView> view = task_of(world, call);
    return call.fail(view ? check_may_change(call.principal).error() : view.error());
  }
  AuditEntry entry = audit_entry(world, call, "task.delete");
  entry.on = {task->text()};
  entry.essential = true;
  audited(world, std::move(call), std::move(entry), [&world, id = *task](Call noted) {
    NodeRequest request = node_request(noted);
    world.node.delete_task(
        std::move(request), id, [id, call = std::move(noted)](const Result<>& done) {
          if (!done) return call.fail(done.error());
          call.answer(
              JsonWriter().begin_object().key("deleted").string(id.text()).end_object().text());
        });
  });
}

}  // namespace

void add_task_routes(Router& router, ApiWorld& world) {
  using Handler = void (*)(ApiWorld&, Call);
  const auto add = [&](std::string method, std::string pattern, std::string summary,
                       Handler handler) {
    const Access access = method == "GET" ? Access::observe : Access::operate;
    router.add({.method = std::move(method),
                .pattern = std::move(pattern),
                .access = access,
                .summary = std::move(summary),
                .handler = [&world, handler](Call call) { handler(world, std::move(call)); }});
  };
  add("GET", "/api/tasks", "All tasks, newest first.",
      [](ApiWorld& w, Call call) { list(w, call); });
  add("POST", "/api/tasks", "Makes a task.", &create);
  add("GET", "/api/tasks/{id}", "A task with its sessions.",
      [](ApiWorld& w, Call call) { show(w, call); });
  add("PATCH", "/api/tasks/{id}", "Changes title or description.", &change);
  add("DELETE", "/api/tasks/{id}", "Deletes a task; its sessions stay.", &remove);
}

}  // namespace perdure
