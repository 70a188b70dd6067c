// The list of sessions, the inbox, the executors and the search: all reads over all sessions.
#include "base/limits.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/list_json.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/runtime/reads/reads.h"

namespace perdure {
namespace {

Result<SessionList::Ask> list_ask(const Call& call) {
  const HttpRequest& request = call.request;
  SessionList::Ask ask{
      .archived = TRY(enum_parameter<ArchivedFilter>(request, "archived"))
                      .value_or(ArchivedFilter::without),
      .status = TRY(enum_parameter<Status>(request, "status")),
      .agent = text_parameter(request, "agent"),
      .text = text_parameter(request, "q"),
      .cursor = text_parameter(request, "cursor"),
      .limit = static_cast<std::size_t>(TRY(number_parameter(request, "limit")).value_or(100)),
      .may_see = may_see(call.principal)};
  if (const std::string task = text_parameter(request, "task_id"); !task.empty()) {
    ask.task = TRY(TaskId::parse(task));
  }
  if (ask.limit == 0) return fail(Code::invalid_argument, "limit has to be at least 1");
  return ask;
}

void write_next(JsonWriter& out, const std::string& next) {
  out.key("next");
  if (next.empty()) {
    out.null();
  } else {
    out.string(next);
  }
}

}  // namespace

void ReadRoutes::add_list(Router& router) {
  const auto add = [&](std::string pattern, std::string summary,
                       Result<> (ReadRoutes::*handler)(Call&)) {
    router.add({.method = "GET",
                .pattern = std::move(pattern),
                .access = Access::observe,
                .summary = std::move(summary),
                .handler = [this, handler](Call call) {
                  if (const Result<> done = (this->*handler)(call); !done) call.fail(done.error());
                }});
  };
  add("/api/sessions", "All sessions, newest first, in pages", &ReadRoutes::sessions);
  add("/api/inbox", "What waits for a person", &ReadRoutes::inbox);
  add("/api/executors", "Executions of sessions", &ReadRoutes::executors);
  add("/api/search", "Full text over all sessions", &ReadRoutes::search);
  router.add({.method = "GET",
              .pattern = "/api/stream",
              .access = Access::observe,
              .summary = "Changes of the list and the inbox, as a stream",
              .handler = [this](Call call) { lists_.open(std::move(call)); }});
}

Result<> ReadRoutes::sessions(Call& call) {
  const SessionList::Page page = TRY(world_.runtime.sessions().page(TRY(list_ask(call))));
  JsonWriter out;
  out.begin_object().key("sessions");
  write_rows(out, world_, page.rows);
  write_next(out, page.next);
  out.key("log_id").string(log_id()).end_object();
  call.answer(std::move(out).take());
  return {};
}

Result<> ReadRoutes::inbox(Call& call) {
  const auto items = TRY(world_.runtime.sessions().inbox(may_see(call.principal)));
  JsonWriter out;
  out.begin_object().key("counts").raw(inbox_counts_json(items)).key("items").begin_array();
  std::size_t shown = 0;
  for (const InboxItem& item : items) {
    if (shown++ == page_records_max) break;
    out.raw(inbox_item_json(item));
  }
  out.end_array().end_object();
  call.answer(std::move(out).take());
  return {};
}

Result<> ReadRoutes::executors(Call& call) {
  SessionId after;
  if (const std::string cursor = text_parameter(call.request, "cursor"); !cursor.empty()) {
    after = TRY(SessionId::parse(cursor));
  }
  const auto rows =
      TRY(world_.runtime.sessions().executors(after, page_records_max, may_see(call.principal)));
  JsonWriter out;
  out.begin_object().key("executors").begin_array();
  for (const SessionRow* const row : rows) out.raw(executor_json(*row));
  out.end_array();
  write_next(out, rows.size() < page_records_max ? "" : rows.back()->session.text());
  out.end_object();
  call.answer(std::move(out).take());
  return {};
}

Result<> ReadRoutes::search(Call& call) {
  const HttpRequest& request = call.request;
  TextAsk ask{
      .words = text_parameter(request, "q"),
      .limit = static_cast<std::size_t>(TRY(number_parameter(request, "limit")).value_or(50)),
      .kind = text_parameter(request, "kind"),
      .agent = text_parameter(request, "agent"),
      .since = TRY(time_parameter(request, "since")),
      .until = TRY(time_parameter(request, "until")),
      .may_see = may_see(call.principal)};
  if (ask.words.empty()) return fail(Code::invalid_argument, "q has to hold what is looked for");
  if (const std::string task = text_parameter(request, "task_id"); !task.empty()) {
    ask.task = TRY(TaskId::parse(task));
  }
  JsonWriter out;
  out.begin_object().key("hits").begin_array();
  for (const FoundText& hit : TRY(search_sessions(world_.runtime, ask))) {
    out.begin_object().key("session_id").string(hit.session.text());
    out.key("seq").number_unsigned(hit.seq).key("kind").string(hit.kind);
    out.key("ts").string(format_timestamp(hit.at)).key("title").string(hit.title);
    out.key("agent").string(hit.agent).key("task_id");
    if (hit.task) {
      out.string(hit.task.text());
    } else {
      out.null();
    }
    out.key("snippet").string(hit.snippet).end_object();
  }
  out.end_array().end_object();
  call.answer(std::move(out).take());
  return {};
}

}  // namespace perdure
