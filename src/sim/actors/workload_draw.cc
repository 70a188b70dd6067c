// Client requests, drawn from the seed with only the knowledge that a client could have.
#include <algorithm>
#include <utility>

#include "sim/actors/agent_draw.h"
#include "sim/actors/workload.h"

namespace perdure::sim {
namespace {

constexpr std::int64_t fork_ms_max = 120'000;  // the disk may be full for 30 s of these

Hash body_hash(std::uint64_t unique) {
  Hash hash;
  for (std::size_t i = 0; i < 8; ++i) hash.bytes[i] = static_cast<unsigned char>(unique >> (8 * i));
  return hash;
}

template <class Map>
auto pick(Prng& prng, const Map& map) {
  auto at = map.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(prng.below(map.size())));
  return at;
}

}  // namespace

Order Workload::make(const Client& client, SessionId session, InputBody body) {
  const std::uint64_t number = sent_.size() + 1;
  Order order{
      .session = session, .by = client.by, .body_hash = body_hash(number), .body = std::move(body)};
  const bool keyed = holds_alternative<SubmitPrompt>(order.body) || universe_.prng.chance(700'000);
  if (keyed) order.key = client.by + "/" + std::to_string(number);
  if (auto* prompt = get_if<SubmitPrompt>(&order.body)) prompt->key = order.key;
  if (auto* create = get_if<CreateSession>(&order.body)) create->key = order.key;
  return order;
}

Order Workload::draw_create(const Client& client) {
  Prng& prng = universe_.prng;
  const SessionId session = ids_.next<SessionId>();
  sessions_.push_back(session);
  CreateSession create;
  create.what.session = session;
  create.what.title = "session " + std::to_string(sessions_.size());
  create.what.agent = {.name = "sim",
                       .supports_session_resume = prng.chance(900'000),
                       .native_session_resume = prng.chance(850'000),
                       .steer = prng.chance(500'000)};
  if (prng.chance(500'000)) create.what.task = ids_.next<TaskId>();
  create.what.workspace.cwd = "/ws/" + std::to_string(sessions_.size());
  // Ignored by the simulated machine, which has one runtime: the settings must be stored unchanged.
  if (sessions_.size() % 3 == 1) create.what.remote = "remote-" + std::to_string(sessions_.size());
  if (sessions_.size() % 3 == 2) create.what.image = "image-" + std::to_string(sessions_.size());
  if (sessions_.size() % 2 == 1) create.what.mcp_servers.text = R"([{"name":"first"}])";
  create.what.policy =
      get<ConfigureSession>(draw_configure(client, session).body).what.policy.value_or(Policy{});
  if (universe_.faults.meddling > 0 && universe_.meddler_prng.chance(500'000)) {
    create.what.policy.wait_ms = universe_.meddler_prng.between(100, 3'000);
  }
  if (prng.chance(500'000)) create.prompt = Prompt{.text = "first\n" + draw_script(universe_)};
  return make(client, session, std::move(create));
}

Order Workload::draw_prompt(const Client& client, SessionId session) {
  static constexpr PromptWhen modes[] = {PromptWhen::automatic, PromptWhen::automatic,
                                         PromptWhen::queue, PromptWhen::interrupt,
                                         PromptWhen::steer};
  const PromptWhen when =
      universe_.healed ? PromptWhen::automatic : modes[universe_.prng.below(std::size(modes))];
  const bool clears = !universe_.healed && universe_.prng.chance(universe_.faults.agent_odd / 4);
  const std::string text = "prompt " + std::to_string(sent_.size()) + "\n" + draw_script(universe_);
  return make(client, session,
              SubmitPrompt{.prompt = {.text = clears ? "/clear" : text}, .when = when});
}

std::optional<Order> Workload::draw_queue(const Client& client, SessionId session) {
  const State& state = judge_.ledger(session).fold();
  if (state.queue.empty()) return std::nullopt;
  const MessageId message = state.queue[universe_.prng.below(state.queue.size())].message;
  switch (universe_.prng.below(4)) {
    case 0: return make(client, session, EditQueued{message, {.text = "edited"}});
    case 1: return make(client, session, RemoveQueued{message});
    default: return make(client, session, ReleaseQueue{});
  }
}

std::optional<Order> Workload::draw_answer(const Client& client, SessionId session) {
  Prng& prng = universe_.prng;
  const Ledger& book = judge_.ledger(session);
  if (book.permissions().empty() || !daemons_.serving()) return std::nullopt;
  // Mostly an open question, occasionally any earlier one.
  PermissionId permission;
  const auto& open = book.fold().permissions;
  permission = !open.empty() && prng.chance(900'000) ? pick(prng, open)->first
                                                     : pick(prng, book.permissions())->first;
  if (open.empty() && !prng.chance(100'000)) return std::nullopt;
  const auto& offered = book.permissions().at(permission).options;
  std::string option;
  if (!offered.empty() && prng.chance(800'000)) option = offered[prng.below(offered.size())].id;
  if (prng.chance(universe_.faults.client_odd / 4)) option = "never-offered";
  const WaitTokenId token = book.permissions().at(permission).token;
  Order order;
  if (token && prng.chance(400'000)) {
    const bool wrong = prng.chance(universe_.faults.client_odd);
    AnswerWait wait{.token = token, .option_id = option};
    wait.secret_hash = sha256(wrong ? "wrong" : daemons_.serving()->wait_secret(token));
    if (prng.chance(300'000)) wait.run = book.tokens().at(token).run;
    if (prng.chance(300'000)) wait.kind = WaitKind::permission;
    const bool other_scope = prng.chance(universe_.faults.client_odd);
    if (other_scope && prng.chance(500'000)) {
      wait.run = ids_.next<RunId>();
    } else if (other_scope) {
      wait.kind = WaitKind::input;
    }
    order = make(client, session, std::move(wait));
    order.wrong_secret = wrong || other_scope;
  } else {
    order = make(client, session, AnswerPermission{permission, option});
  }
  if (prng.chance(universe_.faults.client_odd / 2)) {
    order.by = "session:" + session.text();
    order.is_inside = true;
  }
  return order;
}

Order Workload::draw_configure(const Client& client, SessionId session) {
  Prng& prng = universe_.prng;
  SessionConfigured what;
  if (prng.chance(600'000)) {
    static constexpr Inject injects[] = {Inject::automatic, Inject::automatic, Inject::ask,
                                         Inject::off};
    static constexpr ResumePolicy resumes[] = {ResumePolicy::on_demand, ResumePolicy::on_boot,
                                               ResumePolicy::manual};
    what.policy = Policy{.resume = resumes[prng.below(3)],
                         .inject = injects[prng.below(4)],
                         .survive = !prng.chance(200'000),
                         .auto_continue = prng.chance(400'000),
                         .wait_ms = prng.chance(400'000) ? prng.between(100, 20'000) : 0};
    if (prng.chance(800'000)) {
      what.policy->continue_at_reset =
          ContinueAtReset{.on = true, .times = static_cast<std::int64_t>(prng.between(1, 3))};
    }
  }
  static constexpr const char* modes[] = {"ask", "auto", "plan", "mode-0"};
  static constexpr const char* models[] = {"small", "large", "model-0"};
  if (prng.chance(300'000)) what.options["mode"] = modes[prng.below(std::size(modes))];
  if (prng.chance(200'000)) what.options["model"] = models[prng.below(std::size(models))];
  if (sent_.size() % 3 == 0) {
    what.mcp_servers.text = R"([{"name":"m)" + std::to_string(sent_.size()) + R"("}])";
  }
  if (prng.chance(100'000))
    what.workspace = Workspace{.cwd = "/ws/moved-" + std::to_string(prng.below(3))};
  return make(client, session, ConfigureSession{std::move(what)});
}

Order Workload::draw_resume(const Client& client, SessionId session) {
  Prng& prng = universe_.prng;
  static constexpr ResumeHow hows[] = {ResumeHow::automatic, ResumeHow::automatic,
                                       ResumeHow::resume,    ResumeHow::load,
                                       ResumeHow::inject,    ResumeHow::fresh};
  ResumeSession resume{.how = hows[prng.below(std::size(hows))], .strict = prng.chance(400'000)};
  // At a limit, people often continue with another agent.
  const bool limited = judge_.ledger(session).fold().limit.has_value();
  if (prng.chance(limited ? 700'000 : 150'000)) {
    resume.with = AgentProfile{.name = "other-" + std::to_string(prng.below(3)), .steer = true};
  }
  return make(client, session, std::move(resume));
}

void Workload::draw_fork(const Client& client, SessionId session) {
  if (daemons_.are_several()) judge_.catch_up(session);
  const Ledger& book = judge_.ledger(session);
  if (book.records() == 0 || judge_.is_damaged(session) || sessions_.size() >= 8) return;
  fork(client, session, universe_.prng.below(book.records() + 1));
}

// Forks at a record, or (0) at the head.
void Workload::fork(const Client& client, SessionId session, Seq at) {
  Daemon* const at_daemon = daemons_.any();
  const Ledger& book = judge_.ledger(session);
  if (!at_daemon || book.records() == 0 || judge_.is_damaged(session)) return;
  const SessionId to = ids_.next<SessionId>();
  universe_.trace.note("client", at, [&] {
    return client.by + " forks " + tail(session) + " at " + std::to_string(at) + " to " + tail(to);
  });
  const Seq copies = at == 0 ? book.records() : at;
  const auto answered = std::make_shared<bool>(false);
  universe_.after_awake_in(at_daemon->life(), fork_ms_max, [this, to, answered] {
    universe_.verdict.expect(*answered || daemons_.are_several(), "Q1",
                             [&] { return "the fork " + tail(to) + " has no answer"; });
  });
  // At the head that the daemon sees: another daemon's commit may become visible just before.
  const bool may_be_more = at == 0 && daemons_.are_several();
  const auto on_forked = [this, session, to, copies, may_be_more, answered,
                          life = at_daemon->life()](const Result<Reply>& answer) {
    *answered = true;
    if (life->dead) return;
    // Commits that were durable before may still be reported.
    const bool is_durable = !judge_.ledger(to).is_copying() && judge_.ledger(to).records() > 0;
    universe_.verdict.expect(!answer || !life->sync_failed || is_durable, "DISK1",
                             [] { return std::string("a fork is answered after a failed sync"); });
    if (!answer) {
      const Code code = answer.error().code();
      const bool is_lost =
          daemons_.are_several() && (code == Code::stale_owner || code == Code::unavailable);
      universe_.verdict.expect(code == Code::disk_full || is_lost || judge_.is_damaged(session),
                               "ACK1",
                               [&] { return "a fork was refused: " + answer.error().message(); });
      return;
    }
    if (may_be_more) judge_.catch_up(session);
    const Seq copied = judge_.ledger(to).copied_records();
    const bool is_whole = copied == copies || (may_be_more && copied > copies &&
                                               copied <= judge_.ledger(session).records());
    universe_.verdict.expect(is_whole, "ACK1", [] {
      return std::string("a fork has another length than was asked for");
    });
    sessions_.push_back(to);
  };
  const Acting acting(universe_.scheduler, at_daemon->life());
  at_daemon->serving()->fork(session, at, to, client.by, on_forked);
}

std::optional<Order> Workload::draw_meddling(SessionId session) {
  const Client meddler{.by = "uid:2000"};
  Prng& prng = universe_.meddler_prng;
  const State& state = judge_.ledger(session).fold();
  const bool may_live = state.exec.status != ExecutorStatus::none && !state.exec.gone;
  if (state.head > 0 && !may_live && !state.resume && !state.archived && prng.chance(200'000)) {
    return make(meddler, session, ResumeSession{.strict = prng.chance(700'000)});
  }
  if (!state.permissions.empty() && prng.chance(50'000)) {
    if (!state.run && prng.chance(500'000)) return make(meddler, session, StopSession{});
    return make(meddler, session, AnswerPermission{state.permissions.begin()->first, ""});
  }
  const auto steering = std::ranges::find_if(state.queue, &QueuedPrompt::steering);
  if (steering == state.queue.end()) {
    const bool can_steer = state.run && !state.run->cancelling && state.permissions.empty() &&
                           state.agent.steer && state.exec.tells_steered;
    if (!can_steer || !prng.chance(universe_.healed ? 700'000 : 300'000)) return std::nullopt;
    return make(meddler, session,
                SubmitPrompt{.prompt = {.text = "meddling"}, .when = PromptWhen::steer});
  }
  if (!state.run && state.queue_held) return make(meddler, session, ReleaseQueue{});
  Runtime* const runtime = daemons_.owner(session);
  const bool is_unheard = runtime && runtime->liveness(session) != Liveness::alive;
  if (is_unheard && prng.chance(500'000)) return make(meddler, session, DeclareDead{});
  switch (prng.below(state.run ? 8 : 4)) {
    case 0: return make(meddler, session, EditQueued{steering->message, {.text = "edited"}});
    case 1: return make(meddler, session, RemoveQueued{steering->message});
    case 2: return make(meddler, session, DeclareDead{});
    case 3:
      return make(meddler, session,
                  SubmitPrompt{.prompt = {.text = "behind"}, .when = PromptWhen::queue});
    default: return std::nullopt;
  }
}

std::optional<Order> Workload::draw(Client& client) {
  Prng& prng = universe_.prng;
  if (sessions_.size() < sessions_max_ && (sessions_.empty() || prng.chance(200'000))) {
    return draw_create(client);
  }
  const SessionId session = sessions_[prng.below(sessions_.size())];
  const std::uint64_t dice = prng.below(100);
  if (prng.chance(universe_.faults.folder_missing)) {
    for (Sent& sent : sent_) sent.is_seen_late |= !sent.settled;
    universe_.files.set_missing(judge_.ledger(session).fold().workspace.cwd, prng.chance(500'000));
  }
  // At a limit, people archive a session more often.
  const bool limited = judge_.ledger(session).fold().limit.has_value();
  if (limited && dice >= 95) return make(client, session, ArchiveSession{});
  const bool asks = !judge_.ledger(session).fold().permissions.empty();
  if (asks && dice < 60) return draw_answer(client, session);
  if (dice < 45) return draw_prompt(client, session);
  if (dice < 52) return draw_queue(client, session);
  if (dice < 60) return make(client, session, CancelRun{.force = prng.chance(100'000)});
  if (dice < 65) return make(client, session, StopSession{});
  if (dice < 77) return draw_resume(client, session);
  if (dice < 82) return draw_answer(client, session);
  if (dice < 88) return draw_configure(client, session);
  if (dice < 91)
    return make(client, session, RenameSession{"name " + std::to_string(prng.below(3))});
  if (dice < 93) return make(client, session, ArchiveSession{});
  if (dice < 96) return make(client, session, UnarchiveSession{});
  if (dice < 97)
    return make(client, session,
                prng.chance(500'000) ? InputBody(DeclareDead{}) : StartWorkspace{});
  if (dice < 98) return make(client, session, RepairSession{});
  draw_fork(client, session);
  return std::nullopt;
}

}  // namespace perdure::sim
