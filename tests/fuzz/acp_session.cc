// Bytes as a script for an agent, its daemon and the time: the real supervisor between the agent
// and the link, and for half of the inputs the real session machine at the other end of the link.
// Everything is in memory. After every step everything that the three sides see is checked, and
// finally everything must end.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "acp_session_agent.h"
#include "acp_session_daemon.h"
#include "agentctl/supervisor/supervisor.h"
#include "base/check.h"
#include "core/session/machine_checker_for_test.h"
#include "core/session/random_inputs_for_test.h"
#include "testing/store/memory_folder.h"

namespace {

using namespace perdure;

constexpr std::size_t steps_max = 300;
constexpr std::uint64_t spool_bytes = 32UL << 10;
// Above the limit: the output of one read from the agent and a few commands.
constexpr std::uint64_t spool_slack_bytes = 64UL << 10;

// One agentctl, from its start to its end.
struct Life {
  MemoryFolder folder;
  FakeProcesses processes;
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<FuzzedDaemon> daemon;
  std::unique_ptr<FuzzedAgent> agent;
  std::size_t agents = 0;
  bool has_ended = false;
};

class FuzzedWorld {
 public:
  explicit FuzzedWorld(std::span<const std::uint8_t> bytes) : dice_(bytes) {
    const std::size_t traits = dice_.below(256);
    has_machine_ = (traits & 1) != 0;
    protocol_version_ = (traits & 6) == 6 ? 2 : 1;
    survives_ = (traits & 24) != 24;
    acks_always_ = (traits & 32) == 0;
    if (!has_machine_) {
      begin_life({ids_.next<ExecId>(), 1});
      return;
    }
    CreateSession create{.what = {.session = ids_.next<SessionId>()},
                         .prompt = Prompt{.text = "first"},
                         .key = "key-0"};
    create.what.agent = {.name = "agent",
                         .supports_session_resume = true,
                         .native_session_resume = (traits & 64) == 0,
                         .history_context_injection = (traits & 128) != 0};
    create.what.workspace.cwd = "/ws";
    feed(std::move(create));
    settle();
  }

  void play() {
    for (std::size_t step = 0; step < steps_max && !dice_.exhausted(); ++step) {
      act();
      settle();
    }
    end();
  }

 private:
  void act() {
    if (!life_) {
      if (has_machine_) return client_input();
      return begin_life({ids_.next<ExecId>(), 1});
    }
    switch (dice_.below(16)) {
      case 0: return raw_output();
      case 1: return agent_ends();
      case 2: return link_changes();
      case 3: return world_changes();
      case 4: return pass_time();
      case 5: return life_->daemon->ack();
      case 6:
      case 7:
      case 8: return has_machine_ ? client_input() : command();
      default:
        if (life_->agent) life_->agent->say(life_->agent->message(dice_));
    }
  }

  void raw_output() {
    std::string bytes;
    for (std::size_t left = dice_.below(64); left > 0; --left) {
      bytes += static_cast<char>(dice_.below(256));
    }
    if (dice_.one_in(2)) bytes += '\n';
    if (!life_->agent) return;
    if (dice_.one_in(4)) return life_->agent->complain(bytes);
    // Two messages and part of a third in one read are equivalent to one.
    if (dice_.one_in(2)) bytes += life_->agent->message(dice_) + life_->agent->message(dice_);
    life_->agent->say(bytes);
  }

  void agent_ends() {
    if (!life_->agent) return;
    switch (dice_.below(4)) {
      case 0: return life_->agent->end_output();
      case 1: return life_->agent->exit({.code = static_cast<int>(dice_.below(2))});
      case 2: return life_->agent->exit({.signal = 11});
      default: life_->processes.marked_left = dice_.below(3);
    }
  }

  void link_changes() {
    FuzzedDaemon& daemon = *life_->daemon;
    switch (dice_.below(8)) {
      case 0: return daemon.detach();
      case 1: return daemon.attach_wrongly(*life_->supervisor, {.secret = "guessed", .epoch = 99});
      case 2: return daemon.attach_wrongly(*life_->supervisor, {.secret = "secret", .epoch = 0});
      case 3:
        return daemon.attach_wrongly(*life_->supervisor,
                                     {.secret = "secret", .epoch = 1000, .after = 1'000'000});
      case 4:
        if (daemon.link()) daemon.link()->block();
        return;
      case 5:
        if (daemon.link()) daemon.link()->unblock();
        return;
      default: daemon.attach(*life_->supervisor);
    }
  }

  void world_changes() {
    switch (dice_.below(8)) {
      case 0: return life_->folder.fill_disk();
      case 1: return life_->folder.tear_next_append(dice_.below(64));
      case 2: return life_->folder.refuse_next_change();
      case 3: life_->processes.refusal = Error(Code::not_found, "no such program"); return;
      case 4: life_->processes.refusal.reset(); return;
      case 5:
        if (!life_->processes.children.empty()) {
          life_->processes.children.back()->unwritten_bytes = agent_unread_bytes_max;
        }
        return;
      default: life_->folder.make_room();
    }
  }

  void pass_time() {
    static constexpr std::int64_t times_ms[] = {1,     50,     300,    1'000,  2'000,
                                                3'000, 10'000, 60'000, 90'000, 600'000};
    loop_.advance_ms(times_ms[dice_.below(std::size(times_ms))]);
  }

  // An action of a person.
  void client_input() {
    const State& state = machine_.state();
    switch (dice_.below(8)) {
      case 0: return feed(CancelRun{.force = dice_.one_in(4)});
      case 1: return feed(ResumeSession{.how = static_cast<ResumeHow>(dice_.below(5))});
      case 2:
        if (dice_.one_in(4)) return feed(StopSession{});
        return feed(ReleaseQueue{});
      case 3: {
        SessionConfigured what;
        what.options[dice_.one_in(2) ? "mode" : "model"] = dice_.one_in(2) ? "plan" : "code";
        return feed(ConfigureSession{what});
      }
      case 4:
      case 5:
        if (state.permissions.empty()) return;
        return feed(
            AnswerPermission{state.permissions.begin()->first, dice_.one_in(4) ? "" : "allow"});
      default:
        return feed(SubmitPrompt{{.text = dice_.one_in(4) ? "/clear" : "do it"},
                                 static_cast<PromptWhen>(dice_.below(4)),
                                 "key-" + std::to_string(++keys_)});
    }
  }

  // A command that a daemon might send, in any order.
  void command() {
    SendCommand command{.exec = life_->daemon->execution().exec,
                        .gen = life_->daemon->execution().gen,
                        .number = dice_.one_in(16) ? number_ : ++number_,
                        .body = StartAgent{}};
    switch (dice_.below(10)) {
      case 0: break;
      case 1:
      case 2: command.body = OpenSession{.method = OpenMethod::fresh}; break;
      case 3:
        command.body = OpenSession{.method = static_cast<OpenMethod>(dice_.below(3)),
                                   .agent_session_id = "session-1",
                                   .options = {{"mode", "plan"}, {"model", "large"}}};
        break;
      case 4: command.body = CancelPrompt{run_}; break;
      case 5:
      case 6:
        command.body = AnswerRequest{"request-" + std::to_string(dice_.below(8)),
                                     dice_.one_in(3) ? "" : "allow"};
        break;
      case 7: command.body = SetOptions{{{"mode", dice_.one_in(2) ? "plan" : "code"}}}; break;
      default:
        run_ = ids_.next<RunId>();
        command.body = SendPrompt{.run = run_, .prompt = {.text = FuzzedAgent::text(dice_)}};
    }
    life_->daemon->command(command);
  }

  void begin_life(FuzzedDaemon::Execution execution) {
    life_ = std::make_unique<Life>();
    ++lives_;
    number_ = 0;
    Bootstrap bootstrap{.session = ids_.next<SessionId>(),
                        .exec = execution.exec,
                        .gen = execution.gen,
                        .secret = "secret",
                        .cwd = "/ws",
                        .survive = survives_,
                        .spool_bytes = spool_bytes};
    bootstrap.agent.command = {"agent"};
    bootstrap.agent.protocol_version = protocol_version_;
    bootstrap.agent.mcp_servers = {R"([{"name":"m","command":"m","args":[],"env":[]}])"};
    bootstrap.agent.clear_commands = {"/clear"};
    Life* const life = life_.get();
    life_->supervisor = std::make_unique<Supervisor>(
        SupervisorPorts{clock_, loop_, life->processes, life->folder}, std::move(bootstrap),
        SupervisorIdentity{.instance = "i", .pid = 7}, [life](std::string) {
          CHECK(!life->has_ended, "an agentctl ends twice");
          life->has_ended = true;
        });
    life_->daemon = std::make_unique<FuzzedDaemon>(
        loop_, execution, [this](Frame frame) { on_frame(std::move(frame)); });
    life_->supervisor->begin();
    life_->daemon->attach(*life_->supervisor);
  }

  void on_frame(Frame frame) {
    if (!has_machine_) return;
    if (auto* asked = get_if<FramePermission>(&frame.body)) {
      asked->token = ids_.next<WaitTokenId>();
      asked->secret_hash = secret_hash_for_test(asked->token);
    }
    feed(std::move(frame));
  }

  void feed(InputBody body) {
    const Result<Decision> decided = machine_.feed({.now = clock_.now(),
                                                    .boot = boot_,
                                                    .id_seed = ++seed_,
                                                    .by = "uid:1000",
                                                    .body = std::move(body)});
    CHECK(!machine_.violation(), *machine_.violation());
    if (!decided) return;
    for (const Effect& effect : decided->effects) effects_.push_back(effect);
  }

  void run_effect(const Effect& effect) {
    if (const auto* start = get_if<StartExecutor>(&effect)) {
      CHECK(!life_, "an execution begins beside another");
      begin_life({start->exec, start->gen});
    } else if (const auto* prepare = get_if<PrepareInjection>(&effect)) {
      feed(InjectionReady{prepare->boundary, "what was said before", 1, 1, 20});
    } else if (const auto* to_stop = get_if<StopExecutor>(&effect)) {
      if (life_ && life_->daemon->execution().exec == to_stop->exec) life_->daemon->stop("asked");
    } else if (const auto* one = get_if<SendCommand>(&effect)) {
      if (life_ && life_->daemon->execution().exec == one->exec) life_->daemon->command(*one);
    }
  }

  // Until nothing more happens without the agent, a person or time.
  void settle() {
    for (std::size_t round = 0; round < 1000; ++round) {
      loop_.run();
      if (!effects_.empty()) {
        const Effect effect = std::move(effects_.front());
        effects_.pop_front();
        run_effect(effect);
      } else if (!life_ || !look_at_life()) {
        return;
      }
    }
    CHECK(false, "it never comes to rest");
  }

  // True: something happened.
  bool look_at_life() {
    Life& life = *life_;
    for (; life.agents < life.processes.children.size(); ++life.agents) {
      CHECK(!life.agent || !life.agent->lives(), "an agent begins beside another");
      life.agent =
          std::make_unique<FuzzedAgent>(life.processes.children[life.agents], protocol_version_);
    }
    if (life.agent) life.agent->read_input();
    CHECK(life.folder.bytes() <= spool_bytes + spool_slack_bytes, "the spool knows no limit");
    if (life.agent && life.agent->lives() && life.agent->was_killed()) {
      life.agent->exit({.signal = 9});
      return true;
    }
    if (life.has_ended) {
      bury();
      return true;
    }
    const bool acks = acks_always_ && life.daemon->is_attached() && acked_ != life.daemon->last();
    if (!acks) return false;
    acked_ = life.daemon->last();
    life.daemon->ack();
    return true;
  }

  void bury() {
    CHECK(!life_->agent || !life_->agent->lives(), "an agent outlives its agentctl");
    const FuzzedDaemon::Execution execution = life_->daemon->execution();
    life_->supervisor.reset();
    life_->daemon->detach();
    loop_.run();
    life_->daemon->read_rest(life_->folder);
    life_.reset();
    acked_ = 0;
    if (has_machine_) feed(ExecutorGone{execution.exec, execution.gen, "pidfd"});
  }

  // Heals everything: then every frame arrives, and the agentctl ends on request.
  void end() {
    acks_always_ = true;
    acked_ = 0;
    if (life_) {
      life_->folder.make_room();
      life_->daemon->attach(*life_->supervisor);
    }
    settle();
    for (std::size_t round = 0; life_ && frames_unacked() > 0 && round < 20; ++round)
      wait_a_second();
    if (life_) {
      CHECK(frames_unacked() == 0, "a frame does not arrive");
      life_->daemon->stop("the end");
      settle();
    }
    const std::size_t last = lives_;
    for (std::size_t round = 0; life_ && lives_ == last && round < 20; ++round) wait_a_second();
    CHECK(!life_ || lives_ != last, "the agentctl does not end");
    machine_.check_replay();
    CHECK(!machine_.violation(), *machine_.violation());
  }

  std::uint64_t frames_unacked() const { return life_->supervisor->health().frames_unacked; }
  void wait_a_second() {
    loop_.advance_ms(1'000);
    settle();
  }

  Dice dice_;
  FakeLoop loop_;
  FakeClock clock_{loop_};
  IdSource ids_{{1'780'000'000'000}, 42};
  BootId boot_ = ids_.next<BootId>();
  MachineChecker machine_{16};
  std::deque<Effect> effects_;
  std::unique_ptr<Life> life_;
  std::size_t lives_ = 0;
  bool has_machine_ = false;
  std::int64_t protocol_version_ = 1;
  bool survives_ = true;
  bool acks_always_ = true;
  std::uint64_t seed_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t number_ = 0;
  FrameNo acked_ = 0;
  RunId run_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedWorld(std::span(bytes, size)).play();
  return 0;
}
