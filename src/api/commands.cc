#include "api/commands.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/audited.h"
#include "api/live_children.h"
#include "api/route.h"
#include "api/session_argument.h"
#include "api/session_json.h"
#include "base/check.h"
#include "base/limits.h"
#include "runtime/task_view.h"
#include "session/token_index.h"
#include "wire/record.h"
#include "wire/reply.h"

namespace perdure {
namespace {

// The kind of the chosen option: its id and its name are the agent's words.
std::string kind_chosen(const State* state, const AnswerPermission& answer) {
  if (answer.option_id.empty()) return "cancelled";
  if (!state) return "answered";
  const auto asked = state->permissions.find(answer.permission);
  if (asked == state->permissions.end()) return "answered";
  const auto& options = asked->second.options;
  const auto option = std::ranges::find(options, answer.option_id, &PermissionOption::id);
  return option == options.end() || option->kind.empty() ? "answered" : option->kind;
}

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

Result<> check_verb(const Principal& principal, const SessionVerb& verb) {
  // A mode can be one in which the agent no longer asks.
  return verb.name == "options" ? check_outside(principal, "change an agent's options")
                                : Result<>();
}

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
  AuditEntry entry{.by = asker.principal.id,
                   .how = how_of(asker.principal, world_.node.state()),
                   .from = asker.from,
                   .on = {session.text()}};
  if (const auto* answer = get_if<AnswerPermission>(&input)) {
    entry.what = "question.answer";
    entry.on.push_back(answer->permission.text());
    entry.text = kind_chosen(world_.runtime.state_in_memory(session), *answer);
  } else if (const auto* wait = get_if<AnswerWait>(&input)) {
    entry.what = "wait.answer";
    entry.on.push_back(wait->token.text());
  }
  if (!world_.audit || entry.what.empty()) {
    return send_now(asker, session, std::move(input), std::move(reply));
  }
  send_audited(asker, session, std::move(entry), std::move(input), std::move(reply));
}

void SessionCommands::send_audited(const Asker& asker, SessionId session, AuditEntry entry,
                                   InputBody input, ReplyFn reply) {
  AuditEntry noted = entry;
  auto act = [this, alive = std::weak_ptr<bool>(alive_), asker, session, entry = std::move(entry),
              input = std::move(input), reply = std::move(reply)](Result<Seq> seq) mutable {
    if (alive.expired()) return;
    if (!seq) return reply(std::unexpected(seq.error()));
    send_now(asker, session, std::move(input),
             [this, seq = *seq, entry = std::move(entry),
              reply = std::move(reply)](Result<Reply> result) mutable {
               if (!result) {
                 note_outcome(world_.audit, entry, seq, code_name(result.error().code()));
               } else if (result->nothing_to_do) {
                 note_outcome(world_.audit, entry, seq, "no_effect");
               }
               reply(std::move(result));
             });
  };
  world_.audit->note(std::move(noted), std::move(act));
}

void SessionCommands::send_now(const Asker& asker, SessionId session, InputBody input,
                               ReplyFn reply) {
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
  const bool stops = holds_alternative<StopSession>(*input);
  send(asker, session, std::move(*input),
       [this, session, stops, who = asker.principal,
        done = std::move(done)](const Result<Reply>& reply) mutable {
         if (!stops || !reply) return finish(session, reply, std::move(done));
         ApiAnswer stopped = answer(session, *reply);
         JsonWriter children;
         children.begin_object();
         write_live_children(children, world_, session, who);
         stopped.json = join_objects(std::move(stopped.json), children.end_object().text());
         done(std::move(stopped));
       });
}

Result<> SessionCommands::check_task(const Principal& principal, TaskId task) const {
  if (!task) return {};
  // One that has no session which the caller sees does not exist for it.
  const bool is_seen = !principal.is_restricted() ||
                       read_task(world_.sessions, world_.node.state(), task, may_see(principal));
  if (is_seen && world_.node.state().tasks.contains(task)) return {};
  return fail(Code::not_found, "there is no task " + task.text());
}

Result<> SessionCommands::check_may_make(const Principal& principal) const {
  if (!principal.sessions.empty()) {
    return fail(Code::denied, "this caller may work on its own sessions only");
  }
  if (!principal.hosted) return {};
  const Result<State> own = world_.runtime.state(principal.hosted);
  if (!own) {
    return fail(Code::denied,
                "It is not known which session this process belongs to, so it cannot make "
                "sessions.");
  }
  if (own->runtime == "standalone") return {};
  // It would choose what of this machine a new container or agent sees.
  return fail(Code::denied,
              "A process in a container or on another host cannot make sessions. Do it in a "
              "terminal or on the page.");
}

Result<> SessionCommands::check_folder(const Principal& principal, const Folder& folder) const {
  const std::string& cwd = folder.cwd;
  if (!cwd.starts_with('/') || cwd.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument, "cwd: the whole path of a folder is expected");
  }
  if (!world_.files.folder_exists(cwd)) {
    return fail(Code::workspace_missing, "the folder " + cwd + " does not exist");
  }
  return check_folder_owner(world_, {cwd, folder.session, principal.hosted});
}

Result<InputBody> SessionCommands::read_change(const Asker& asker, const State& state,
                                               const ChangeBody& body) const {
  const Principal& by = asker.principal;
  TRY_VOID(check_may_own(by, state.id));
  if (by.hosted && body.policy.limits) {
    return fail(Code::denied, "A process inside a session cannot change limits.");
  }
  if (by.hosted && body.cwd && state.runtime != "standalone") {
    return fail(Code::denied,
                "A process in a container or on another host cannot change the folder.");
  }
  ConfigureSession change;
  if (!body.policy.is_empty()) change.what.policy = TRY(body.policy.on(state.policy));
  if (body.policy.limits && world_.check_limits) {
    TRY_VOID(world_.check_limits(*body.policy.limits));
  }
  if (body.cwd) {
    const bool is_there = state.runtime == "remote" && body.cwd->starts_with('/');
    if (!is_there) TRY_VOID(check_folder(by, {*body.cwd, state.id}));
    change.what.workspace = Workspace{.cwd = *body.cwd};
  }
  if (json_is_null(body.task.text)) {
    change.what.task = TaskId();
  } else if (!body.task.text.empty()) {
    const TaskId task = TRY(TaskId::parse(TRY(json_string(body.task.text))));
    TRY_VOID(check_task(by, task));
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
  Result<InputBody> change = read_change(asker, *state, *body);
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

// Routes refuse such a caller themselves; here it comes over a socket.
std::unexpected<Error> SessionCommands::refuse_answer(const Asker& asker,
                                                      const std::string& on) const {
  Error error(Code::denied, "this caller may not answer questions");
  if (world_.audit) {
    world_.audit->note_refusal({.what = "request.refuse",
                                .by = asker.principal.id,
                                .how = how_of(asker.principal, world_.node.state()),
                                .from = asker.from,
                                .on = {on},
                                .outcome = std::string(code_name(error.code())),
                                .text = "an answer"});
  }
  return std::unexpected(std::move(error));
}

void SessionCommands::answer_permission(Asker asker, PermissionId permission, std::string_view text,
                                        OnAnswer done) {
  if (!asker.principal.may_answer()) { return done(refuse_answer(asker, permission.text())); }
  const auto choose = [&]() -> Result<InputBody> {
    const AnswerBody body = TRY(read_body<AnswerBody>(text));
    return InputBody(AnswerPermission{permission, TRY(read_choice(body)), body.if_question});
  };
  const Result<SessionId> session = world_.runtime.find_session(permission.text());
  if (!session || !asker.principal.may_see(*session)) {
    return done(fail(Code::not_found, "no such question"));
  }
  submit(std::move(asker), *session, choose(), std::move(done));
}

void SessionCommands::answer_wait(Asker asker, WaitTokenId token, std::string_view text,
                                  OnAnswer done) {
  if (!asker.principal.may_answer()) { return done(refuse_answer(asker, token.text())); }
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
