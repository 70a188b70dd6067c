#include "daemon/api/routes/read_routes.h"

#include <utility>

#include "base/limits.h"
#include "core/wire/journal/record.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/list_json.h"
#include "daemon/api/json/reads_json.h"
#include "daemon/api/json/session_json.h"
#include "daemon/api/streams/event_stream.h"
#include "daemon/runtime/reads/reads.h"

namespace perdure {
namespace {

Result<EventsAsk> events_ask(const HttpRequest& request, Seq head) {
  EventsAsk ask{.after = TRY(number_parameter(request, "after")).value_or(0),
                .before = TRY(number_parameter(request, "before")),
                .limit = TRY(number_parameter(request, "limit")).value_or(100),
                .kind = text_parameter(request, "kind")};
  if (const std::string run = text_parameter(request, "run"); !run.empty()) {
    ask.run = TRY(RunId::parse(run));
  }
  if (const auto last = TRY(number_parameter(request, "last"))) {
    ask.before = head + 1;
    ask.limit = *last;
  }
  return ask;
}

Result<> check_log(const HttpRequest& request, const std::string& log_id) {
  const std::string given = text_parameter(request, "log_id");
  if (given.empty() || given == log_id) return {};
  return fail(Code::cursor_invalid, "the cursor belongs to another log; start over");
}

std::string lines(const EventsPage& page) {
  std::string out;
  for (const std::string& record : page.records) out += record + "\n";
  return out;
}

}  // namespace

RouteHandler ReadRoutes::of_session(OfSession handler) {
  return [this, handler](Call call) {
    const Result<SessionId> session = session_of(world_, call);
    if (!session) return fail_without_session(world_, call, session.error());
    if (const Result<> done = (this->*handler)(call, *session); !done) {
      fail_without_session(world_, call, done.error());
    }
  };
}

void ReadRoutes::get(Router& router, std::string pattern, std::string summary, OfSession handler) {
  router.add({.method = "GET",
              .pattern = std::move(pattern),
              .access = Access::observe,
              .summary = std::move(summary),
              .handler = of_session(handler)});
}

void ReadRoutes::add_to(Router& router) {
  add_list(router);
  add_session(router);
  add_text(router);
  add_deletion(router);
}

void ReadRoutes::add_session(Router& router) {
  get(router, "/api/sessions/{id}", "One session", &ReadRoutes::session);
  get(router, "/api/sessions/{id}/status", "A session's status", &ReadRoutes::status);
  get(router, "/api/sessions/{id}/events", "Records: a page, lines, or a stream",
      &ReadRoutes::events);
  get(router, "/api/sessions/{id}/rows", "Rows of the transcript for the page", &ReadRoutes::rows);
  get(router, "/api/sessions/{id}/page", "The initial data of a session's page", &ReadRoutes::page);
  get(router, "/api/sessions/{id}/at", "The session as it was at a record", &ReadRoutes::at);
  get(router, "/api/sessions/{id}/density", "Records over time, with marks", &ReadRoutes::density);
  get(router, "/api/sessions/{id}/blobs/{hash}", "A large field that was stored apart",
      &ReadRoutes::blob);
}

Result<> ReadRoutes::session(Call& call, SessionId session) {
  const SessionView view = TRY(world_.runtime.view(session));
  const ServedBeside beside = beside_session(world_, view);
  call.answer(R"({"session":)" + session_json(view, beside) + "}");
  return {};
}

Result<> ReadRoutes::status(Call& call, SessionId session) {
  const SessionView view = TRY(world_.runtime.view(session));
  call.answer(status_json(view, beside_session(world_, view)));
  return {};
}

Result<> ReadRoutes::events(Call& call, SessionId session) {
  const Wanted wanted = wanted_form(call.request);
  const HttpRequest& request = call.request;
  const bool is_page = request.parameter("limit") || request.parameter("before") ||
                       request.parameter("last") || wanted == Wanted::json;
  const bool follows = flag_parameter(request, "follow") || wanted == Wanted::sse;
  TRY_VOID(check_log(request, log_id()));
  const Seq head = TRY(world_.runtime.state(session)).head;
  const EventsAsk ask = TRY(events_ask(request, head));
  if (is_page && wanted != Wanted::sse && !follows) {
    const EventsPage page = TRY(read_events(world_.runtime, session, ask));
    if (wanted == Wanted::json) {
      call.answer(events_json(page, log_id()));
    } else {
      call.exchange->respond(
          {.headers = {{"Content-Type", "application/x-ndjson"}}, .body = lines(page)});
    }
    return {};
  }
  EventStreamOrder order{.session = session,
                         .cursor = TRY(stream_cursor(request)),
                         .form = wanted == Wanted::sse ? StreamForm::sse : StreamForm::ndjson,
                         .follow = follows ? Follow::for_ever : Follow::until_head,
                         .filter = ask};
  if (const auto last = TRY(number_parameter(request, "last"))) {
    order.cursor.after = head > *last ? head - *last : 0;
  }
  open_event_stream(streams_, std::move(call), std::move(order));
  return {};
}

Result<> ReadRoutes::rows(Call& call, SessionId session) {
  TRY_VOID(check_log(call.request, log_id()));
  RowsAsk ask{.before = TRY(number_parameter(call.request, "before")),
              .around = TRY(number_parameter(call.request, "around")),
              .at = TRY(number_parameter(call.request, "at"))};
  const auto tail = TRY(number_parameter(call.request, "tail"));
  const auto limit = TRY(number_parameter(call.request, "limit"));
  ask.limit = tail.value_or(limit.value_or(ask.limit));
  call.answer(rows_json(TRY(read_rows(world_.runtime, session, ask)), log_id()));
  return {};
}

// L31: everything as of one moment, so that one request is enough.
Result<> ReadRoutes::page(Call& call, SessionId session) {
  const RowsAsk ask{.limit = TRY(number_parameter(call.request, "tail")).value_or(80)};
  const SessionView view = TRY(world_.runtime.view(session));
  const RowsPage rows = TRY(read_rows(world_.runtime, session, ask));
  const MaySee may_see = [&call](SessionId other) { return call.principal.may_see(other); };
  const std::vector<InboxItem> inbox = TRY(world_.sessions.inbox(may_see));
  JsonWriter out;
  out.begin_object().key("session");
  out.raw(session_json(view, beside_session(world_, view)));
  out.key("task");
  Result<TaskView> task = fail(Code::not_found, "of none");
  if (view.task) task = read_task(world_.sessions, world_.node.state(), view.task, may_see);
  if (task) {
    out.raw(task_json(*task));
  } else {
    out.null();
  }
  out.key("rows").raw(rows_json(rows, log_id()));
  out.key("inbox").raw(inbox_counts_json(inbox));
  out.key("resume_on_open").string(world_.resume_on_open).end_object();
  call.answer(std::move(out).take());
  return {};
}

// The rows are one page of the state at that time.
Result<> ReadRoutes::at(Call& call, SessionId session) {
  const auto seq = TRY(number_parameter(call.request, "seq"));
  if (!seq || *seq == 0) return fail(Code::invalid_argument, "seq has to name a record");
  const RowsAsk ask{.at = *seq, .limit = TRY(number_parameter(call.request, "tail")).value_or(80)};
  RowsPage page = TRY(read_rows(world_.runtime, session, ask));
  past_.state(
      session, *seq,
      [this, session, page = std::move(page), call = std::move(call)](const Result<State>& state) {
        if (!state) return call.fail(state.error());
        // Processes of that time no longer live; only the journal is known.
        World then = world_.runtime.world_of(session);
        then.liveness = Liveness::unknown;
        const SessionView view = project_session(*state, then);
        JsonWriter out;
        out.begin_object().key("session").raw(session_json(view, {0, log_id()}));
        out.key("page").raw(rows_json(page, log_id())).end_object();
        call.answer(std::move(out).take());
      });
  return {};
}

Result<> ReadRoutes::density(Call& call, SessionId session) {
  const State state = TRY(world_.runtime.state(session));
  const auto buckets = TRY(number_parameter(call.request, "buckets")).value_or(200);
  const Timeline::Span span{state.created, state.updated};
  past_.timeline(session, state.head,
                 [span, buckets,
                  call = std::move(call)](const Result<std::shared_ptr<const Timeline>>& timeline) {
                   if (!timeline) return call.fail(timeline.error());
                   const auto wanted = static_cast<std::size_t>(buckets);
                   call.answer(density_json(**timeline, (*timeline)->density(span, wanted)));
                 });
  return {};
}

// Equal bytes are stored once for all sessions, so a hash alone does not grant access to them.
Result<> ReadRoutes::blob(Call& call, SessionId session) {
  const Hash hash = TRY(Hash::parse_hex(call.arguments.at(1)));
  const Seq head = TRY(world_.runtime.state(session)).head;
  auto fold = std::make_shared<BlobFold>(hash);
  scan_journal(world_.runtime, session, {.upto = head}, fold,
               [this, fold, hash, call = std::move(call)](const Result<>& scanned) {
                 if (!scanned) return call.fail(scanned.error());
                 if (!fold->found()) return call.fail({Code::not_found, "no such blob"});
                 Result<std::string> bytes = world_.runtime.store().blob(hash);
                 if (!bytes) return call.fail(bytes.error());
                 call.answer(std::move(*bytes));
               });
  return {};
}

}  // namespace perdure
