// Recovery: how a new daemon handles the journal of a dead one, with agentctls that are alive, dead
// or unresponsive.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/runtime/fixture_for_test.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {
namespace {

// A session with an open run whose agent has sent output.
void run_something(Daemon& daemon) {
  ASSERT_TRUE(daemon.create("do it").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  ASSERT_TRUE(daemon.state().run.has_value());
  daemon.frame(MessageAgent{.text = "working"}, daemon.state().run->id);
}

// A session that has completed work and whose agent waits for more.
void work_and_rest(Daemon& daemon, const Policy& policy) {
  ASSERT_TRUE(daemon.create("go", policy, "").has_value());
  daemon.settle(10);
  daemon.agent_comes_up();
  daemon.settle(10);
  daemon.frame(FrameRunFinished{daemon.state().run->id, "end_turn"});
  daemon.settle(10);
}

TEST(Recovery, O12_O13_O26_D1_restart_with_a_dead_agentctl_interrupts_once) {
  Daemon daemon;
  run_something(daemon);
  for (int restart = 0; restart < 3; ++restart) {
    daemon.crash();
    if (daemon.state().exec.gone) {
      daemon.settle();
    } else {
      daemon.runtime->on_gone(daemon.exec(), "pidfd");
      daemon.settle();
    }
    EXPECT_TRUE(daemon.ready);
  }
  EXPECT_EQ(daemon.count("run.interrupted"), 1U);
  EXPECT_EQ(daemon.state().status, "interrupted_startup");
  const EndedRun last = *daemon.state().last_run;
  EXPECT_EQ(last.interrupted, InterruptReason::process_restart);
}

TEST(Recovery, X1_D1_restart_with_a_living_agentctl_goes_on_in_mid_turn) {
  Daemon daemon;
  run_something(daemon);
  const RunId run = daemon.state().run->id;
  daemon.crash();
  ASSERT_EQ(daemon.agentctls.attached.size(), 1U);
  EXPECT_EQ(daemon.agentctls.attached[0].second, daemon.frames)
      << "reads on behind the last commit";
  daemon.runtime->on_attached(daemon.exec());
  daemon.frame(MessageAgent{.text = "still here"}, run);
  daemon.frame(FrameRunFinished{run, "end_turn"});
  daemon.settle();
  EXPECT_EQ(daemon.count("run.interrupted"), 0U);
  EXPECT_EQ(daemon.count("run.completed"), 1U);
  EXPECT_EQ(daemon.count("executor.reattached"), 1U);
  EXPECT_EQ(daemon.count("message.agent"), 2U);
}

TEST(Recovery, O31_C1_reconcile_ends_before_ready_and_starts_no_agent) {
  Daemon daemon;
  run_something(daemon);
  daemon.crash();
  daemon.run_now();
  EXPECT_FALSE(daemon.ready) << "the execution is neither found nor proved gone";
  daemon.runtime->on_gone(daemon.exec(), "host_boot");
  daemon.run_now();
  EXPECT_TRUE(daemon.ready);
  EXPECT_EQ(daemon.count("run.interrupted"), 1U) << "written before anybody is served";
  EXPECT_TRUE(daemon.agentctls.started.empty()) << "K2: no agent is started at boot";
}

TEST(Recovery, C19_silence_is_not_death_and_does_not_hold_up_the_boot) {
  Daemon daemon;
  run_something(daemon);
  daemon.crash();
  daemon.settle(reconcile_probe_ms + 1);
  EXPECT_TRUE(daemon.ready);
  EXPECT_TRUE(daemon.state().run.has_value());
  EXPECT_EQ(daemon.runtime->liveness(daemon.session), Liveness::unknown);
  EXPECT_EQ(daemon.count("run.interrupted"), 0U);
  // A person may declare what cannot be proved.
  ASSERT_TRUE(daemon.ask(DeclareDead{}).has_value());
  EXPECT_EQ(daemon.count("run.interrupted"), 1U);
}

TEST(Recovery, O14_boot_derives_the_status_anew_and_records_a_change_once) {
  Daemon daemon;
  run_something(daemon);
  const std::size_t before = daemon.count("status.derived");
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle();
  EXPECT_EQ(daemon.count("status.derived"), before + 1);
  daemon.crash();
  daemon.settle();
  EXPECT_EQ(daemon.count("status.derived"), before + 1);
}

TEST(Recovery, K1_X20_a_fast_restart_finds_everything) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  ASSERT_TRUE(daemon.ask(RenameSession{"kept"}).has_value());
  const auto before = daemon.records();
  for (int i = 0; i < 5; ++i) daemon.crash();
  daemon.run_now();
  EXPECT_EQ(daemon.records(), before);
  EXPECT_EQ(daemon.state().title, "kept");
}

TEST(Recovery, A11_A13_what_a_crash_left_open_is_closed_before_the_end_of_the_run) {
  Daemon daemon;
  run_something(daemon);
  const RunId run = daemon.state().run->id;
  daemon.frame(ToolCall{.tool_call_id = "t1", .title = "sh", .status = "in_progress"}, run);
  daemon.frame(MessageAgent{.text = "while it runs"}, run);
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle();
  const auto records = daemon.records();
  std::vector<std::string> tail;
  for (const Record& record : records) {
    const std::string kind(event_kind(record.event));
    if (kind.starts_with("repair.") || kind == "run.interrupted") tail.push_back(kind);
  }
  EXPECT_EQ(tail, (std::vector<std::string>{"repair.closed_message", "repair.closed_tool",
                                            "run.interrupted"}));
}

TEST(Recovery, D10_reboot_with_a_question_open_marks_it_lost_and_prompts_nobody) {
  Daemon daemon;
  run_something(daemon);
  daemon.frame(
      FramePermission{.request = "q1", .title = "rm", .options = {{"yes", "Yes", "allow_once"}}},
      daemon.state().run->id);
  ASSERT_EQ(daemon.state().permissions.size(), 1U);
  const PermissionId asked = daemon.state().permissions.begin()->first;
  daemon.loop.host_boot = "host-2";
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "host_boot");
  daemon.settle();
  EXPECT_EQ(daemon.state().status, "interrupted_waiting");
  EXPECT_EQ(daemon.ask(AnswerPermission{asked, "yes"}).error().code(), Code::permission_closed);
  EXPECT_TRUE(daemon.agentctls.sent.empty());
}

TEST(Recovery, N5_N7_A31_a_question_survives_the_daemon_and_its_answer_reaches_the_agent) {
  Daemon daemon;
  run_something(daemon);
  daemon.frame(
      FramePermission{.request = "q1", .title = "rm", .options = {{"yes", "Yes", "allow_once"}}},
      daemon.state().run->id);
  const PermissionId asked = daemon.state().permissions.begin()->first;
  daemon.crash();
  daemon.settle(10);
  // Answered while the link is down: stored, and delivered when it is up.
  ASSERT_TRUE(daemon.ask(AnswerPermission{asked, "yes"}).has_value());
  EXPECT_TRUE(daemon.agentctls.commands<AnswerRequest>().empty());
  daemon.crash();
  daemon.runtime->on_attached(daemon.exec());
  daemon.run_now();
  const auto answers = daemon.agentctls.commands<AnswerRequest>();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0], (AnswerRequest{"q1", "yes"}));
}

TEST(Recovery, C9_survive_false_ends_the_agent_with_its_daemon) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go", {.survive = false}).has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.crash();
  EXPECT_EQ(daemon.agentctls.stopped.size(), 1U);
}

TEST(Recovery, C9_C23_a_prompt_waits_for_the_end_of_an_agent_that_was_to_end_with_its_daemon) {
  Daemon daemon;
  work_and_rest(daemon, {.survive = false});
  daemon.crash();
  daemon.runtime->on_attached(daemon.exec());
  daemon.settle(10);
  ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "after the restart"}}).has_value());
  EXPECT_FALSE(daemon.state().run) << "not with an agent that is being ended";
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  ASSERT_EQ(daemon.agentctls.started.size(), 1U);
  daemon.agent_comes_up();
  daemon.settle(100);
  EXPECT_TRUE(daemon.state().run);
  EXPECT_EQ(daemon.count("run.failed") + daemon.count("run.interrupted"), 0U);
}

TEST(Recovery, L35_C1_K12_on_boot_resumes_an_idle_session_whose_agent_was_lost) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  EXPECT_EQ(daemon.agentctls.started.size(), 1U);
}

TEST(Recovery, L35_C1_on_boot_leaves_alone_what_a_person_stopped) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  ASSERT_TRUE(daemon.ask(StopSession{}).has_value());
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  EXPECT_TRUE(daemon.agentctls.started.empty());
}

TEST(Recovery, C1_C19_on_boot_resumes_also_what_is_proved_lost_after_the_daemon_serves) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  daemon.crash();
  daemon.settle(reconcile_probe_ms + 1000);
  ASSERT_TRUE(daemon.ready);
  EXPECT_TRUE(daemon.agentctls.started.empty()) << "silence is no proof";
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  EXPECT_EQ(daemon.agentctls.started.size(), 1U);
}

// This many sessions that should resume at boot: the daemon ends, and none of their agents has
// survived.
std::vector<SessionId> lose_at_boot(Daemon& daemon, int count) {
  std::vector<SessionId> sessions;
  for (int i = 0; i < count; ++i) {
    daemon.loop.time_ms += 5;
    work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
    sessions.push_back(daemon.session);
  }
  daemon.crash();
  for (const SessionId session : sessions) {
    daemon.session = session;
    daemon.runtime->on_gone(daemon.exec(), "pidfd");
  }
  daemon.settle(100);
  return sessions;
}

TEST(Recovery, C1_what_was_brought_back_meanwhile_and_lost_again_is_no_matter_of_the_boot) {
  Daemon daemon;
  const std::vector<SessionId> sessions = lose_at_boot(daemon, 4);
  std::set<SessionId> under_way;
  for (const LaunchSpec& spec : daemon.agentctls.started) under_way.insert(spec.session);
  const auto waits =
      std::ranges::find_if(sessions, [&](SessionId one) { return !under_way.contains(one); });
  ASSERT_NE(waits, sessions.end()) << "few at a time";
  daemon.session = *waits;
  ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "go on"}}).has_value());
  daemon.agent_comes_up();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  const Gen gen = daemon.state().exec.gen;
  for (const SessionId session : under_way) {  // their turns are over
    daemon.session = session;
    daemon.agent_comes_up();
  }
  daemon.settle(100);
  EXPECT_EQ(daemon.runtime->state(*waits)->exec.gen, gen);
}

TEST(Recovery, C1_what_was_begun_and_lost_before_the_daemon_serves_is_no_matter_of_the_boot) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  const SessionId lost = daemon.session;
  daemon.loop.time_ms += 5;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});  // whose agent stays silent
  daemon.crash();
  daemon.session = lost;
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "go on"}}).has_value());
  daemon.agent_comes_up();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  ASSERT_FALSE(daemon.ready);
  const Gen gen = daemon.state().exec.gen;
  daemon.settle(reconcile_probe_ms + 1000);
  ASSERT_TRUE(daemon.ready);
  EXPECT_EQ(daemon.state().exec.gen, gen);
}

TEST(Recovery, C1_DISK2_a_resume_at_boot_that_a_full_disk_refused_is_asked_for_again) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  const SessionId lost = daemon.session;
  daemon.loop.time_ms += 5;
  work_and_rest(daemon, {});  // whose agent stays silent
  daemon.crash();
  daemon.session = lost;
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(reconcile_probe_ms - 500);  // including all records about its end
  ASSERT_FALSE(daemon.ready);
  daemon.store->inject(CommitFault::disk_full);
  daemon.settle(1000);
  ASSERT_TRUE(daemon.ready);
  ASSERT_TRUE(daemon.agentctls.started.empty());
  daemon.settle(boot_resume_again_ms);
  EXPECT_EQ(daemon.agentctls.started.size(), 1U);
}

TEST(Recovery, C22_C13_on_boot_a_folder_that_is_gone_is_told_as_an_error) {
  Daemon daemon;
  work_and_rest(daemon, {.resume = ResumePolicy::on_boot});
  daemon.crash();
  daemon.loop.folder_there = false;
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  EXPECT_TRUE(daemon.agentctls.started.empty());
  const SessionView view = *daemon.runtime->view(daemon.session);
  EXPECT_EQ(view.state, SessionState::error);
  EXPECT_EQ(view.error_code, "workspace_missing");
}

TEST(Recovery, C1_no_more_agents_at_once_than_may_be_brought_back) {
  Daemon daemon;
  lose_at_boot(daemon, 6);
  EXPECT_EQ(daemon.agentctls.started.size(), RuntimeConfig{}.resume_parallel);
}

TEST(Recovery, L35_C1_on_boot_resumes_what_was_active_and_never_prompts) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go", {.resume = ResumePolicy::on_boot}).has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.crash();
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle(100);
  ASSERT_EQ(daemon.agentctls.started.size(), 1U);
  daemon.agent_comes_up();
  daemon.settle();
  EXPECT_TRUE(daemon.agentctls.commands<SendPrompt>().empty()) << "C11";
  EXPECT_FALSE(daemon.state().run.has_value());
}

TEST(Recovery, X21_G9_a_damaged_session_is_quarantined_alone) {
  Daemon daemon;
  run_something(daemon);
  const SessionId damaged = daemon.session;
  ASSERT_TRUE(daemon.disk.flip_bit(damaged, 3));
  daemon.crash();
  daemon.settle();
  EXPECT_TRUE(daemon.ready);
  EXPECT_TRUE(daemon.runtime->damaged().contains(damaged));
  EXPECT_EQ(daemon.ask(RenameSession{"x"}).error().code(), Code::damaged);
  daemon.loop.time_ms += 5;
  EXPECT_TRUE(daemon.create().has_value());
}

TEST(Recovery, J6_S10_a_session_of_a_newer_format_is_refused_with_the_reason_and_not_hidden) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  const SessionId newer = daemon.session;
  const Seq head = daemon.state().head;
  daemon.store->append({.session = newer,
                        .epoch = daemon.store->epoch(),
                        .expected_head = head,
                        .records = {R"({"v":2,"seq":)" + std::to_string(head + 1) + "}"}},
                       [](const Result<>& result) { ASSERT_TRUE(result); });
  daemon.store->step();
  daemon.crash();
  daemon.settle();
  EXPECT_TRUE(daemon.ready);
  EXPECT_EQ(daemon.runtime->state(newer).error().code(), Code::format_too_new);
  EXPECT_EQ(daemon.ask(RenameSession{"x"}).error().code(), Code::format_too_new);
  EXPECT_EQ(daemon.store->head(newer)->seq, head + 1) << "nothing is written behind it";
  EXPECT_EQ(daemon.runtime->sessions().page({})->rows.size(), 1U);
  daemon.loop.time_ms += 5;
  EXPECT_TRUE(daemon.create().has_value());
}

// A journal from before records had a version and a chain, up to the middle of a run.
TEST(Recovery, O37_O33_S10_a_session_in_the_format_before_is_listed_replayed_and_resumed) {
  Daemon daemon;
  IdSource ids(daemon.loop.now().wall, 4242);
  daemon.session = ids.next<SessionId>();
  const std::vector<std::string> old{
      R"({"seq":1,"ts":"2026-02-21T10:01:02Z","kind":"session.created","session_id":")" +
          daemon.session.text() +
          R"(","title":"old","agent":{"name":"demo"},"workspace":{"cwd":"/w"}})",
      R"({"seq":2,"ts":"2026-02-21T10:01:03Z","kind":"run.started","run_id":"run_9f5",)"
      R"("boot_id":"boot_1"})",
      R"({"seq":3,"ts":"2026-02-21T10:01:10Z","kind":"message.user","run_id":"run_9f5",)"
      R"("message_id":"msg_u1","content":"run tests"})"};
  daemon.store->append({.session = daemon.session,
                        .epoch = daemon.store->epoch(),
                        .records = old,
                        .listing = Listing{.open = true}},
                       [](const Result<>& result) { ASSERT_TRUE(result); });
  daemon.store->step();
  daemon.crash();
  daemon.settle();
  EXPECT_TRUE(daemon.runtime->damaged().empty());
  EXPECT_EQ(daemon.runtime->view(daemon.session)->title, "old");
  EXPECT_EQ(daemon.count("run.interrupted"), 1U) << "and it goes on in the present format";
  Reader reader;
  ASSERT_TRUE(daemon.runtime->subscribe(daemon.session, 0, "", reader));
  daemon.settle();
  ASSERT_EQ(reader.seen.size(), daemon.state().head);
  EXPECT_EQ(reader.seen.front(), 1U);
  ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "go on"}}));
  daemon.settle();
  ASSERT_EQ(daemon.agentctls.started.size(), 1U);
  daemon.agent_comes_up();
  daemon.settle();
  EXPECT_EQ(daemon.agentctls.commands<SendPrompt>().size(), 1U);
  daemon.crash();
  daemon.settle();
  EXPECT_TRUE(daemon.runtime->damaged().empty());
}

TEST(Recovery, J4_snapshot_and_tail_give_the_same_state_as_the_whole_journal) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(daemon.ask(RenameSession{"title " + std::to_string(i)}).has_value());
  }
  ASSERT_TRUE(daemon.store->snapshot(daemon.session)->has_value());
  const State before = daemon.state();
  daemon.crash();
  daemon.settle();
  EXPECT_EQ(daemon.state(), before);
  State folded;
  for (const Record& record : daemon.records()) folded = evolve(std::move(folded), record.event);
  EXPECT_EQ(folded, before);
}

// The store may not know that records are missing; their numbers must not be reused.
TEST(Recovery, J1_DISK3_a_snapshot_ahead_of_the_head_proves_that_records_are_gone) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(daemon.ask(RenameSession{"title " + std::to_string(i)}).has_value());
  }
  const auto snapshot = daemon.store->snapshot(daemon.session);
  ASSERT_TRUE(snapshot->has_value());
  daemon.runtime.reset();
  ASSERT_TRUE(daemon.disk.lose_behind(daemon.session, (*snapshot)->seq - 1));
  const auto loaded = load_session(*daemon.store, daemon.session);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::damaged);
}

}  // namespace
}  // namespace perdure
