// Every rule of the ledger can fail: a good journal passes, and the same journal with one error
// violates exactly the named rule.
#include "sim/judges/ledger.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/fields_json.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/journal/snapshot.h"

namespace perdure::sim {
namespace {

template <class SomeId>
SomeId id(std::uint64_t n) {
  return SomeId(Ulid::make({1}, 0, n));
}

const auto session = id<SessionId>(1);
const auto exec = id<ExecId>(2);
const auto run1 = id<RunId>(11);
const auto run2 = id<RunId>(12);
const auto message1 = id<MessageId>(21);
const auto message2 = id<MessageId>(22);
const auto permission = id<PermissionId>(31);
const auto token = id<WaitTokenId>(41);

class FakeFacts final : public WorldFacts {
 public:
  bool execution_lives(const ExecKey&) const override { return lives; }
  const Frame* find_frame(const ExecKey&, FrameNo number) const override {
    const auto at = frames.find(number);
    return at == frames.end() ? nullptr : &at->second;
  }
  bool answer_was_sent(const AnswerGiven&) const override { return answered; }
  std::optional<PromptWhen> when_of(const std::string&) const override { return std::nullopt; }
  bool workspace_was_asked(SessionId) const override { return false; }
  bool are_several() const override { return false; }
  BootId boot() const override { return {}; }
  Moment now() override { return {{1000}, {1000}, "host"}; }

  bool lives = true;
  bool answered = true;
  std::map<FrameNo, Frame> frames;
};

// Writes a journal like the runtime, batch by batch.
class Book {
 public:
  Book() : ledger_(session, verdict_, facts) {}

  FakeFacts facts;
  Seq seq_ahead = 0;  // set to break the numbering
  bool tells_steered = true;

  Book& add(EventBody body, Origin origin = {}) {
    const Event event{.at = {1}, .origin = std::move(origin), .body = std::move(body)};
    const std::string bytes = encode_record(ledger_.records() + 1 + seq_ahead, prev_, event);
    prev_ = record_hash(bytes);
    ledger_.feed(bytes);
    return *this;
  }
  Book& effect(Effect effect) {
    batch_.outbox_add.push_back({++effects_, encode_effect(effect)});
    return *this;
  }
  Book& command(CommandBody body) {
    return effect(SendCommand{exec, 1, effects_ + 1, std::move(body)});
  }
  Book& frame(FrameNo number, FrameBody body, RunId run = {}) {
    facts.frames[number] = Frame{exec, 1, number, run, std::move(body)};
    return *this;
  }
  Book& cursor(FrameNo number) {
    batch_.cursor = FrameCursor{exec, number};
    return *this;
  }
  // The batch is durable and leads to this status.
  Book& end(const std::string& status) {
    if (status != ledger_.fold().status) add(StatusDerived{status});
    ledger_.end_batch(std::exchange(batch_, {}));
    return *this;
  }
  Append& batch() { return batch_; }
  Ledger& ledger() { return ledger_; }
  void break_chain() { prev_ = Hash{}; }

  std::string broken() const { return verdict_.first() ? verdict_.first()->invariant : ""; }
  std::string what() const { return verdict_.first() ? verdict_.first()->what : ""; }

  // A session with a ready agent.
  Book& ready(Policy policy = {}) {
    const Origin origin{.exec = exec, .gen = 1};
    add(SessionCreated{.session = session,
                       .agent = {.name = "a", .steer = true},
                       .workspace = {.cwd = "/w"},
                       .policy = policy});
    end("idle");
    add(ResumeRequested{.by = "uid:1"})
        .add(ExecutorStarting{}, origin)
        .effect(StartExecutor{exec, 1});
    end("idle");
    frame(1, FrameExecutorReady{{.tells_steered = tells_steered}}).frame(2, FrameAgentStarted{});
    frame(3, FrameSessionOpened{OpenMethod::fresh, "as-1"});
    add(ExecutorReady{.tells_steered = tells_steered}, {.exec = exec, .gen = 1, .frame = 1});
    add(AgentStarted{}, {.exec = exec, .gen = 1, .frame = 2});
    add(ContextBoundary{.how = BoundaryHow::fresh,
                        .agent_session_id = "as-1",
                        .reason = "never_prompted",
                        .cwd = "/w"},
        {.exec = exec, .gen = 1, .frame = 3});
    cursor(3).end("idle");
    return *this;
  }
  Book& start_run(RunId run, MessageId message, const std::string& key = "k1") {
    const Origin origin{.run = run, .exec = exec, .gen = 1};
    add(RunStarted{.message = message, .trigger = "prompt"}, origin);
    add(MessageUser{.message = message, .prompt = {.text = "p"}, .key = key}, origin);
    command(SendPrompt{run, message});
    return *this;
  }
  // Steers message 2 into run 1; it is on its way from here.
  Book& steer() {
    add(QueueAdded{.message = message2, .run = run2, .key = "k2", .front = true, .steer = true});
    command(SteerPrompt{run1, message2});
    return *this;
  }
  Book& take_steered(FrameNo number) {
    add(QueueDelivered{message2});
    add(MessageUser{.message = message2, .key = "k2", .steered = true},
        {.run = run1, .exec = exec, .gen = 1, .frame = number});
    return *this;
  }
  Book& finish_run(RunId run, FrameNo number) {
    frame(number, FrameRunFinished{run, "end_turn"}, run);
    add(RunCompleted{"end_turn"}, {.run = run, .exec = exec, .gen = 1, .frame = number});
    effect(Notify{NotifyWhat::finished, run});
    return *this;
  }
  Book& ask(FrameNo number) {
    const Origin origin{.run = run1, .exec = exec, .gen = 1, .frame = number};
    frame(number, FramePermission{.request = "r", .options = {{"allow", "", ""}}}, run1);
    add(
        PermissionRequested{
            .permission = permission, .request = "r", .options = {{"allow", "", ""}}},
        origin);
    add(TokenMinted{.token = token, .permission = permission}, origin);
    add(RunWaiting{.token = token}, origin);
    effect(Notify{NotifyWhat::needs_input, run1});
    return *this;
  }

 private:
  Verdict verdict_;
  Ledger ledger_;
  Hash prev_;
  Append batch_;
  std::uint64_t effects_ = 0;
};

const Origin in_run{.run = run1, .exec = exec, .gen = 1};
const Origin in_exec{.exec = exec, .gen = 1};

TEST(Ledger, AGoodJournalPasses) {
  Book book;
  book.ready().start_run(run1, message1).end("running");
  book.ask(4).cursor(4).end("waiting");
  book.add(TokenConsumed{token, "uid:1"}, in_run);
  book.add(PermissionResolved{permission, PermissionOutcome::selected, "allow", "uid:1"}, in_run);
  book.command(AnswerRequest{"r", "allow"}).add(RunResumed{token}, in_run).end("running");
  book.steer().end("running");
  book.frame(5, FrameSteerTaken{message2}, run1).take_steered(5).cursor(5).end("running");
  book.finish_run(run1, 6).cursor(6).end("idle");
  book.ledger().check_quiet();
  EXPECT_EQ(book.broken(), "") << book.what();
}

TEST(Ledger, C23_a_steer_that_nobody_took_may_become_a_run) {
  Book book;
  book.ready().start_run(run1, message1).steer().end("running");
  book.finish_run(run1, 4).add(QueueDelivered{message2}).start_run(run2, message2, "k2");
  book.cursor(4).end("running").finish_run(run2, 5).cursor(5).end("idle");
  book.ledger().check_quiet();
  EXPECT_EQ(book.broken(), "") << book.what();
}

struct Case {
  const char* invariant;
  std::function<void(Book&)> spoil;
};

class LedgerFinds : public testing::TestWithParam<Case> {};

TEST_P(LedgerFinds, TheViolation) {
  Book book;
  GetParam().spoil(book);
  EXPECT_EQ(book.broken(), GetParam().invariant) << book.what();
}

const Case journal_cases[] = {
    {"J1/J2",
     [](Book& b) {
       b.seq_ahead = 1;
       b.ready();
     }},
    {"J1/J2",
     [](Book& b) {
       b.ready();
       b.break_chain();
       b.add(SessionRenamed{"x"});
     }},
    {"J1", [](Book& b) { b.add(SessionRenamed{"x"}); }},
    {"J4",
     [](Book& b) {
       b.ready();
       b.batch().snapshot = encode_snapshot(State{});
       b.add(SessionRenamed{"x"}).end("idle");
     }},
    {"C8", [](Book& b) { b.ready().start_run(run1, message1).end("idle"); }},
};
INSTANTIATE_TEST_SUITE_P(Journal, LedgerFinds, testing::ValuesIn(journal_cases));

const Case run_cases[] = {
    {"RUN2",
     [](Book& b) {
       b.ready().start_run(run1, message1).finish_run(run1, 4).cursor(4).end("idle");
       b.add(RunCompleted{"end_turn"}, {.run = run1, .exec = exec, .gen = 1, .frame = 4});
     }},
    {"RUN2",
     [](Book& b) {
       b.ready().start_run(run1, message1).finish_run(run1, 4).cursor(4).end("idle");
       b.add(Usage{}, in_run);
     }},
    {"RUN3", [](Book& b) { b.ready().start_run(run1, message1).start_run(run2, message2, "k2"); }},
    {"RUN4",
     [](Book& b) {
       b.ready().start_run(run1, message1).command(SendPrompt{run1, message1}).end("running");
     }},
    {"RUN5",
     [](Book& b) {
       b.ready().start_run(run1, message1).add(RunCancelling{}, in_run).end("running");
     }},
    {"RUN1",
     [](Book& b) { b.ready().start_run(run1, message1).add(RunCancelled{.by = "x"}, in_run); }},
    {"RUN2",
     [](Book& b) {
       b.ready().start_run(run1, message1).frame(4, ToolCall{.tool_call_id = "t"}, run1);
       b.add(ToolCall{.tool_call_id = "t"}, {.run = run1, .exec = exec, .gen = 1, .frame = 4});
       b.finish_run(run1, 5);
     }},
    {"ACK2",
     [](Book& b) {
       b.ready().start_run(run1, message1).finish_run(run1, 4).start_run(run2, message2, "k1");
     }},
    {"ACK4",
     [](Book& b) {
       b.ready().add(QueueAdded{.message = message1, .run = run1, .key = "k1"});
       b.add(QueueAdded{.message = message2, .run = run2, .key = "k2"})
           .add(QueueDelivered{message2});
     }},
    {"ACK4",
     [](Book& b) {
       b.ready()
           .add(QueueAdded{.message = message1, .run = run1, .key = "k1"})
           .start_run(run2, message2, "k2");
     }},
    {"C1",  // its agent was started in this daemon life
     [](Book& b) {
       b.ready({.resume = ResumePolicy::on_boot}).add(ResumeRequested{.at_boot = true});
     }},
    {"C11", [](Book& b) { b.ready().add(QueueAdded{.message = message1, .by = "auto_continue"}); }},
    {"Q1",
     [](Book& b) {
       b.ready().add(QueueAdded{.message = message1, .run = run1}).end("idle");
       b.ledger().check_quiet();
     }},
    {"Q1",  // steered, but neither the turn nor its own run got it
     [](Book& b) {
       b.ready().start_run(run1, message1).steer().end("running");
       b.finish_run(run1, 4).cursor(4).end("idle");
       b.ledger().check_quiet();
     }},
    {"C23",  // reported as steered, but not by the agentctl
     [](Book& b) {
       b.ready().start_run(run1, message1).steer().end("running");
       b.frame(4, Usage{}, run1).take_steered(4);
     }},
    {"C23",  // or the agentctl reported another prompt
     [](Book& b) {
       b.ready().start_run(run1, message1).steer().end("running");
       b.frame(4, FrameSteerTaken{message1}, run1).take_steered(4);
     }},
    {"ACK4",  // only a prompt on its way may overtake the others
     [](Book& b) {
       b.ready().start_run(run1, message1);
       b.add(QueueAdded{.message = id<MessageId>(23), .key = "k3"});
       b.add(QueueAdded{.message = message2, .run = run2, .key = "k2"}).end("running");
       b.frame(4, FrameSteerTaken{message2}, run1).take_steered(4);
     }},
    {"C23",
     [](Book& b) {
       b.tells_steered = false;
       b.ready().start_run(run1, message1).steer();
     }},
    {"RUN5",
     [](Book& b) {
       b.ready().start_run(run1, message1).add(QueueAdded{.message = message2, .steer = true});
       b.end("running");
     }},
    {"RUN1",  // the agent's end was read, but had no effect
     [](Book& b) {
       b.ready().start_run(run1, message1).end("running");
       b.frame(4, FrameRunFailed{run1, {.code = "agent_error"}}, run1);
       b.add(SessionRenamed{"x"}).cursor(4).end("running");
     }},
    {"RUN1",  // no notification that it stalls
     [](Book& b) {
       b.ready().start_run(run1, message1).frame(4, FrameRunStalled{run1, 1000}, run1);
       b.add(RunStalled{1000}, {.run = run1, .exec = exec, .gen = 1, .frame = 4});
       b.cursor(4).end("running");
     }},
    {"Q1",  // its agent is ready, but it is not begun
     [](Book& b) {
       b.ready().add(QueueAdded{.message = message1, .run = run1, .key = "k1"}).end("idle");
     }},
    {"Q1",  // no agent exists, and none is started
     [](Book& b) {
       b.add(SessionCreated{.session = session, .agent = {.name = "a"}}).end("idle");
       b.add(QueueAdded{.message = message1, .run = run1, .key = "k1"}).end("idle");
     }},
    {"C11",
     [](Book& b) { b.ready().add(RunStarted{.message = message1, .trigger = "uid:1"}, in_run); }},
};
INSTANTIATE_TEST_SUITE_P(Runs, LedgerFinds, testing::ValuesIn(run_cases));

const Case process_cases[] = {
    {"PROC2", [](Book& b) { b.ready().add(Usage{}, {.exec = id<ExecId>(9), .gen = 7}); }},
    {"PROC2",
     [](Book& b) { b.ready().add(ExecutorStarting{}, {.exec = id<ExecId>(9), .gen = 3}); }},
    {"PROC3",
     [](Book& b) { b.ready().add(ExecutorStarting{}, {.exec = id<ExecId>(9), .gen = 2}); }},
    {"PROC3", [](Book& b) { b.ready().add(ExecutorStopped{"lost", "exit"}, in_exec); }},
    {"PROC3",
     [](Book& b) {
       b.ready().start_run(run1, message1).end("running");
       b.add(RunInterrupted{}, in_run)
           .effect(Notify{NotifyWhat::interrupted, run1})
           .end("interrupted_startup");
     }},
    {"PROC5",
     [](Book& b) {
       b.ready().frame(4, Usage{.used = 1});
       b.add(Usage{.used = 2}, {.exec = exec, .gen = 1, .frame = 4});
     }},
    {"PROC5", [](Book& b) { b.ready().add(Usage{}, {.exec = exec, .gen = 1, .frame = 4}); }},
    {"PROC5",
     [](Book& b) { b.ready().frame(4, Usage{}).add(SessionRenamed{"x"}).cursor(4).end("idle"); }},
    {"PROC5", [](Book& b) { b.ready().add(SessionRenamed{"x"}).cursor(2).end("idle"); }},
    {"C2",
     [](Book& b) {
       b.ready().start_run(run1, message1).finish_run(run1, 4).cursor(4).end("idle");
       b.frame(5, FrameAgentExited{}).frame(6, FrameSessionOpened{OpenMethod::fresh, "as-2"});
       b.add(AgentExited{.exit_code = 0}, {.exec = exec, .gen = 1, .frame = 5});
       b.add(ResumeRequested{.how = ResumeHow::fresh, .strict = true});
       b.add(ContextBoundary{.how = BoundaryHow::fresh,
                             .agent_session_id = "as-2",
                             .previous_agent_session_id = "as-1",
                             .reason = "asked for"},
             {.exec = exec, .gen = 1, .frame = 6});
     }},
    {"X6",  // a requested change is called a loss
     [](Book& b) {
       b.ready().start_run(run1, message1).finish_run(run1, 4).cursor(4).end("idle");
       b.frame(5, FrameAgentExited{}).frame(6, FrameSessionOpened{OpenMethod::fresh, "as-2"});
       b.add(AgentExited{.exit_code = 0}, {.exec = exec, .gen = 1, .frame = 5});
       b.add(ResumeRequested{.how = ResumeHow::fresh});
       b.add(ContextBoundary{.how = BoundaryHow::fresh,
                             .agent_session_id = "as-2",
                             .previous_agent_session_id = "as-1",
                             .reason = "capability_missing"},
             {.exec = exec, .gen = 1, .frame = 6});
     }},
    {"C4",  // a rung failed, and the ladder stops there
     [](Book& b) {
       b.ready().add(ResumeRequested{.by = "uid:1"});
       b.add(ContextAttempt{{OpenMethod::load, OpenFailure::other_session, "x"}}, in_exec);
       b.end("idle");
     }},
    {"R11", [](Book& b) { b.ready().add(ResumeRequested{}).add(ResumeRequested{}); }},
    {"L37",
     [](Book& b) {
       b.ready().add(ResumeRequested{.by = "uid:1"});
       b.add(ResumeFailed{.failure = OpenFailure::transport, .code = "out_of_memory"}, in_exec);
     }},
    {"D1", [](Book& b) { b.ready().add(ExecutorReattached{}, in_exec); }},
    {"K18",  // the resume that it served must fail with it
     [](Book& b) {
       b.ready().add(ResumeRequested{.by = "uid:1"});
       b.add(ExecutorError{"executor_timeout", "x"}, in_exec).effect(StopExecutor{exec, 1});
       b.end("idle");
     }},
    {"K18",  // a resume that waits for the next execution has not failed
     [](Book& b) {
       const AgentProfile other{.name = "b"};
       b.ready().add(ResumeRequested{.with = other, .by = "uid:1"}).effect(StopExecutor{exec, 1});
       b.end("idle").add(ExecutorError{"spawn_failed", "x"}, in_exec);
       b.add(ResumeFailed{.failure = OpenFailure::startup, .message = "x"}, in_exec);
     }},
};
INSTANTIATE_TEST_SUITE_P(Processes, LedgerFinds, testing::ValuesIn(process_cases));

const Case wait_cases[] = {
    {"TOK1",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).add(TokenConsumed{token, "uid:1"}, in_run);
       b.add(TokenRevoked{token, "x"}, in_run);
     }},
    {"TOK1",
     [](Book& b) {
       b.ready()
           .start_run(run1, message1)
           .ask(4)
           .add(TokenConsumed{token, "uid:1"}, in_run)
           .add(RunResumed{token}, in_run)
           .cursor(4)
           .end("running");
     }},
    {"TOK3",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4);
       b.add(PermissionResolved{permission, PermissionOutcome::selected, "allow", "uid:1"}, in_run);
     }},
    {"TOK3",
     [](Book& b) {
       b.facts.answered = false;
       b.ready().start_run(run1, message1).ask(4).add(TokenConsumed{token, "uid:1"}, in_run);
       b.add(PermissionResolved{permission, PermissionOutcome::selected, "allow", "uid:1"}, in_run);
     }},
    {"TOK3",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).add(TokenConsumed{token, "session:x"}, in_run);
     }},
    {"TOK3", [](Book& b) { b.ready().start_run(run1, message1).ask(4).finish_run(run1, 5); }},
    {"TOK4",
     [](Book& b) {
       b.ready()
           .start_run(run1, message1)
           .ask(4)
           .command(AnswerRequest{"r", "allow"})
           .cursor(4)
           .end("waiting");
     }},
    {"TOK4",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).add(TokenConsumed{token, "uid:1"}, in_run);
       b.add(PermissionResolved{permission, PermissionOutcome::selected, "allow", "uid:1"}, in_run);
       b.cursor(4).end("running");
     }},
    {"C15",  // a run whose question was lost says so
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).cursor(4).end("waiting");
       b.add(TokenRevoked{token, "interrupted"}, in_run);
       b.add(PermissionResolved{permission, PermissionOutcome::expired, "", "system"}, in_run);
       b.add(RunInterrupted{InterruptReason::process_exit}, in_run);
     }},
    {"C15",  // a question outside of any run, when its agent is gone
     [](Book& b) {
       const Origin origin{.exec = exec, .gen = 1, .frame = 4};
       b.ready().frame(4, FramePermission{.request = "r", .options = {{"allow", "", ""}}});
       b.add(
           PermissionRequested{
               .permission = permission, .request = "r", .options = {{"allow", "", ""}}},
           origin);
       b.add(TokenMinted{.token = token, .permission = permission}, origin);
       b.effect(Notify{NotifyWhat::needs_input, {}}).cursor(4).end("waiting");
       b.frame(5, FrameAgentExited{});
       b.add(AgentExited{.exit_code = 0}, {.exec = exec, .gen = 1, .frame = 5}).cursor(5);
       b.end("waiting");
     }},
    {"C15",
     [](Book& b) { b.ready().start_run(run1, message1).ask(4).add(TokenExpired{token}, in_run); }},
    {"O4",
     [](Book& b) {
       const Origin origin{.run = run1, .exec = exec, .gen = 1, .frame = 4};
       b.ready().start_run(run1, message1).frame(4, FramePermission{.request = "r"}, run1);
       b.add(PermissionRequested{.permission = permission, .request = "r"}, origin);
       b.add(TokenMinted{.token = token, .permission = permission}, origin);
       b.effect(Notify{NotifyWhat::needs_input, run1}).cursor(4).end("waiting");
     }},
    {"O4",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).cursor(4).end("waiting");
       b.add(TokenConsumed{token, "uid:1"}, in_run);
       b.add(PermissionResolved{permission, PermissionOutcome::selected, "allow", "uid:1"}, in_run);
       b.command(AnswerRequest{"r", "allow"}).end("running");
     }},
    {"C15",  // its time is over, but the run continues
     [](Book& b) {
       const Origin origin{.run = run1, .exec = exec, .gen = 1, .frame = 4};
       b.ready({.wait_ms = 10}).start_run(run1, message1);
       b.frame(4, FramePermission{.request = "r"}, run1);
       b.add(PermissionRequested{.permission = permission, .request = "r"}, origin);
       b.add(TokenMinted{.token = token,
                         .permission = permission,
                         .expires = Deadline::after({{0}, {0}, "host"}, 10)},
             origin);
       b.add(RunWaiting{.token = token}, origin).effect(Notify{NotifyWhat::needs_input, run1});
       b.add(TokenExpired{token}, in_run).command(AnswerRequest{"r", ""});
       b.add(PermissionResolved{permission, PermissionOutcome::expired, "", "system"}, in_run);
       b.cursor(4).end("running");
     }},
    {"TOK4",  // refused at once, but the agent waits forever
     [](Book& b) {
       const Origin origin{.run = run1, .exec = exec, .gen = 1, .frame = 4};
       b.ready().start_run(run1, message1).frame(4, FramePermission{.request = "r"}, run1);
       b.add(PermissionRequested{.permission = permission, .request = "r"}, origin);
       b.add(PermissionResolved{permission, PermissionOutcome::cancelled, "", "system"}, origin);
       b.cursor(4).end("running");
     }},
    {"TOK3",  // withdrawn, but still open
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).cursor(4).end("waiting");
       b.frame(5, FramePermissionGone{"r"}, run1).add(SessionRenamed{"x"}).cursor(5).end("waiting");
     }},
};
INSTANTIATE_TEST_SUITE_P(Waits, LedgerFinds, testing::ValuesIn(wait_cases));

// The correct list row of a ready session.
SessionSummary good_row() {
  return {.agent = "a",
          .cwd = "/w",
          .created = {1},
          .executor = ExecutorSummary{.exec = exec, .gen = 1, .status = ExecutorStatus::ready}};
}

void list(Book& b, const SessionSummary& row) {
  b.ready().batch().listing = Listing{.open = true, .summary = encode_fields(row)};
  b.add(SessionConfigured{}).end("idle");
}

TEST(Ledger, AGoodRowOfTheListPasses) {
  Book book;
  list(book, good_row());
  EXPECT_EQ(book.broken(), "") << book.what();
}

void begin_fork(Book& b) {
  b.add(SessionCreated{.session = session, .title = "t (fork)", .agent = {.name = "a"}},
        {.copied_from = "x/1"});
}

TEST(Ledger, AGoodForkPasses) {
  Book book;
  begin_fork(book);
  book.add(SessionRenamed{"t (fork 2)"}).add(SessionStopped{"forked", "uid:1"});
  const SessionSummary row{
      .title = "t (fork 2)", .agent = "a", .stop_reason = "forked", .created = {1}};
  book.batch().listing = Listing{.summary = encode_fields(row)};
  book.end("idle");
  EXPECT_EQ(book.broken(), "") << book.what();
}

const Case shown_cases[] = {
    {"C7",  // a fork that is in no list
     [](Book& b) {
       begin_fork(b);
       b.add(SessionRenamed{"t (fork 2)"}).add(SessionStopped{"forked", "uid:1"}).end("idle");
     }},
    {"C7",
     [](Book& b) {
       SessionSummary row = good_row();
       row.title = "another";
       list(b, row);
     }},
    {"C7",
     [](Book& b) {
       SessionSummary row = good_row();
       row.error = "trouble that there is not";
       list(b, row);
     }},
    {"L8",
     [](Book& b) {
       SessionSummary row = good_row();
       row.executor.reset();
       list(b, row);
     }},
    {"L8",
     [](Book& b) {
       SessionSummary row = good_row();
       row.executor->status = ExecutorStatus::starting;
       list(b, row);
     }},
    {"C7",
     [](Book& b) {
       begin_fork(b);
       b.add(SessionRenamed{"t (fork)"});
     }},
    {"C7",
     [](Book& b) {
       begin_fork(b);
       b.add(SessionStopped{"forked", "uid:1"});
     }},
    {"L37",
     [](Book& b) {
       b.ready().frame(4, FrameAgentExited{}).add(ResumeRequested{});
       b.add(AgentExited{.why = "not_started"}, {.exec = exec, .gen = 1, .frame = 4});
       b.add(ResumeFailed{OpenFailure::startup, "the agent ended"}, in_exec);
     }},
    {"L37",  // the last line gives the reason, and no other line
     [](Book& b) {
       b.ready().frame(4, FrameAgentExited{}).add(ResumeRequested{});
       b.add(AgentExited{.why = "not_started", .stderr_tail = "one\ntwo\n"},
             {.exec = exec, .gen = 1, .frame = 4});
       b.add(ResumeFailed{OpenFailure::startup, "the agent could not be started: one"}, in_exec);
     }},
    {"RUN1",
     [](Book& b) {
       b.ready().start_run(run1, message1).ask(4).cursor(4);
       b.batch().outbox_add.pop_back();
       b.end("waiting");
     }},
};
INSTANTIATE_TEST_SUITE_P(Shown, LedgerFinds, testing::ValuesIn(shown_cases));

}  // namespace
}  // namespace perdure::sim
