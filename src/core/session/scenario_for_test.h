// A session's life, step by step: each call is one input, MachineChecker checks each step, and
// tests inspect the result. Time stands still unless a test advances it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/session/machine_checker_for_test.h"
#include "core/session/random_inputs_for_test.h"

namespace perdure {

inline constexpr AgentAbilities can_everything{.resume = true, .load = true};

struct Setup {
  AgentProfile agent{.name = "claude"};
  Policy policy;
  std::string prompt;
};

class Scenario {
 public:
  explicit Scenario(const Setup& setup = {}) : boot_(ids_.next<BootId>()) {
    CreateSession command;
    command.what.session = ids_.next<SessionId>();
    command.what.title = "a session";
    command.what.agent = setup.agent;
    command.what.workspace = {.cwd = "/ws/a", .worktree_id = "w1", .worktree_branch = "topic"};
    command.what.policy = setup.policy;
    if (!setup.prompt.empty()) command.prompt = Prompt{.text = setup.prompt};
    command.key = "first";
    ok(command);
  }

  // A session whose agent is ready and idle, never prompted.
  static Scenario live(const Setup& setup = {}) {
    Scenario scenario(setup);
    scenario.ok(ResumeSession{});
    scenario.ready();
    return scenario;
  }
  // The same, after one completed turn.
  static Scenario worked(const Setup& setup = {}) {
    Scenario scenario = live(setup);
    scenario.submit("first task");
    scenario.say("done").finish();
    return scenario;
  }
  // With a completed turn and a lost agentctl.
  static Scenario lost(const Setup& setup = {}) {
    Scenario scenario = worked(setup);
    scenario.gone();
    return scenario;
  }
  // A run is open.
  static Scenario running(const Setup& setup = {}) {
    Scenario scenario = worked(setup);
    scenario.submit("second task");
    return scenario;
  }

  Result<Decision> send(InputBody body, const std::string& by = "uid:1000") {
    Input input;
    input.now = now_;
    input.boot = boot_;
    input.id_seed = ++seed_;
    input.by = by;
    input.body = std::move(body);
    Result<Decision> decided = machine_.feed(input);
    EXPECT_EQ(machine_.violation().value_or(""), "");
    last_ = decided ? *decided : Decision{};
    return decided;
  }
  // The input must be accepted. Returns the reply.
  Reply ok(InputBody body, const std::string& by = "uid:1000") {
    const auto decided = send(std::move(body), by);
    EXPECT_TRUE(decided.has_value()) << decided.error().message();
    return last_.reply;
  }
  // The input must be rejected without changing anything. Returns the code.
  Code refused(InputBody body, const std::string& by = "uid:1000") {
    const State before = state();
    const auto decided = send(std::move(body), by);
    EXPECT_FALSE(decided.has_value());
    EXPECT_EQ(state(), before);
    return decided ? Code::internal : decided.error().code();
  }

  Reply submit(const std::string& text, PromptWhen when = PromptWhen::automatic) {
    return ok(SubmitPrompt{{.text = text}, when, "key of " + text});
  }
  Reply cancel() { return ok(CancelRun{}); }
  Reply stop() { return ok(StopSession{}); }

  // A frame of the current execution, in the open run if there is one.
  Scenario& frame(FrameBody body) {
    return frame_of(state().run ? state().run->id : RunId{}, std::move(body));
  }
  Scenario& frame_of(RunId run, FrameBody body) {
    ok(Frame{state().exec.id, state().exec.gen, ++frames_, run, std::move(body)});
    return *this;
  }

  Scenario& executor_ready() {
    return frame(FrameExecutorReady{{.url = "unix:/run/x.sock",
                                     .instance = "i1",
                                     .pid = 77,
                                     .pid_started = 99,
                                     .container_id = "c1",
                                     .tells_steered = true}});
  }
  Scenario& agent_started(AgentAbilities abilities = can_everything) {
    return frame(FrameAgentStarted{{.abilities = abilities}});
  }
  // The agent serves the requested rung and restores everything.
  Scenario& opened() {
    const bool fresh = state().exec.opening == OpenMethod::fresh;
    const std::string id =
        fresh ? "agent-session-" + std::to_string(++sessions_) : state().context.agent_session_id;
    return frame(FrameSessionOpened{state().exec.opening, id, state().context.prompts, 9});
  }
  // From a starting executor to an open agent session.
  Scenario& ready(AgentAbilities abilities = can_everything) {
    return executor_ready().agent_started(abilities).opened();
  }
  Scenario& open_fails(OpenFailure failure) {
    return frame(FrameOpenFailed{state().exec.opening, failure, "it says"});
  }
  // The history that a prompt waits for has been rendered.
  Scenario& injection(const std::string& text = "=== EXECUTION HISTORY ===") {
    ok(InjectionReady{state().context.boundary, text, 1, 1, text.size()}, "system");
    return *this;
  }

  Scenario& say(const std::string& text) { return frame(MessageAgent{.text = text}); }
  Scenario& tool(const std::string& id, const std::string& status) {
    return frame(ToolCall{.tool_call_id = id, .title = "Run it", .status = status});
  }
  Scenario& finish(const std::string& stop_reason = "end_turn") {
    return frame(FrameRunFinished{state().run->id, stop_reason});
  }
  Scenario& fail_run() {
    return frame(FrameRunFailed{state().run->id, {.code = "agent_error", .message = "it broke"}});
  }
  Scenario& agent_exits(AgentExited exit = {.signal = 9, .why = "out_of_memory"}) {
    return frame(FrameAgentExited{std::move(exit)});
  }

  // The agent asks a question; returns its id.
  PermissionId ask(const std::string& request = "req-1") {
    return ask_in(state().run ? state().run->id : RunId{}, request);
  }
  PermissionId ask_in(RunId run, const std::string& request) {
    FramePermission asked;
    asked.request = request;
    asked.title = "May I?";
    asked.options = {{"allow", "Allow", "allow_once"}, {"reject", "Reject", "reject_once"}};
    asked.token = ids_.next<WaitTokenId>();
    asked.secret_hash = secret_hash_for_test(asked.token);
    frame_of(run, asked);
    const auto* recorded = event<PermissionRequested>();
    return recorded ? recorded->permission : PermissionId{};
  }
  WaitTokenId token_of(PermissionId permission) const {
    for (const auto& [token, wait] : state().waits) {
      if (wait.permission == permission) return token;
    }
    return {};
  }
  static AnswerWait with_secret(WaitTokenId token, const std::string& option) {
    return {.token = token, .secret_hash = secret_hash_for_test(token), .option_id = option};
  }

  // The agentctl and all its descendants are proved gone.
  Scenario& gone() {
    ok(ExecutorGone{state().exec.id, state().exec.gen, "pidfd"}, "system");
    return *this;
  }
  // A new daemon starts; it does not know yet whether the agentctl is alive.
  Scenario& booted() {
    boot_ = ids_.next<BootId>();
    ok(DaemonBooted{}, "system");
    return *this;
  }
  Scenario& attached() {
    ok(ExecutorAttached{state().exec.id, state().exec.gen}, "system");
    return *this;
  }
  Scenario& pass(std::int64_t ms) {
    now_.wall.ms += ms;
    now_.since_boot.ms += ms;
    return *this;
  }

  const State& state() const { return machine_.state(); }
  const Decision& last() const { return last_; }
  BootId boot() const { return boot_; }
  const Moment& now() const { return now_; }
  const std::vector<Record>& records() const { return machine_.records(); }
  const std::vector<Effect>& effects() const { return machine_.effects(); }
  std::string status() const { return state().status; }

  // The kinds of the last step's records, in order, without the final status.
  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const Event& event : last_.events) {
      if (!as<StatusDerived>(event)) kinds.push_back(kind_of(event));
    }
    return kinds;
  }
  // The number of records of this kind in the whole journal.
  template <class Body>
  std::size_t count() const {
    std::size_t count = 0;
    for (const Record& record : records()) count += as<Body>(record.event) ? 1 : 0;
    return count;
  }
  // The newest record of this kind in the journal, or null.
  template <class Body>
  const Body* event() const {
    const Record* found = record<Body>();
    return found ? as<Body>(found->event) : nullptr;
  }
  template <class Body>
  const Record* record() const {
    for (auto at = records().rbegin(); at != records().rend(); ++at) {
      if (as<Body>(at->event)) return &*at;
    }
    return nullptr;
  }
  // The first effect, or command, of this type in the last step, or null.
  template <class Body>
  const Body* effect() const {
    for (const Effect& effect : last_.effects) {
      if (const auto* body = get_if<Body>(&effect)) return body;
    }
    return nullptr;
  }
  template <class Body>
  const Body* command() const {
    for (const Effect& effect : last_.effects) {
      if (const auto* body = as_command<Body>(effect)) return body;
    }
    return nullptr;
  }
  // The number of commands of this type sent so far.
  template <class Body>
  std::size_t commands() const {
    std::size_t count = 0;
    for (const Effect& effect : effects()) count += as_command<Body>(effect) ? 1 : 0;
    return count;
  }
  template <class Body>
  std::size_t effects_of() const {
    std::size_t count = 0;
    for (const Effect& effect : effects()) count += holds_alternative<Body>(effect) ? 1 : 0;
    return count;
  }

 private:
  static std::string kind_of(const Event& event) {
    return visit(
        []<class Body>(const Body&) -> std::string {
          if constexpr (requires { Body::kind_text; }) return std::string(Body::kind_text);
          return "unknown";
        },
        event.body);
  }

  MachineChecker machine_{1};
  IdSource ids_{{1'700'000'000'000}, 7};
  Moment now_{{1'790'000'000'000}, {5'000'000}, "host-boot-1"};
  BootId boot_;
  std::uint64_t seed_ = 0;
  FrameNo frames_ = 0;
  int sessions_ = 0;
  Decision last_;
};

}  // namespace perdure
