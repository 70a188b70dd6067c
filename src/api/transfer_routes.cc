// An export goes out in portions, each when the one before has left: its length does not count. An
// import is read whole before anything is written.
#include "api/transfer_routes.h"

#include <memory>
#include <string>
#include <utility>

#include "api/audited.h"
#include "api/query.h"
#include "api/session_argument.h"
#include "api/session_json.h"
#include "api/workspace_link.h"
#include "base/json.h"
#include "base/limits.h"
#include "runtime/transfer.h"

namespace perdure {
namespace {

// One of the open streams: they own it, and end it with its principal's right.
class ExportStream final : public HttpStreamEvents, public OpenStream {
 public:
  ExportStream(Streams& streams, Principal principal, SessionExport file)
      : streams_(streams), principal_(std::move(principal)), file_(std::move(file)) {}

  static void start(std::unique_ptr<ExportStream> made, StreamSlots::Slot slot,
                    HttpExchange& exchange, HttpResponse head) {
    ExportStream& self = *made;
    self.seat_ = self.streams_.add(std::move(made), std::move(slot));
    self.stream_ = exchange.stream(std::move(head), self);
  }

  const Principal& principal() const override { return principal_; }
  void beat() override {}  // a file has no room for it
  // Cut off without its end: whoever reads it sees that it is not whole.
  void end() override {
    stream_.reset();
    streams_.retire(seat_);
  }

 private:
  // Comes for the head, too.
  void on_drained() override {
    if (!stream_) return;
    Result<std::string> portion = file_.next();
    if (!portion) return end();
    if (!portion->empty()) {
      return stream_->write(std::make_shared<const std::string>(std::move(*portion)));
    }
    stream_->finish();
    streams_.retire(seat_);
  }
  void on_closed() override { streams_.retire(seat_); }

  Streams& streams_;
  Principal principal_;
  SessionExport file_;
  std::shared_ptr<HttpStream> stream_;
  std::uint64_t seat_ = 0;
};

void send_export(Streams& streams, SessionId session, const Call& call, RawJson git) {
  ApiWorld& world = streams.world();
  Result<StreamSlots::Slot> slot = streams.admit(call.principal);
  if (!slot) return call.fail(slot.error());
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
  SecretMask secrets = world.secrets_of ? world.secrets_of(session) : SecretMask();
  SessionExport file(store, std::move(head), std::move(secrets));
  ExportStream::start(std::make_unique<ExportStream>(streams, call.principal, std::move(file)),
                      std::move(*slot), *call.exchange, std::move(response));
}

// Where the work stood: branch, commit, and what is not committed. Asked of the agentctl if one
// runs; a workspace without one, or without git, is exported without.
void serve_export(Streams& streams, Call call) {
  ApiWorld& world = streams.world();
  const Result<SessionId> session = session_of(world, call);
  if (!session) return call.fail(session.error());
  const Result<State> state = world.runtime.state(*session);
  if (!state) return call.fail(state.error());
  const bool linked = world.runtime.liveness(*session) == Liveness::alive;
  if (!linked || state->exec.status != ExecutorStatus::ready) {
    return send_export(streams, *session, call, {});
  }
  const ExecKey exec{*session, state->exec.id, state->exec.gen};
  auto kept = std::make_shared<Call>(std::move(call));
  world.workspaces.call(
      exec, "git.status", "{}", [&streams, exec, kept](Result<std::string> status) {
        if (!status) return send_export(streams, exec.session, *kept, {});
        streams.world().workspaces.call(
            exec, "git.diff", R"({"of":"since","commit":"HEAD"})",
            [&streams, exec, kept, status = *status](Result<std::string> diff) {
              JsonWriter git;
              git.begin_object().key("status").raw(status);
              git.key("diff").raw(diff ? *diff : "null").end_object();
              send_export(streams, exec.session, *kept, RawJson{std::move(git).take()});
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

SessionId adopted_session_of(const AdoptedBinding& binding) {
  return adopted_session(
      {.agent = binding.agent.name, .agent_session_id = binding.agent_session_id});
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
  if (!binding.cwd.empty() && world.files.folder_exists(binding.cwd)) {
    TRY_VOID(check_folder_owner(world, {binding.cwd, adopted_session_of(binding)}));
  }
  return binding;
}

void serve_adoption(ApiWorld& world, Call call, ParsedExport file, AdoptedBinding binding) {
  const SessionId to = adopted_session_of(binding);
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

void add_transfer_routes(Router& router, Streams& streams) {
  ApiWorld& world = streams.world();
  router.add({.method = "GET",
              .pattern = "/api/sessions/{id}/export",
              .access = Access::observe,
              .summary = "The session as one portable file",
              .handler = [&world, &streams](Call call) {
                const Result<SessionId> session = session_of(world, call);
                if (!session) return call.fail(session.error());
                AuditEntry entry = audit_entry(world, call, "session.export");
                entry.on = {session->text()};
                audited(world, std::move(call), std::move(entry),
                        [&streams](Call noted) { serve_export(streams, std::move(noted)); });
              }});
  router.add({.method = "POST",
              .pattern = "/api/import",
              .access = Access::admin,
              .summary = "A new session out of such a file; it runs nothing until it is bound anew",
              .handler =
                  [&world](Call call) {
                    AuditEntry entry = audit_entry(world, call, "session.import");
                    entry.text = std::to_string(call.request.body.size()) + " bytes";
                    audited(world, std::move(call), std::move(entry),
                            [&world](Call noted) { serve_import(world, std::move(noted)); });
                  },
              .body_bytes_max = import_bytes_max,
              .body_type = BodyType::any});
}

}  // namespace perdure
