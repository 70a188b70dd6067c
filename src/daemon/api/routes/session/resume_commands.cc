// Resumes and forks: the commands whose answer needs more than one commit.
#include <utility>

#include "base/limits.h"
#include "core/wire/agentctl/reply.h"
#include "daemon/api/gate/route.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/agent_json.h"
#include "daemon/api/routes/session/commands.h"

namespace perdure {

Result<ResumeSession> SessionCommands::read_resume(const State& state,
                                                   const ResumeBody& body) const {
  if (body.task && body.task != state.task) {
    return fail(Code::conflict, "the session does not belong to the task " + body.task.text());
  }
  ResumeSession input{.how = body.how, .strict = body.strict};
  // A9: this daemon must still know the agent that is to continue.
  const std::string& name = body.with.empty() ? state.agent.name : body.with;
  const AgentDefinition* const agent = TRY(world_.agents.find(name));
  // An agent that is alive no longer needs its program; the resume will report it.
  if (!body.with.empty() || world_.runtime.liveness(state.id) == Liveness::dead) {
    TRY_VOID(check_presence(*agent, programs_of(world_, *agent)));
  }
  if (!body.with.empty()) input.with = agent->profile;
  return input;
}

void SessionCommands::resume(Asker asker, SessionId session, std::string_view text, OnAnswer done) {
  const Result<State> state = seen(asker, session);
  if (!state) return done(std::unexpected(state.error()));
  const Result<ResumeBody> body = read_body<ResumeBody>(text);
  if (!body) return done(std::unexpected(body.error()));
  // Another agent, or the word that the old one is dead, is more than driving a session.
  if (!body->with.empty() || body->declare_dead) {
    const Result<> may = check_may_own(asker.principal, session);
    if (!may) return done(std::unexpected(may.error()));
  }
  Result<ResumeSession> input = read_resume(*state, *body);
  if (!input) return done(std::unexpected(std::move(input).error()));
  if (body->wait) {
    if (!asker.principal.may_answer()) {
      return done(fail(Code::denied, "this caller may not answer questions"));
    }
    const auto read = [&]() -> Result<InputBody> {
      return InputBody(TRY(read_wait(body->wait->token, body->wait->body)));
    };
    return submit(std::move(asker), session, read(), std::move(done));
  }
  const bool may_live = world_.runtime.liveness(session) != Liveness::dead;
  if (!body->declare_dead || !may_live) {
    return start_resume(std::move(asker), session, std::move(*input), std::move(done));
  }
  Asker first = asker;
  if (!first.key.empty()) first.key += "#declare_dead";
  send(first, session, DeclareDead{},
       [this, asker = std::move(asker), session, input = std::move(*input),
        done = std::move(done)](const Result<Reply>& reply) mutable {
         if (!reply) return done(std::unexpected(reply.error()));
         start_resume(std::move(asker), session, std::move(input), std::move(done));
       });
}

void SessionCommands::start_resume(Asker asker, SessionId session, ResumeSession input,
                                   OnAnswer done) {
  Result<State> before = world_.runtime.state(session);
  if (!before) return done(std::unexpected(std::move(before).error()));
  send(asker, session, std::move(input),
       [this, session, before = std::move(*before),
        done = std::move(done)](const Result<Reply>& reply) mutable {
         if (!reply) return done(std::unexpected(reply.error()));
         if (!reply->resume_pending) {
           const Result<State> now = world_.runtime.state(session);
           if (!now) return done(std::unexpected(now.error()));
           return answer_receipt(session, {.receipt = make_live_receipt(*now)}, std::move(done));
         }
         Seq after = before.head;
         if (reply->seq != 0 && reply->seq <= after) {
           after = reply->seq - 1;  // a repeat: the ladder began, and perhaps ended, before
         } else if (reply->seq == 0 && !before.resume && before.context.boundary > 0) {
           after = before.context.boundary - 1;  // a repeat of one that had joined another
         }
         wait_for_receipt(session, {session, std::move(before), after}, std::move(done));
       });
}

void SessionCommands::wait_for_receipt(SessionId session, ResumeWait::Order order, OnAnswer done) {
  const std::uint64_t number = ++last_resume_;
  auto wait = std::make_unique<ResumeWait>(
      ResumeWait::Ports{world_.runtime, world_.loop}, std::move(order),
      [this, number, session, done = std::move(done)](const ResumeWait::Outcome& outcome) mutable {
        OnAnswer answer_to = std::move(done);
        const ResumeWait::Outcome told = outcome;
        resumes_.erase(number);  // also destroys the captures of this call
        answer_receipt(session, told, std::move(answer_to));
      });
  ResumeWait& started = *wait;
  resumes_.emplace(number, std::move(wait));
  started.start();
}

void SessionCommands::answer_receipt(SessionId session, const ResumeWait::Outcome& outcome,
                                     OnAnswer done) const {
  const Result<std::string> json = shown(session);
  if (!json) return done(std::unexpected(json.error()));
  const std::string members = "\"session\":" + *json + ",\"receipt\":" +
                              (outcome.receipt ? receipt_json(*outcome.receipt) : "null");
  if (!outcome.receipt) return done(ApiAnswer{202, "{" + members + ",\"pending\":true}"});
  if (!outcome.failed) {
    const std::string live = outcome.receipt->already_running ? "true" : "false";
    return done(
        ApiAnswer{200, "{" + members + ",\"pending\":false,\"already_running\":" + live + "}"});
  }
  // C2: the session continues to exist; the answer states the error and includes the session.
  HttpResponse error = error_response(Error(Code::not_resumable, outcome.receipt->reason));
  error.body.back() = ',';
  done(ApiAnswer{error.status, error.body + members + "}"});
}

void SessionCommands::fork(Asker asker, SessionId session, std::string_view text, OnAnswer done) {
  const Result<State> state = seen(asker, session);
  if (!state) return done(std::unexpected(state.error()));
  const Result<ForkBody> body = read_body<ForkBody>(text);
  if (!body) return done(std::unexpected(body.error()));
  if (const Result<> may = check_may_make(asker.principal); !may) {
    return done(std::unexpected(may.error()));
  }
  if (const Result<> good = check_branch(body->branch); !good) {
    return done(std::unexpected(good.error()));
  }
  if (body->at > state->head) {
    return done(fail(Code::cursor_invalid,
                     "the session has only " + std::to_string(state->head) + " records"));
  }
  if (!body->share_cwd && !world_.make_worktree) {
    return done(
        fail(Code::unavailable, "this daemon cannot make worktrees; fork with share_cwd: true"));
  }
  IdSource ids(world_.clock.now().wall, world_.random.next());
  send(asker, session, NameFork{ids.next<SessionId>()},
       [this, asker, session, body = *body, workspace = state->workspace,
        done = std::move(done)](Result<Reply> reply) mutable {
         if (!reply) return done(std::unexpected(std::move(reply).error()));
         fork_into({asker, session, reply->session, workspace, body}, std::move(done));
       });
}

// The worktree comes first: a copy that exists has its folder, or a repeat binds it to one.
void SessionCommands::fork_into(const ForkJob& job, OnAnswer done) {
  if (job.body.share_cwd) return copy_session(job, std::nullopt, std::move(done));
  world_.make_worktree({.session = job.to,
                        .cwd = job.workspace.cwd,
                        .branch = job.body.branch,
                        .repository = job.workspace.worktree_repository},
                       [this, alive = std::weak_ptr<bool>(alive_), job,
                        done = std::move(done)](Result<Workspace> made) mutable {
                         if (alive.expired()) return;
                         if (!made) return done(std::unexpected(std::move(made).error()));
                         copy_session(job, std::move(*made), std::move(done));
                       });
}

void SessionCommands::copy_session(const ForkJob& job, std::optional<Workspace> own,
                                   OnAnswer done) {
  if (world_.runtime.state(job.to)) return bind_copy(job, std::move(own), std::move(done));
  world_.runtime.fork(job.from, job.body.at, job.to, job.asker.principal.id,
                      [this, alive = std::weak_ptr<bool>(alive_), job, own = std::move(own),
                       done = std::move(done)](Result<Reply> reply) mutable {
                        if (alive.expired()) return;
                        if (!reply) return done(std::unexpected(std::move(reply).error()));
                        bind_copy(job, std::move(own), std::move(done));
                      });
}

void SessionCommands::bind_copy(const ForkJob& job, std::optional<Workspace> own, OnAnswer done) {
  const Result<State> state = world_.runtime.state(job.to);
  if (!state) return done(std::unexpected(state.error()));
  if (!own || *own == state->workspace) {
    return done(answer(job.to, Reply{.seq = state->head, .session = job.to}, 201));
  }
  Asker plain = job.asker;
  plain.key.clear();
  send(plain, job.to, ConfigureSession{{.workspace = std::move(*own)}},
       [this, to = job.to, done = std::move(done)](Result<Reply> bound) mutable {
         if (!bound) return done(std::unexpected(std::move(bound).error()));
         bound->session = to;
         done(answer(to, *bound, 201));
       });
}

}  // namespace perdure
