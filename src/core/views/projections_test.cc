// The projections over lives that the machine itself decided: a session is prompted, asked, killed
// and resumed, and the client's view must be right at every step.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "core/session/machine.h"
#include "core/session/random_journal_for_test.h"
#include "core/session/token_index.h"
#include "core/views/executors.h"
#include "core/views/history.h"
#include "core/views/inbox.h"
#include "core/views/read_model.h"
#include "core/views/receipt.h"
#include "core/views/resume_context.h"
#include "core/views/task_state.h"

namespace perdure {
namespace {

using ::testing::HasSubstr;
using testing::some_id;

class Life : public ::testing::Test {
 protected:
  // Decides, folds and keeps the records, like the runtime.
  Reply feed(InputBody body) {
    ++inputs_;
    clock_.wall.ms += 1000;
    clock_.since_boot.ms += 1000;
    auto decision = decide(state, {.now = clock_,
                                   .boot = some_id<BootId>(1),
                                   .id_seed = inputs_,
                                   .by = "uid:1",
                                   .body = std::move(body)});
    CHECK(decision.has_value());
    for (const Event& event : decision->events) {
      state = evolve(std::move(state), event);
      records.push_back({.seq = state.head, .event = event});
    }
    return decision->reply;
  }
  void frame(FrameBody body) {
    feed(Frame{.exec = state.exec.id,
               .gen = state.exec.gen,
               .number = ++frames_,
               .run = state.run ? state.run->id : RunId{},
               .body = std::move(body)});
  }
  void create(AgentProfile agent = {.name = "demo"}) {
    feed(CreateSession{.what = {.session = some_id<SessionId>(1),
                                .task = some_id<TaskId>(1),
                                .agent = std::move(agent),
                                .workspace = {.cwd = "/w"}}});
  }
  // From an ordered start to a ready agent, by the rung that the machine requests.
  void come_up(std::string agent_session_id) {
    frame(FrameExecutorReady{});
    frame(FrameAgentStarted{AgentStarted{.abilities = {.resume = true}}});
    frame(FrameSessionOpened{.method = state.exec.opening,
                             .agent_session_id = std::move(agent_session_id)});
  }
  void prompt(std::string text) { feed(SubmitPrompt{.prompt = {.text = std::move(text)}}); }
  void finish() { frame(FrameRunFinished{.run = state.run->id, .stop_reason = "end_turn"}); }
  void ask() {
    const auto token = some_id<WaitTokenId>(++tokens_);
    frame(FramePermission{.request = "r" + std::to_string(tokens_),
                          .title = "Run it?",
                          .options = {{.id = "yes", .name = "Yes", .kind = "allow_once"}},
                          .token = token,
                          .secret_hash = sha256(token.text())});
  }
  void lose() {
    feed(ExecutorGone{.exec = state.exec.id, .gen = state.exec.gen, .proof = "pidfd"});
  }

  World world() const {
    return {.liveness = Liveness::alive, .boot = some_id<BootId>(1), .now = clock_};
  }
  SessionView view() const { return project_session(state, world()); }
  TaskState task() const { return derive_task_state(std::vector{view().state}); }
  template <class Kind>
  const Kind& last() const {
    for (std::size_t i = records.size(); i-- > 0;) {
      if (const auto* body = get_if<Kind>(&records[i].event.body)) return *body;
    }
    check_failed(__FILE__, __LINE__, "there is such a record");
  }

  State state;
  std::vector<Record> records;

 private:
  Moment clock_{.wall = {1'794'744'000'000}, .since_boot = {1'000}, .host_boot = "h1"};
  std::uint64_t inputs_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t tokens_ = 0;
};

TEST_F(Life, K36_K21_K20_states_of_a_good_resume) {
  create();
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
  prompt("hello");
  EXPECT_EQ(view().state, SessionState::starting);
  EXPECT_EQ(view().executor_status, ExecutorStatus::starting);
  come_up("a-1");
  EXPECT_EQ(view().state, SessionState::running);
  EXPECT_EQ(task(), TaskState::in_progress);
  finish();
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
  EXPECT_EQ(task(), TaskState::review);

  lose();
  EXPECT_EQ(view().resume, (ResumeVerdict{true, true, ResumeReason::agent_not_running}));
  EXPECT_EQ(view().liveness, Liveness::dead);
  feed(ResumeSession{});
  EXPECT_EQ(view().state, SessionState::starting);
  EXPECT_FALSE(view().resume.needs_resume);
  come_up("a-1");
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
  EXPECT_EQ(task(), TaskState::review);
  EXPECT_FALSE(view().resume.needs_resume);
  EXPECT_EQ(view().context, BoundaryHow::native_resume);
  const Receipt receipt = make_receipt(last<ContextBoundary>(), state);
  EXPECT_EQ(rung_number(receipt.rung), 2);
  EXPECT_TRUE(receipt.lost.empty());
  EXPECT_EQ(project_executor(state, world())->gen, 2U);

  prompt("go on");
  EXPECT_EQ(view().state, SessionState::running);
  finish();
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
}

TEST_F(Life, K4_K29_K32_injection_is_told_at_every_step) {
  create({.name = "demo", .native_session_resume = false});
  prompt("remember 42");
  come_up("a-1");
  frame(MessageAgent{.text = "I will"});
  finish();
  lose();
  EXPECT_EQ(view().resume.reason, ResumeReason::agent_not_running_fresh_start);
  feed(ResumeSession{});
  come_up("a-2");
  EXPECT_EQ(view().context, BoundaryHow::injected);
  EXPECT_TRUE(view().needs_resume_context);
  EXPECT_FALSE(view().resume_context_injected);
  const ContextBoundary boundary = last<ContextBoundary>();
  const State at_boundary = state;
  EXPECT_TRUE(make_receipt(boundary, state).inject_armed);

  prompt("what was it?");
  const auto context = render_resume_context(records, {.history_from = state.context.history_from,
                                                       .boundary = state.context.boundary,
                                                       .turns_of = state.context.history_prompts});
  EXPECT_THAT(context.text, HasSubstr("[USER]: remember 42\n[ASSISTANT]: I will\n"));
  EXPECT_EQ(context.turns, 1U);
  EXPECT_EQ(context.turns_of, 1U);
  feed(InjectionReady{.boundary = state.context.boundary,
                      .text = context.text,
                      .turns = context.turns,
                      .turns_of = context.turns_of,
                      .chars = context.chars});
  EXPECT_FALSE(view().needs_resume_context);
  EXPECT_TRUE(view().resume_context_injected);
  const Receipt receipt = make_receipt(boundary, at_boundary, last<ContextInjected>());
  EXPECT_EQ(receipt.injected->turns, 1U);
  // X28: no bubble contains the injected text.
  for (const TranscriptMessage& message : fold_transcript(records)) {
    EXPECT_EQ(message.content.find("EXECUTION HISTORY"), std::string::npos);
  }
}

TEST_F(Life, A31_O27_a_question_lost_with_its_agent) {
  create();
  prompt("do it");
  come_up("a-1");
  ask();
  EXPECT_EQ(view().status, Status::waiting);
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
  ASSERT_EQ(view().pending.size(), 1U);
  EXPECT_EQ(project_inbox(state, world()).at(0).kind, InboxKind::permission);
  const WaitTokenId token = view().pending[0].token;
  lose();
  EXPECT_EQ(view().status, Status::interrupted_waiting);
  EXPECT_TRUE(view().pending.empty());
  EXPECT_EQ(project_inbox(state, world()).at(0).kind, InboxKind::expired);
  EXPECT_EQ(project_inbox(state, world()).at(0).token, token);
  const AnswerWait answer{.token = token, .secret_hash = sha256(token.text())};
  const auto refused = validate_wait(state, answer, world().now);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().code(), Code::token_not_found);
}

TEST_F(Life, A13_A26_a_killed_turn_reads_well) {
  create();
  prompt("deploy");
  come_up("a-1");
  frame(MessageAgent{.text = "Deploying."});
  frame(ToolCall{.tool_call_id = "t", .title = "Deploy", .status = "in_progress"});
  lose();
  const auto messages = fold_transcript(records);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].outcome, MessageOutcome::done);
  EXPECT_EQ(messages[2].outcome, MessageOutcome::unknown);
  const auto turns = fold_history(records);
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns[0].interrupted, InterruptReason::process_exit);
  EXPECT_EQ(turns[0].prompt, "deploy");
  EXPECT_EQ(view().status, Status::interrupted_startup);
  EXPECT_EQ(project_inbox(state, world()).at(0).kind, InboxKind::interrupted);
}

TEST_F(Life, C22_K17_a_failed_resume_shows_and_keeps_the_id) {
  create();
  prompt("hello");
  come_up("a-1");
  finish();
  lose();
  feed(ResumeSession{});
  frame(FrameExecutorReady{});
  frame(FrameAgentStarted{AgentStarted{.abilities = {.resume = true}}});
  frame(FrameOpenFailed{
      .method = OpenMethod::resume, .failure = OpenFailure::auth, .message = "log in first"});
  EXPECT_EQ(view().state, SessionState::failed);
  EXPECT_EQ(task(), TaskState::failed);
  EXPECT_EQ(view().error_message, "log in first");
  EXPECT_EQ(view().agent_session_id, "a-1");
  EXPECT_TRUE(view().resume.is_resumable);
  EXPECT_FALSE(view().resume.needs_resume);
  EXPECT_EQ(make_receipt(last<ResumeFailed>(), state).reason, "log in first");
  EXPECT_EQ(project_inbox(state, world()).at(0).kind, InboxKind::failed);
}

TEST_F(Life, C3_K12_stopped_then_resumed) {
  create();
  prompt("hello");
  come_up("a-1");
  finish();
  feed(StopSession{});
  lose();
  EXPECT_EQ(view().state, SessionState::completed);
  EXPECT_EQ(task(), TaskState::done);
  EXPECT_FALSE(view().resume.needs_resume);
  EXPECT_TRUE(view().resume.is_resumable);
  feed(ResumeSession{});
  EXPECT_EQ(view().state, SessionState::starting);
  come_up("a-1");
  EXPECT_EQ(view().state, SessionState::waiting_for_input);
  EXPECT_EQ(view().stop_reason, "stopped_by_user");
}

}  // namespace
}  // namespace perdure
