// Which conditions become items, when an item disappears, and the order of items.
#include "core/views/inbox.h"

#include <gtest/gtest.h>

#include "core/session/random_journal_for_test.h"

namespace perdure {
namespace {

using testing::some_id;

const World world{.liveness = Liveness::alive,
                  .now = {.wall = {10'000}, .since_boot = {10'000}, .host_boot = "h1"}};

State live_session() {
  State state;
  state.id = some_id<SessionId>(1);
  state.title = "fix it";
  state.updated = {9'000};
  state.exec = {.gen = 1, .status = ExecutorStatus::ready, .agent = AgentPhase::ready};
  return state;
}

void ask(State& state, std::uint64_t number, std::int64_t at) {
  const auto permission = some_id<PermissionId>(number);
  const auto token = some_id<WaitTokenId>(number);
  state.permissions[permission] = {
      .permission = permission, .title = "Run it?", .options = {{.id = "yes"}}};
  state.waits[token] = {
      .token = token, .run = some_id<RunId>(1), .permission = permission, .since = {at}};
}

std::vector<InboxKind> kinds(const std::vector<InboxItem>& items) {
  std::vector<InboxKind> all;
  for (const auto& item : items) all.push_back(item.kind);
  return all;
}

EndedRun interrupted(InterruptReason reason) {
  return {
      .id = some_id<RunId>(1), .end = RunEnd::interrupted, .interrupted = reason, .ended = {8'000}};
}

TEST(Inbox, N5_open_permission_with_everything_to_answer_it) {
  State state = live_session();
  ask(state, 1, 4'000);
  const auto items = project_inbox(state, world);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].kind, InboxKind::permission);
  EXPECT_EQ(items[0].session, state.id);
  EXPECT_EQ(items[0].session_title, "fix it");
  EXPECT_EQ(items[0].text, "Run it?");
  EXPECT_EQ(items[0].options.at(0).id, "yes");
  EXPECT_EQ(items[0].token, some_id<WaitTokenId>(1));
  EXPECT_EQ(items[0].age_ms, 6'000);
}

TEST(Inbox, N15_finished_is_not_needs_input) {
  State state = live_session();
  for (const RunEnd end : {RunEnd::completed, RunEnd::cancelled}) {
    state.last_run = EndedRun{.end = end};
    EXPECT_TRUE(project_inbox(state, world).empty());
  }
}

TEST(Inbox, A31_X18_an_expired_question_is_shown_and_offers_nothing) {
  State state = live_session();
  ask(state, 1, 4'000);
  World dead = world;
  dead.liveness = Liveness::dead;
  const auto items = project_inbox(state, dead);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].kind, InboxKind::expired);
  EXPECT_TRUE(items[0].options.empty());
}

TEST(Inbox, A31_questions_that_went_with_their_run) {
  State state = live_session();
  state.last_run = interrupted(InterruptReason::wait_lost);
  EXPECT_EQ(kinds(project_inbox(state, world)), std::vector{InboxKind::expired});
  state.closed_waits = {{.token = some_id<WaitTokenId>(1),
                         .run = some_id<RunId>(1),
                         .outcome = PermissionOutcome::expired},
                        {.token = some_id<WaitTokenId>(2),
                         .run = some_id<RunId>(1),
                         .outcome = PermissionOutcome::selected},
                        {.token = some_id<WaitTokenId>(3),
                         .run = some_id<RunId>(7),
                         .outcome = PermissionOutcome::expired}};
  const auto items = project_inbox(state, world);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].token, some_id<WaitTokenId>(1));
  EXPECT_EQ(items[0].since, Timestamp{8'000});
}

TEST(Inbox, O3_interrupted_and_failed_runs_until_a_newer_one) {
  State state = live_session();
  state.last_run = interrupted(InterruptReason::process_exit);
  EXPECT_EQ(kinds(project_inbox(state, world)), std::vector{InboxKind::interrupted});
  state.last_run = interrupted(InterruptReason::process_restart);
  EXPECT_EQ(kinds(project_inbox(state, world)), std::vector{InboxKind::interrupted});
  state.last_run = interrupted(InterruptReason::forked);
  EXPECT_TRUE(project_inbox(state, world).empty());
  state.last_run = EndedRun{.end = RunEnd::failed, .message = "rate limited"};
  ASSERT_EQ(kinds(project_inbox(state, world)), std::vector{InboxKind::failed});
  EXPECT_EQ(project_inbox(state, world)[0].text, "rate limited");
  state.run = perdure::Run{.id = some_id<RunId>(2)};
  EXPECT_TRUE(project_inbox(state, world).empty());
}

TEST(Inbox, C2_a_failed_resume_waits_for_a_person) {
  State state = live_session();
  state.exec.agent = AgentPhase::none;
  state.failure = Failure{.state = "FAILED", .message = "log in first"};
  ASSERT_EQ(kinds(project_inbox(state, world)), std::vector{InboxKind::failed});
  EXPECT_EQ(project_inbox(state, world)[0].text, "log in first");
}

TEST(Inbox, C23_N11_held_prompts) {
  State state = live_session();
  state.queue.resize(3);
  EXPECT_TRUE(project_inbox(state, world).empty());  // they will start automatically
  state.queue[1] = {.prompt = Prompt{.text = "held"}, .held = true};
  state.queue[2].held = true;
  const auto items = project_inbox(state, world);
  ASSERT_EQ(kinds(items), std::vector{InboxKind::held});
  EXPECT_EQ(items[0].prompts_held, 2U);
  EXPECT_EQ(items[0].text, "held");
}

TEST(Inbox, C3_what_somebody_put_away_is_quiet) {
  State state = live_session();
  state.last_run = interrupted(InterruptReason::process_exit);
  state.exec.agent = AgentPhase::none;
  state.stop_reason = "stopped_by_user";
  EXPECT_TRUE(project_inbox(state, world).empty());
  state.stop_reason.clear();
  state.archived = true;
  EXPECT_TRUE(project_inbox(state, world).empty());
}

TEST(Inbox, N8_merged_over_sessions_questions_first_and_oldest_first) {
  State first = live_session();
  ask(first, 1, 5'000);
  first.queue.resize(1);
  first.queue[0].held = true;
  State second = live_session();
  second.id = some_id<SessionId>(2);
  ask(second, 2, 3'000);
  State third = live_session();
  third.id = some_id<SessionId>(3);
  third.last_run = interrupted(InterruptReason::process_exit);
  const auto merged = merge_inboxes(
      {project_inbox(first, world), project_inbox(third, world), project_inbox(second, world)});
  EXPECT_EQ(kinds(merged), (std::vector{InboxKind::permission, InboxKind::permission,
                                        InboxKind::interrupted, InboxKind::held}));
  EXPECT_EQ(merged[0].session, second.id);
  EXPECT_EQ(merged[1].session, first.id);
}

}  // namespace
}  // namespace perdure
