// Runs a session machine as the runtime does (decide, fold, keep the records) and checks after
// every input the invariants of docs/invariants.md, as far as the machine alone can break them. It
// keeps its own accounts of the events and never relies on the state that it checks. It uses no
// test framework, because unit tests, the random driver and the fuzzer share it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/session/status.h"
#include "core/session/transitions/draft.h"

namespace perdure {

template <class Body>
const Body* as(const Event& event) {
  return get_if<Body>(&event.body);
}

inline bool is_run_end(const Event& event) {
  return as<RunCompleted>(event) || as<RunFailed>(event) || as<RunCancelled>(event) ||
         as<RunInterrupted>(event);
}

template <class Body>
const Body* as_command(const Effect& effect) {
  const auto* command = get_if<SendCommand>(&effect);
  return command ? get_if<Body>(&command->body) : nullptr;
}

// Only client commands may be rejected.
inline bool is_client_command(const InputBody& body) {
  return body.index() < InputBody(Frame{}).index();
}

inline bool is_answer(const InputBody& body) {
  return holds_alternative<AnswerPermission>(body) || holds_alternative<AnswerWait>(body);
}

class MachineChecker {
 public:
  // How often the whole journal is folded again (J4); 1: after every input.
  explicit MachineChecker(std::size_t refold_every) : refold_every_(refold_every) {}

  // Decides the input and folds the events. If a rule was broken, violation() is set.
  Result<Decision> feed(const Input& input) {
    const Result<Decision> decided = decide(state_, input);
    check_deterministic(input, decided);
    if (!decided) {
      require(is_client_command(input.body), "frames and runtime inputs never fail");
      return decided;
    }
    fold(input, *decided);
    return decided;
  }

  // J4: folding the journal alone reproduces the state.
  void check_replay() {
    State replayed;
    for (const Record& record : records_) replayed = evolve(std::move(replayed), record.event);
    require(replayed == state_, "J4 the fold of the journal equals the live state");
  }

  const State& state() const { return state_; }
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Effect>& effects() const { return effects_; }
  const std::optional<std::string>& violation() const { return violation_; }

 private:
  struct Asked {
    std::string request;
    std::vector<PermissionOption> options;
    bool resolved = false;
  };

  void require(bool holds, const char* rule) {
    if (holds || violation_) return;
    violation_ = std::string(rule) + " (head " + std::to_string(state_.head) + ")";
  }

  void check_deterministic(const Input& input, const Result<Decision>& first) {
    const Result<Decision> again = decide(state_, input);
    require(first.has_value() == again.has_value(), "J5 the same input is refused or not");
    if (!first || !again) {
      require(first.has_value() || first.error() == again.error(), "J5 the same error");
      return;
    }
    require(first->events == again->events && first->effects == again->effects &&
                first->reply == again->reply && first->essential == again->essential &&
                first->dropped == again->dropped,
            "J5 equal input gives an equal decision");
  }

  void fold(const Input& input, const Decision& decision) {
    const State before = state_;
    require(decision.effects.empty() || !decision.events.empty(),
            "an effect is committed with an event");
    require(decision.dropped == 0 || decision.events.empty(), "a dropped frame leaves no record");
    for (const Event& event : decision.events) {
      check_event(input, event);
      state_ = evolve(std::move(state_), event);
      records_.push_back({state_.head, event});
      require(state_.head == records_.size(), "J1 numbered 1, 2, 3 without gap");
    }
    for (const Effect& effect : decision.effects) check_effect(decision, effect);
    check_state(before, input, decision);
    effects_.insert(effects_.end(), decision.effects.begin(), decision.effects.end());
    if (++inputs_ % refold_every_ == 0) check_replay();
  }

  void check_event(const Input& input, const Event& event) {
    require(event.at == input.now.wall, "an event carries the time of its input");
    check_run(event);
    check_execution(event);
    check_question(input, event);
    check_token(input, event);
    check_prompt(event);
  }

  void check_run(const Event& event) {
    const RunId run = event.origin.run;
    const RunId after = event.origin.after_run;
    require(!after || after != open_run_, "after_run names a run that is over");
    require(!after || !run, "a late record belongs to no run");
    if (as<RunStarted>(event)) {
      require(!open_run_, "RUN3 at most one open run");
      require(runs_.insert(run).second, "a run id is used once");
      open_run_ = run;
    }
    require(!run || run == open_run_, "RUN2 nothing carries the id of a run that is not open");
    if (as<ToolCall>(event) && run) tools_.insert(as<ToolCall>(event)->tool_call_id);
    if (const auto* closed = as<RepairClosedTool>(event)) {
      require(tools_.contains(closed->tool_call_id) || seen_update_.contains(closed->tool_call_id),
              "X19 a repair closes a tool call that was seen");
    }
    if (const auto* update = as<ToolUpdate>(event)) seen_update_.insert(update->tool_call_id);
    if (is_run_end(event)) {
      require(run && run == open_run_, "RUN1 a run ends once");
      open_run_ = RunId{};
    }
  }

  void check_execution(const Event& event) {
    if (as<ExecutorStarting>(event)) {
      require(!exec_lives_, "PROC3 a life begins when the one before is proved gone");
      require(event.origin.gen == gen_ + 1, "PROC2 gens grow by one");
      require(execs_.insert(event.origin.exec).second, "an execution id is used once");
      gen_ = event.origin.gen;
      exec_ = event.origin.exec;
      exec_lives_ = true;
    }
    if (event.origin.exec) {
      require(event.origin.exec == exec_ && event.origin.gen == gen_,
              "PROC2 nothing of an older life is recorded as the present one's");
    }
    if (as<ExecutorStopped>(event)) {
      require(exec_lives_, "an execution ends once");
      require(!open_run_, "the run ends before its execution");
      exec_lives_ = false;
    }
    require(event.origin.frame == 0 || exec_lives_, "a frame comes from a living execution");
  }

  void check_question(const Input& input, const Event& event) {
    if (const auto* asked = as<PermissionRequested>(event)) {
      require(asked_.emplace(asked->permission, Asked{asked->request, asked->options}).second,
              "a question has its own id");
    }
    const auto* resolved = as<PermissionResolved>(event);
    if (!resolved) return;
    const auto at = asked_.find(resolved->permission);
    require(at != asked_.end() && !at->second.resolved, "TOK3 each question has one outcome");
    if (at == asked_.end()) return;
    at->second.resolved = true;
    const bool selected = resolved->outcome == PermissionOutcome::selected;
    require(selected != resolved->option_id.empty(), "an option is named when one was selected");
    if (!selected) return;
    require(is_answer(input.body), "G7 only an answer allows anything");
    require(!input.by.starts_with("session:"), "TOK3 no session answers for a person");
    bool offered = false;
    for (const auto& option : at->second.options) offered |= option.id == resolved->option_id;
    require(offered, "the selected option was offered");
  }

  void check_token(const Input& input, const Event& event) {
    if (const auto* minted = as<TokenMinted>(event)) {
      require(tokens_.emplace(minted->token, true).second, "a token is minted once");
    }
    WaitTokenId closed;
    if (const auto* consumed = as<TokenConsumed>(event)) {
      require(is_answer(input.body), "O21 only an answer consumes a token");
      closed = consumed->token;
    }
    if (const auto* revoked = as<TokenRevoked>(event)) closed = revoked->token;
    if (const auto* expired = as<TokenExpired>(event)) closed = expired->token;
    if (!closed) return;
    const auto at = tokens_.find(closed);
    require(at != tokens_.end() && at->second, "TOK1 a token is closed once");
    if (at != tokens_.end()) at->second = false;
  }

  void check_prompt(const Event& event) {
    if (const auto* added = as<QueueAdded>(event)) {
      require(queued_.insert(added->message).second, "a prompt is queued once");
    }
    if (const auto* taken = as<QueueDelivered>(event)) {
      require(queued_.contains(taken->message) && left_.insert(taken->message).second,
              "a prompt leaves the queue once");
    }
    if (const auto* taken = as<QueueRemoved>(event)) {
      require(queued_.contains(taken->message) && left_.insert(taken->message).second,
              "a prompt leaves the queue once");
    }
    if (const auto* said = as<MessageUser>(event)) {
      require(said_.insert(said->message).second, "ACK2 a prompt is said once");
      require(said->key.empty() || keys_.insert(said->key).second, "ACK2 once per client key");
      require(!queued_.contains(said->message) || left_.contains(said->message),
              "a prompt that is said is not queued any more");
    }
    if (const auto* injected = as<ContextInjected>(event)) {
      require(injected_.insert(injected->boundary).second, "K29 once per boundary");
    }
  }

  template <class Body>
  static bool holds(const Decision& decision, auto&& matches) {
    for (const Event& event : decision.events) {
      const Body* body = as<Body>(event);
      if (body && matches(event, *body)) return true;
    }
    return false;
  }

  void check_effect(const Decision& decision, const Effect& effect) {
    if (const auto* start = get_if<StartExecutor>(&effect)) {
      require(exec_lives_ && start->exec == exec_ && start->gen == gen_ &&
                  started_.insert(start->exec).second,
              "PROC1 an execution is started once, while it is the present one");
    }
    if (const auto* stop = get_if<StopExecutor>(&effect)) {
      require(exec_lives_ && stop->exec == exec_ && stop->gen == gen_,
              "only the living execution is stopped");
      require(state_.exec.stop_requested, "who is told to stop is known to be stopping");
    }
    if (const auto* prepare = get_if<PrepareInjection>(&effect)) prepared_ = prepare->boundary;
    if (const auto* command = get_if<SendCommand>(&effect)) check_command(decision, *command);
  }

  void check_command(const Decision& decision, const SendCommand& command) {
    require(exec_lives_ && command.exec == exec_ && command.gen == gen_,
            "a command goes to the living execution");
    require(command.number > command_number_, "commands are numbered upwards");
    const bool begins = holds_alternative<StartAgent>(command.body) ||
                        holds_alternative<OpenSession>(command.body) ||
                        holds_alternative<SendPrompt>(command.body);
    require(!begins || !state_.exec.stop_requested, "nothing begins in a life that is being ended");
    command_number_ = command.number;
    if (const auto* prompt = get_if<SendPrompt>(&command.body)) {
      require(prompt->run == open_run_ && sent_.insert(prompt->message).second,
              "RUN4 a prompt is sent once, for the open run");
      const bool injected = holds<ContextInjected>(
          decision, [&](const Event&, const auto& body) { return body.text == prompt->context; });
      require(prompt->context.empty() || injected, "C12 what is sent beside a prompt is recorded");
      require(holds<MessageUser>(decision,
                                 [&](const Event&, const MessageUser& said) {
                                   return said.message == prompt->message &&
                                          said.prompt == prompt->prompt;
                                 }),
              "G1 a prompt is recorded with the commit that sends it");
    }
    if (const auto* steer = get_if<SteerPrompt>(&command.body)) {
      const auto waits = [&](const QueuedPrompt& item) { return item.message == steer->message; };
      require(steer->run == open_run_ && std::ranges::any_of(state_.queue, waits),
              "C23 a steered prompt waits until the agent is said to have it");
    }
    if (const auto* answer = get_if<AnswerRequest>(&command.body)) {
      require(holds<PermissionResolved>(decision,
                                        [&](const Event&, const auto& resolved) {
                                          return asked_.at(resolved.permission).request ==
                                                     answer->request &&
                                                 resolved.option_id == answer->option_id;
                                        }),
              "TOK4 an answer is recorded with the commit that sends it");
    }
  }

  void check_state(const State& before, const Input& input, const Decision& decision) {
    const bool lives = execution_may_live(state_);
    require(lives == exec_lives_, "the state knows whether the execution lives");
    require(lives || (state_.waits.empty() && state_.permissions.empty()),
            "C15 no question outlives the execution that asked it");
    require(state_.waits.size() == state_.permissions.size(), "a question has a token");
    require(state_.run.has_value() == static_cast<bool>(open_run_), "RUN3 the state knows the run");
    require(!state_.run || (agent_ready(state_) && state_.run->gen == gen_),
            "a run is open in a living agent");
    require(before.context.agent_session_id.empty() || !state_.context.agent_session_id.empty(),
            "C5 an agent session id is superseded, never erased");
    require(before.head == 0 || state_.id == before.id, "A2 a session keeps its id");
    check_queue(before, decision);
    check_progress(input);
    check_status(input, decision);
    for (const Event& event : decision.events) {
      require(!is_run_end(event) || decision.essential, "DISK2 an end can always be written");
    }
  }

  void check_queue(const State& before, const Decision& decision) {
    const bool released =
        holds<QueueReleased>(decision, [](const Event&, const auto&) { return true; });
    bool any_held = false;
    for (const QueuedPrompt& item : state_.queue) {
      any_held |= item.held;
      for (const QueuedPrompt& old : before.queue) {
        require(released || old.message != item.message || !old.held || item.held,
                "C23 what is held stays held until a person lets it go");
      }
    }
    require(any_held == state_.queue_held, "queue_held says whether something is held");
  }

  // The machine never holds work that nothing will start.
  void check_progress(const Input& input) {
    const Execution& exec = state_.exec;
    const bool under_way = exec.stop_requested || exec.status == ExecutorStatus::starting ||
                           exec.agent == AgentPhase::starting || exec.agent == AgentPhase::opening;
    require(!state_.resume || (execution_may_live(state_) && under_way),
            "a ladder that was asked for is under way");
    const auto next = std::ranges::find(state_.queue, false, &QueuedPrompt::held);
    if (next == state_.queue.end() || state_.run || state_.archived) return;
    const bool injecting =
        agent_ready(state_) && state_.context.inject_armed && prepared_ == state_.context.boundary;
    const bool stopping = execution_may_live(state_) && exec.stop_requested;
    // Its link or its end will show (C19).
    const bool unknown = execution_may_live(state_) && exec.boot != input.boot;
    // Its agentctl will report whether the turn received it (RUN4).
    const bool steered = next->steering && execution_may_live(state_);
    require(state_.resume || injecting || stopping || unknown || steered,
            "Q1 a prompt that is not held will be sent");
  }

  void check_status(const Input& input, const Decision& decision) {
    if (decision.events.empty() || state_.head == 0) return;
    const Liveness liveness = !execution_may_live(state_)      ? Liveness::dead
                              : state_.exec.boot == input.boot ? Liveness::alive
                                                               : Liveness::unknown;
    const World world{liveness, input.boot, input.now};
    require(state_.status == enum_text(derive_status(state_, world)),
            "C8 the last status.derived is the derived status");
  }

  std::size_t refold_every_;
  std::size_t inputs_ = 0;
  State state_;
  std::vector<Record> records_;
  std::vector<Effect> effects_;
  std::optional<std::string> violation_;

  RunId open_run_;
  std::set<RunId> runs_;
  ExecId exec_;
  Gen gen_ = 0;
  bool exec_lives_ = false;
  std::set<ExecId> execs_;
  std::set<ExecId> started_;
  std::set<std::string> tools_;
  std::set<std::string> seen_update_;
  std::map<PermissionId, Asked> asked_;
  std::map<WaitTokenId, bool> tokens_;  // true while open
  std::set<MessageId> queued_;
  std::set<MessageId> left_;
  std::set<MessageId> said_;
  std::set<MessageId> sent_;
  std::set<std::string> keys_;
  std::set<std::uint64_t> injected_;
  std::uint64_t prepared_ = 0;
  std::uint64_t command_number_ = 0;
};

}  // namespace perdure
