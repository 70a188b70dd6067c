#include "api/commands.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/route.h"
#include "api/session_json.h"
#include "base/check.h"
#include "base/limits.h"
#include "session/token_index.h"
#include "wire/record.h"
#include "wire/reply.h"

namespace perdure {
namespace {

template <class Body>
Result<InputBody> read_plain(std::string_view body) {
  TRY_VOID(read_body<EmptyBody>(body));
  return InputBody(Body{});
}

Result<InputBody> read_prompt(std::string_view text) {
  const PromptBody body = TRY(read_body<PromptBody>(text));
  return InputBody(
      SubmitPrompt{.prompt = TRY(make_prompt(body.text, body.content)), .when = body.when});
}

Result<InputBody> read_cancel(std::string_view text) {
  return InputBody(CancelRun{.force = TRY(read_body<CancelBody>(text)).force});
}

Result<InputBody> read_stop(std::string_view text) {
  return InputBody(StopSession{.reason = TRY(read_body<StopBody>(text)).reason});
}

Result<InputBody> read_option_change(std::string_view text) {
  return InputBody(ConfigureSession{{.options = TRY(read_options(text))}});
}

constexpr auto verbs = std::to_array<SessionVerb>({
    {"prompt", "Give the session a prompt; answers once it is durable", read_prompt},
    {"cancel", "Cancel the open run", read_cancel},
    {"stop", "End the agent and everything under it", read_stop},
    {"archive", "Put the session away; it takes no new work", read_plain<ArchiveSession>},
    {"unarchive", "Take the session out of the archive", read_plain<UnarchiveSession>},
    {"repair", "Close what a crash left open", read_plain<RepairSession>},
    {"options", "Set the mode, the model or another option", read_option_change},
    {"queue/release", "Let the held prompts go on", read_plain<ReleaseQueue>},
});

// {"a":1} and {"b":2} -> {"a":1,"b":2}
std::string join_objects(std::string first, std::string_view second) {
  if (second == "{}") return first;
  if (first == "{}") return std::string(second);
  first.back() = ',';
  return first.append(second.substr(1));
}

}  // namespace

std::span<const SessionVerb> session_verbs() { return verbs; }

const SessionVerb* find_session_verb(std::string_view name) {
  const auto at = std::ranges::find(verbs, name, &SessionVerb::name);
  return at == verbs.end() ? nullptr : &*at;
}

Result<std::string> SessionCommands::shown(SessionId session) const {
  const SessionView view = TRY(world_.runtime.view(session));
  return session_json(view, beside_session(world_, view));
}

Result<State> SessionCommands::seen(const Asker& asker, SessionId session) const {
  if (!asker.principal.may_see(session)) return fail(Code::not_found, "no such session");
  return world_.runtime.state(session);
}

void SessionCommands::send(const Asker& asker, SessionId session, InputBody input, ReplyFn reply) {
  if (auto* prompt = get_if<SubmitPrompt>(&input)) prompt->key = asker.key;
  Request request{asker.principal.id, asker.key, asker.body_hash, std::move(input)};
  world_.runtime.submit(session, std::move(request),
                        [alive = std::weak_ptr<bool>(alive_),
                         reply = std::move(reply)](Result<Reply> result) mutable {
                          if (!alive.expired()) reply(std::move(result));
                        });
}

ApiAnswer SessionCommands::answer(SessionId session, const Reply& reply, int status) const {
  const Result<std::string> json = shown(session);
  std::string out = json ? "{\"session\":" + *json + "}" : "{}";
  return {status, join_objects(std::move(out), encode_reply(reply))};
}

void SessionCommands::finish(SessionId session, const Result<Reply>& reply, OnAnswer done) const {
  if (!reply) return done(std::unexpected(reply.error()));
  done(answer(session, *reply));
}

void SessionCommands::submit(Asker asker, SessionId session, Result<InputBody> input,
                             OnAnswer done) {
  if (!input) return done(std::unexpected(std::move(input).error()));
  if (const auto there = seen(asker, session); !there) {
    return done(std::unexpected(there.error()));
  }
  send(asker, session, std::move(*input),
       [this, session, done = std::move(done)](const Result<Reply>& reply) mutable {
         finish(session, reply, std::move(done));
       });
}

Result<> SessionCommands::check_task(TaskId task) const {
  if (!task || world_.node.state().tasks.contains(task)) return {};
  return fail(Code::not_found, "there is no task " + task.text());
}

Result<> SessionCommands::check_folder(const std::string& cwd) const {
  if (!cwd.starts_with('/') || cwd.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument, "cwd: the whole path of a folder is expected");
  }
  if (!world_.files.folder_exists(cwd)) {
    return fail(Code::workspace_missing, "the folder " + cwd + " does not exist");
  }
  return {};
}

Result<InputBody> SessionCommands::read_change(const State& state, const ChangeBody& body) const {
  ConfigureSession change;
  if (!body.policy.is_empty()) change.what.policy = TRY(body.policy.on(state.policy));
  if (body.policy.limits && world_.check_limits) {
    TRY_VOID(world_.check_limits(*body.policy.limits));
  }
  if (body.cwd) {
    const bool is_there = state.runtime == "remote" && body.cwd->starts_with('/');
    if (!is_there) TRY_VOID(check_folder(*body.cwd));
    change.what.workspace = Workspace{.cwd = *body.cwd};
  }
  if (json_is_null(body.task.text)) {
    change.what.task = TaskId();
  } else if (!body.task.text.empty()) {
    const TaskId task = TRY(TaskId::parse(TRY(json_string(body.task.text))));
    TRY_VOID(check_task(task));
    change.what.task = task;
  }
  TRY_VOID(check_mcp_servers(body.mcp_servers));
  change.what.mcp_servers = body.mcp_servers;
  return InputBody(std::move(change));
}

// What can be refused comes first, so that an error has changed nothing.
void SessionCommands::change(Asker asker, SessionId session, std::string_view text, OnAnswer done) {
  Result<ChangeBody> body = read_body<ChangeBody>(text);
  const Result<State> state = seen(asker, session);
  if (!state) return done(std::unexpected(state.error()));
  if (!body) return done(std::unexpected(std::move(body).error()));
  Result<InputBody> change = read_change(*state, *body);
  if (!change || !body->title) return submit(asker, session, std::move(change), std::move(done));
  Asker first = asker;
  if (!first.key.empty()) first.key += "#change";
  send(first, session, std::move(*change),
       [this, asker = std::move(asker), session, title = *body->title,
        done = std::move(done)](const Result<Reply>& reply) mutable {
         if (!reply) return done(std::unexpected(reply.error()));
         submit(asker, session, InputBody(RenameSession{title}), std::move(done));
       });
}

void SessionCommands::plan_repair(const Asker& asker, SessionId session, OnAnswer done) {
  const Result<State> state = seen(asker, session);
  if (!state) return done(std::unexpected(state.error()));
  const World known = world_.runtime.world_of(session);
  const Result<Decision> decision = decide(
      *state,
      Input{
          .now = known.now, .boot = known.boot, .by = asker.principal.id, .body = RepairSession{}});
  if (!decision) return done(std::unexpected(decision.error()));
  JsonWriter out;
  out.begin_object().key("dry_run").boolean(true).key("records").begin_array();
  for (std::uint64_t seq = state->head; const Event& event : decision->events) {
    out.raw(encode_record(++seq, {}, event));
  }
  out.end_array().end_object();
  done(ApiAnswer{200, std::move(out).take()});
}

void SessionCommands::answer_permission(Asker asker, PermissionId permission, std::string_view text,
                                        OnAnswer done) {
  if (!asker.principal.may_answer()) {
    return done(fail(Code::denied, "this caller may not answer questions"));
  }
  const auto choose = [&]() -> Result<InputBody> {
    return InputBody(
        AnswerPermission{permission, TRY(read_choice(TRY(read_body<AnswerBody>(text))))});
  };
  const Result<SessionId> session = world_.runtime.find_session(permission.text());
  if (!session || !asker.principal.may_see(*session)) {
    return done(fail(Code::not_found, "no such question"));
  }
  submit(std::move(asker), *session, choose(), std::move(done));
}

void SessionCommands::answer_wait(Asker asker, WaitTokenId token, std::string_view text,
                                  OnAnswer done) {
  if (!asker.principal.may_answer()) {
    return done(fail(Code::denied, "this caller may not answer questions"));
  }
  const auto read = [&]() -> Result<InputBody> {
    return InputBody(TRY(read_wait(token, TRY(read_body<WaitBody>(text)))));
  };
  const Result<SessionId> session = world_.runtime.find_session(token.text());
  if (!session || !asker.principal.may_see(*session)) {
    return done(fail(Code::token_not_found, "no such wait token"));
  }
  submit(std::move(asker), *session, read(), std::move(done));
}

void SessionCommands::show_wait_secret(const Asker& asker, WaitTokenId token, OnAnswer done) {
  if (!asker.principal.may_answer()) {
    return done(fail(Code::denied, "this caller may not answer questions"));
  }
  const Result<SessionId> session = world_.runtime.find_session(token.text());
  const Result<State> state = session ? seen(asker, *session) : std::unexpected(session.error());
  if (!state) return done(fail(Code::token_not_found, "no such wait token"));
  const std::optional<TokenEntry> entry = find_token(*state, token);
  if (!entry) return done(fail(Code::token_not_found, "the wait token was closed long ago"));
  if (entry->status != TokenStatus::active) {
    const Code code = entry->status == TokenStatus::consumed  ? Code::token_consumed
                      : entry->status == TokenStatus::expired ? Code::token_expired
                                                              : Code::token_revoked;
    return done(fail(code, "the wait token cannot be used any more"));
  }
  JsonWriter out;
  out.begin_object().key("token_id").string(token.text());
  out.key("secret").string(world_.runtime.wait_secret(token)).end_object();
  done(ApiAnswer{200, std::move(out).take()});
}

}  // namespace perdure
