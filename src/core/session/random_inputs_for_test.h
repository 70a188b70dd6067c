// Turns random numbers into inputs for a session machine: mostly plausible ones for its state, some
// that should never occur. The source is a seed (the property test) or bytes (the fuzzer); equal
// sources give equal inputs.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/session/transitions/draft.h"

namespace perdure {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  explicit Dice(std::span<const unsigned char> bytes) : bytes_(bytes), from_bytes_(true) {}

  // A number in [0, n); n is at least 1.
  std::size_t below(std::size_t n) {
    if (from_bytes_) return n > 1 ? take_byte() % n : 0;
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>((x ^ (x >> 31)) % n);
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // Whether the bytes are used up. A seed is never exhausted.
  bool exhausted() const { return from_bytes_ && at_ >= bytes_.size(); }

 private:
  std::size_t take_byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }

  std::uint64_t state_ = 0;
  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
  bool from_bytes_ = false;
};

// The secret of a wait token in tests: derived by a known rule, so that any test can answer.
inline Hash secret_hash_for_test(WaitTokenId token) {
  Hash hash;
  for (std::size_t i = 0; i < 8; ++i) {
    hash.bytes[i] = static_cast<unsigned char>(token.ulid().low >> (8 * i));
  }
  hash.bytes[31] = 1;
  return hash;
}

class RandomInputs {
 public:
  explicit RandomInputs(Dice dice) : dice_(dice) {
    boot_ = ids_.next<BootId>();
    now_ = {{1'790'000'000'000}, {1'000'000}, "host-1"};
  }

  bool exhausted() const { return dice_.exhausted(); }

  Input create() {
    CreateSession command;
    command.what.session = ids_.next<SessionId>();
    command.what.agent = profile();
    command.what.workspace.cwd = "/ws/a";
    command.what.policy = policy();
    if (dice_.one_in(2)) command.prompt = Prompt{.text = "first"};
    command.key = next_key();
    return wrap(std::move(command));
  }

  // The next input for a session in this state.
  Input next(const State& state) {
    pass_time();
    switch (dice_.below(8)) {
      case 0:
      case 1: return wrap(command(state));
      case 2: return wrap(runtime_input(state));
      default: return wrap(frame(state));
    }
  }

 private:
  Input wrap(InputBody body) {
    static constexpr std::string_view principals[] = {"uid:1000", "token:phone", "session:inside",
                                                      "system"};
    Input input;
    input.now = now_;
    input.boot = boot_;
    input.id_seed = ++seed_;
    input.by = principals[dice_.one_in(6) ? dice_.below(4) : 0];
    input.body = std::move(body);
    return input;
  }

  void pass_time() {
    const auto ms = static_cast<std::int64_t>(dice_.below(200) * dice_.below(200));
    now_.wall.ms += ms;
    now_.since_boot.ms += ms;
    if (dice_.one_in(60)) now_.wall.ms -= 3'600'000;
    if (dice_.one_in(50)) boot_ = ids_.next<BootId>();
    if (!dice_.one_in(200)) return;
    now_.host_boot = "host-" + std::to_string(++seed_);
    now_.since_boot.ms = 0;
  }

  AgentProfile profile() {
    AgentProfile profile{.name = "agent-" + std::to_string(dice_.below(3))};
    profile.native_session_resume = !dice_.one_in(4);
    profile.supports_session_resume = !dice_.one_in(6);
    profile.history_context_injection = dice_.one_in(2);
    profile.steer = dice_.one_in(2);
    return profile;
  }

  Policy policy() {
    Policy policy;
    policy.inject = static_cast<Inject>(dice_.one_in(3) ? dice_.below(3) : 0);
    policy.auto_continue = dice_.one_in(3);
    policy.wait_ms = dice_.one_in(3) ? 30'000 : 0;
    if (dice_.one_in(2)) policy.continue_at_reset = ContinueAtReset{.on = true, .times = 2};
    return policy;
  }

  std::string next_key() { return "key-" + std::to_string(++keys_); }

  MessageId queued_message(const State& state) {
    if (state.queue.empty() || dice_.one_in(8)) return ids_.next<MessageId>();
    return state.queue[dice_.below(state.queue.size())].message;
  }

  InputBody command(const State& state) {
    switch (dice_.below(16)) {
      case 0: return lifecycle_command(state);
      case 1: return ReleaseQueue{};
      case 2: return EditQueued{queued_message(state), {.text = "edited"}};
      case 3: return RemoveQueued{queued_message(state)};
      case 4:
      case 5: return CancelRun{.force = dice_.one_in(4)};
      case 6:
      case 7: return resume_command();
      case 8:
      case 9: return AnswerPermission{some_permission(state), some_option()};
      case 10: return wait_answer(state);
      default:
        return SubmitPrompt{{.text = dice_.one_in(20) ? "" : "do it"},
                            static_cast<PromptWhen>(dice_.below(4)),
                            next_key()};
    }
  }

  InputBody lifecycle_command(const State& state) {
    if (state.archived && !dice_.one_in(3)) return UnarchiveSession{};
    switch (dice_.below(9)) {
      case 0: return RenameSession{dice_.one_in(2) ? "a title" : "another title"};
      case 1: return configuration();
      case 2:
      case 3: return StopSession{dice_.one_in(2) ? "" : "completed"};
      case 4: return ArchiveSession{};
      case 5: return UnarchiveSession{};
      case 6: return RepairSession{};
      case 7: return DeclareDead{};
      default: return get<CreateSession>(create().body);
    }
  }

  InputBody configuration() {
    SessionConfigured what;
    if (dice_.one_in(2)) what.options["mode"] = dice_.one_in(2) ? "plan" : "code";
    if (dice_.one_in(3)) what.policy = policy();
    if (dice_.one_in(3)) what.workspace = Workspace{.cwd = dice_.one_in(2) ? "/ws/a" : "/ws/b"};
    return ConfigureSession{what};
  }

  InputBody resume_command() {
    ResumeSession command;
    command.how = static_cast<ResumeHow>(dice_.one_in(2) ? dice_.below(5) : 0);
    command.strict = dice_.one_in(5);
    command.at_boot = dice_.one_in(5);
    command.workspace_exists = !dice_.one_in(10);
    if (dice_.one_in(6)) command.with = profile();
    return command;
  }

  PermissionId some_permission(const State& state) {
    if (!state.permissions.empty() && !dice_.one_in(5)) {
      return std::next(state.permissions.begin(),
                       static_cast<std::ptrdiff_t>(dice_.below(state.permissions.size())))
          ->first;
    }
    if (!state.closed_waits.empty() && !dice_.one_in(5)) {
      return state.closed_waits[dice_.below(state.closed_waits.size())].permission;
    }
    return ids_.next<PermissionId>();
  }

  WaitTokenId some_token(const State& state) {
    if (!state.waits.empty() && !dice_.one_in(5)) {
      return std::next(state.waits.begin(),
                       static_cast<std::ptrdiff_t>(dice_.below(state.waits.size())))
          ->first;
    }
    if (!state.closed_waits.empty() && !dice_.one_in(5)) {
      return state.closed_waits[dice_.below(state.closed_waits.size())].token;
    }
    return ids_.next<WaitTokenId>();
  }

  std::string some_option() {
    static constexpr std::string_view options[] = {"allow", "reject", "", "unheard_of"};
    return std::string(options[dice_.below(4)]);
  }

  InputBody wait_answer(const State& state) {
    AnswerWait answer;
    answer.token = some_token(state);
    if (!dice_.one_in(6)) answer.secret_hash = secret_hash_for_test(answer.token);
    if (dice_.one_in(6)) answer.run = some_run(state);
    if (dice_.one_in(6)) answer.kind = static_cast<WaitKind>(dice_.below(2));
    answer.option_id = some_option();
    return answer;
  }

  InputBody runtime_input(const State& state) {
    const Execution& exec = state.exec;
    const Gen gen = dice_.one_in(8) && exec.gen > 0 ? exec.gen - 1 : exec.gen;
    switch (dice_.below(12)) {
      case 0:
      case 1: return ExecutorAttached{exec.id, gen};
      case 2:
      case 3:
      case 4: return ExecutorGone{exec.id, gen, "pidfd"};
      case 5: return WaitDeadlinePassed{some_token(state)};
      case 6: return ReadyDeadlinePassed{exec.id, gen};
      case 7: return DaemonBooted{};
      case 8: return LimitResetPassed{state.limit ? state.limit->run : ids_.next<RunId>()};
      default: return injection(state);
    }
  }

  InputBody injection(const State& state) {
    const std::uint64_t boundary = state.context.boundary;
    return InjectionReady{dice_.one_in(8) ? boundary + 1 : boundary, "=== EXECUTION HISTORY ===", 1,
                          2, 26};
  }

  RunId some_run(const State& state) {
    if (state.run && !dice_.one_in(8)) return state.run->id;
    if (state.last_run && !dice_.one_in(3)) return state.last_run->id;
    return dice_.one_in(2) ? RunId{} : ids_.next<RunId>();
  }

  Frame frame(const State& state) {
    Frame frame{.exec = state.exec.id, .gen = state.exec.gen, .number = ++frames_};
    if (dice_.one_in(20)) frame.gen += dice_.one_in(2) ? 1 : -1;
    if (dice_.one_in(30)) frame.exec = ids_.next<ExecId>();
    frame.run = some_run(state);
    frame.body = dice_.one_in(12) ? any_frame(state) : expected_frame(state);
    return frame;
  }

  FrameBody expected_frame(const State& state) {
    const Execution& exec = state.exec;
    if (exec.status == ExecutorStatus::starting) {
      if (dice_.one_in(8)) return FrameExecutorFailed{"no_socket", "it did not come up"};
      return FrameExecutorReady{{.url = "unix:x",
                                 .instance = "i",
                                 .pid = 7,
                                 .pid_started = 9,
                                 .tells_steered = !dice_.one_in(4)}};
    }
    if (exec.agent == AgentPhase::starting) {
      if (dice_.one_in(8)) return FrameAgentExited{agent_exit()};
      return FrameAgentStarted{{.abilities = {.resume = dice_.one_in(2), .load = dice_.one_in(2)}}};
    }
    if (exec.agent == AgentPhase::opening) return opening_frame(state);
    return turn_frame(state);
  }

  FrameBody opening_frame(const State& state) {
    const OpenMethod method = state.exec.opening;
    if (dice_.one_in(4)) {
      return FrameOpenFailed{method, static_cast<OpenFailure>(dice_.below(12)), "it said no"};
    }
    FrameSessionOpened opened{.method = method, .agent_session_id = state.context.agent_session_id};
    if (method == OpenMethod::fresh) opened.agent_session_id = "agent-" + std::to_string(++seed_);
    if (dice_.one_in(8)) opened.agent_session_id = "other-" + std::to_string(++seed_);
    if (dice_.one_in(8)) opened.agent_session_id.clear();
    opened.replayed_prompts = dice_.below(4);
    return opened;
  }

  AgentExited agent_exit() {
    const auto exit_code = static_cast<std::int64_t>(dice_.below(2));
    if (dice_.one_in(2)) return {.exit_code = exit_code, .why = "exited"};
    return {.signal = 9, .why = dice_.one_in(2) ? "out_of_memory" : "stopped"};
  }

  FrameBody turn_frame(const State& state) {
    const RunId run = some_run(state);
    switch (dice_.below(16)) {
      case 0:
      case 1:
      case 2: return FrameRunFinished{run, dice_.one_in(4) ? "cancelled" : "end_turn"};
      case 3:
        if (dice_.one_in(2)) {
          return FrameRunFailed{run,
                                {.code = "rate_limited",
                                 .message = "not now",
                                 .reset_at = Timestamp{now_.wall.ms + 60'000}}};
        }
        return FrameRunFailed{run, {.code = "agent_error", .message = "it broke"}};
      case 4:
      case 5:
      case 6: return permission();
      case 7: return FramePermissionGone{some_request(state)};
      case 8: return tool();
      case 9: return ToolUpdate{.tool_call_id = tool_id(), .status = tool_status()};
      case 10: return MessageThought{.text = "hm"};
      case 11: return Mode{.value = dice_.one_in(2) ? "plan" : "code"};
      case 12:
        return FrameContextChanged{dice_.one_in(2) ? BoundaryHow::cleared : BoundaryHow::compacted};
      case 13:
        if (dice_.one_in(3)) return FrameAgentExited{agent_exit()};
        return Usage{};
      case 14:
        if (!state.queue.empty()) return FrameSteerTaken{state.queue.front().message};
        return FrameSteerTaken{ids_.next<MessageId>()};
      default: return MessageAgent{.text = "word "};
    }
  }

  FrameBody any_frame(const State& state) {
    switch (dice_.below(8)) {
      case 0: return FrameExecutorReady{};
      case 1: return FrameExecutorFailed{"late", "too late"};
      case 2: return FrameAgentStarted{};
      case 3: return FrameSessionOpened{static_cast<OpenMethod>(dice_.below(3)), "stray", 0, 0};
      case 4:
        return FrameOpenFailed{static_cast<OpenMethod>(dice_.below(3)),
                               static_cast<OpenFailure>(dice_.below(12)), "stray"};
      case 5: return FrameAgentExited{agent_exit()};
      case 6: return FrameContextChanged{static_cast<BoundaryHow>(dice_.below(7))};
      default: return turn_frame(state);
    }
  }

  FrameBody permission() {
    FramePermission asked;
    asked.request = "req-" + std::to_string(++seed_);
    asked.tool_call_id = tool_id();
    asked.title = "May I?";
    asked.options = {{"allow", "Allow", "allow_once"}, {"reject", "Reject", "reject_once"}};
    asked.token = ids_.next<WaitTokenId>();
    asked.secret_hash = secret_hash_for_test(asked.token);
    return asked;
  }

  std::string some_request(const State& state) {
    if (state.permissions.empty() || dice_.one_in(8)) return "req-unheard";
    return state.permissions.begin()->second.request;
  }

  std::string tool_id() { return "tool-" + std::to_string(dice_.below(4)); }
  std::string tool_status() {
    static constexpr std::string_view statuses[] = {"pending", "in_progress", "completed", "failed",
                                                    ""};
    return std::string(statuses[dice_.below(5)]);
  }
  FrameBody tool() {
    return ToolCall{.tool_call_id = tool_id(), .title = "Run ls", .status = tool_status()};
  }

  Dice dice_;
  IdSource ids_{{1'780'000'000'000}, 42};
  Moment now_;
  BootId boot_;
  std::uint64_t seed_ = 0;
  std::uint64_t keys_ = 0;
  FrameNo frames_ = 0;
};

}  // namespace perdure
