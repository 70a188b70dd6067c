// An export goes out in portions, each when the one before has left: its length does not count. An
// import is read whole before anything is written.
#include "api/transfer_routes.h"

#include <memory>
#include <string>
#include <utility>

#include "api/query.h"
#include "api/session_argument.h"
#include "api/session_json.h"
#include "api/workspace_link.h"
#include "base/json.h"
#include "base/limits.h"
#include "runtime/transfer.h"

namespace perdure {
namespace {

// Owns itself until the whole file has left or the reader has gone.
class ExportStream final : public HttpStreamEvents {
 public:
  ExportStream(Loop& loop, SessionExport file) : loop_(loop), file_(std::move(file)) {}

  static void start(Loop& loop, SessionExport file, HttpExchange& exchange, HttpResponse head) {
    auto made = std::make_shared<ExportStream>(loop, std::move(file));
    made->self_ = made;
    made->stream_ = exchange.stream(std::move(head), *made);
  }

 private:
  // Comes for the head, too.
  void on_drained() override {
    if (!stream_) return;
    Result<std::string> portion = file_.next();
    // Cut off without its end: whoever reads it sees that it is not whole.
    if (!portion) return let_go();
    if (portion->empty()) {
      stream_->finish();
      return let_go();
    }
    stream_->write(std::make_shared<const std::string>(std::move(*portion)));
  }
  void on_closed() override { let_go(); }

  void let_go() {
    // Not from inside its own call.
    loop_.post([self = std::exchange(self_, nullptr), stream = std::exchange(stream_, nullptr)] {});
  }

  Loop& loop_;
  SessionExport file_;
  std::shared_ptr<HttpStream> stream_;
  std::shared_ptr<ExportStream> self_;
};

void send_export(ApiWorld& world, SessionId session, const Call& call, RawJson git) {
  const Result<State> state = world.runtime.state(session);
  if (!state) return call.fail(state.error());
  Store& store = world.runtime.store();
  ExportHead head{.session = session,
                  .title = state->title,
                  .agent = state->agent.name,
                  .cwd = state->workspace.cwd,
                  .records = state->head,
                  .log_id = store.log_id(),
                  .at = world.clock.now().wall,
                  .made_by = world.version,
                  .git = std::move(git)};
  HttpResponse response;
  response.headers = {
      {"Content-Type", "application/x-ndjson"},
      {"Content-Disposition", "attachment; filename=\"" + session.text() + ".perdure\""}};
  ExportStream::start(world.loop, SessionExport(store, std::move(head)), *call.exchange,
                      std::move(response));
}

// Where the work stood: branch, commit, and what is not committed. Asked of the agentctl if one
// runs; a workspace without one, or without git, is exported without.
void serve_export(ApiWorld& world, Call call) {
  const Result<SessionId> session = session_of(world, call);
  if (!session) return call.fail(session.error());
  const Result<State> state = world.runtime.state(*session);
  if (!state) return call.fail(state.error());
  const bool linked = world.runtime.liveness(*session) == Liveness::alive;
  if (!linked || state->exec.status != ExecutorStatus::ready) {
    return send_export(world, *session, call, {});
  }
  const ExecKey exec{*session, state->exec.id, state->exec.gen};
  auto kept = std::make_shared<Call>(std::move(call));
  world.workspaces.call(exec, "git.status", "{}", [&world, exec, kept](Result<std::string> status) {
    if (!status) return send_export(world, exec.session, *kept, {});
    world.workspaces.call(exec, "git.diff", R"({"of":"since","commit":"HEAD"})",
                          [&world, exec, kept, status = *status](Result<std::string> diff) {
                            JsonWriter git;
                            git.begin_object().key("status").raw(status);
                            git.key("diff").raw(diff ? *diff : "null").end_object();
                            send_export(world, exec.session, *kept, RawJson{std::move(git).take()});
                          });
  });
}

// The same key and the same file give the same session, whenever they come.
SessionId imported_id(ApiWorld& world, const Call& call) {
  const Timestamp now = world.clock.now().wall;
  if (call.key().empty()) return IdSource(now, world.random.next()).next<SessionId>();
  const Hash hash = sha256("import\n" + call.key() + "\n" + call.body_hash().hex());
  Ulid ulid;
  for (std::size_t i = 0; i < 8; ++i) {
    ulid.high = ulid.high << 8 | hash.bytes[i];
    ulid.low = ulid.low << 8 | hash.bytes[8 + i];
  }
  return SessionId(ulid);
}

// What the caller binds an adopted session to; nothing without `agent_session_id`. The folder may
// be gone: then the session can be read, and a resume says what is missing.
Result<std::optional<AdoptedBinding>> binding_of(ApiWorld& world, const Call& call) {
  AdoptedBinding binding{.agent = {},
                         .agent_session_id = text_parameter(call.request, "agent_session_id"),
                         .cwd = text_parameter(call.request, "cwd"),
                         .policy = world.policy};
  if (binding.agent_session_id.empty()) return std::nullopt;
  const AgentDefinition* const agent =
      TRY(world.agents.find(text_parameter(call.request, "agent")));
  binding.agent = agent->profile;
  if (!binding.cwd.empty() && !binding.cwd.starts_with('/')) {
    return fail(Code::invalid_argument, "cwd: it is an absolute path");
  }
  return binding;
}

void serve_adoption(ApiWorld& world, Call call, ParsedExport file, AdoptedBinding binding) {
  const SessionId to =
      adopted_session({.agent = binding.agent.name, .agent_session_id = binding.agent_session_id});
  const std::string by = call.principal.id;
  world.runtime.adopt_session(
      std::move(file), to, by, std::move(binding),
      [&world, call = std::make_shared<Call>(std::move(call))](const Result<Reply>& reply) {
        if (!reply) return call->fail(reply.error());
        const Result<SessionView> view = world.runtime.view(reply->session);
        if (!view) return call->fail(view.error());
        JsonWriter json;
        json.begin_object().key("session").raw(session_json(*view, beside_session(world, *view)));
        json.key("session_id").string(reply->session.text());
        json.key("nothing_to_do").boolean(reply->nothing_to_do).end_object();
        call->answer(reply->nothing_to_do ? 200 : 201, std::move(json).take());
      });
}

void serve_import(ApiWorld& world, Call call) {
  Result<ParsedExport> file = parse_export(call.request.body);
  if (!file) return call.fail(file.error());
  Result<std::optional<AdoptedBinding>> binding = binding_of(world, call);
  if (!binding) return call.fail(binding.error());
  if (*binding) return serve_adoption(world, std::move(call), std::move(*file), **binding);
  const std::string git = file->head.git.text;
  const SessionId to = imported_id(world, call);
  const std::string by = call.principal.id;
  world.runtime.import_session(
      std::move(*file), to, by,
      [&world, git, call = std::make_shared<Call>(std::move(call))](const Result<Reply>& reply) {
        if (!reply) return call->fail(reply.error());
        const Result<SessionView> view = world.runtime.view(reply->session);
        if (!view) return call->fail(view.error());
        JsonWriter json;
        json.begin_object().key("session").raw(session_json(*view, beside_session(world, *view)));
        json.key("session_id").string(reply->session.text());
        json.key("git").raw(git.empty() ? "null" : git).end_object();
        call->answer(201, std::move(json).take());
      });
}

}  // namespace

void add_transfer_routes(Router& router, ApiWorld& world) {
  router.add({.method = "GET",
              .pattern = "/api/sessions/{id}/export",
              .access = Access::observe,
              .summary = "The session as one portable file",
              .handler = [&world](Call call) { serve_export(world, std::move(call)); }});
  router.add({.method = "POST",
              .pattern = "/api/import",
              .access = Access::admin,
              .summary = "A new session out of such a file; it runs nothing until it is bound anew",
              .handler = [&world](Call call) { serve_import(world, std::move(call)); },
              .body_bytes_max = import_bytes_max,
              .body_type = BodyType::any});
}

}  // namespace perdure
