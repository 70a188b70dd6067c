// Resumes through the routes: one agent regardless of the caller, an honest receipt, no dead end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using testing::HasSubstr;

struct Lost : ApiBench {
  Lost() {
    make_worked();
    lose_agentctl();
  }
  void executor_comes_up() {
    runtime->on_attached(exec());
    run_now();
    frame(FrameExecutorReady{{.url = "unix:x", .pid = 7}});
    frame(FrameAgentStarted{{.abilities = {.resume = true, .load = true}}});
  }
};

TEST(ResumeRoutes, A4_A5_A12_K22_K36_a_resume_answers_with_its_receipt_and_prompts_nobody) {
  Lost bench;
  const std::size_t prompts = bench.agentctls.commands<SendPrompt>().size();
  const Asked asked = bench.on_session("resume");
  EXPECT_TRUE(asked.is_open());
  EXPECT_EQ(enum_text(bench.runtime->view(bench.session)->state), "STARTING");
  bench.agent_comes_up();
  EXPECT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.at("receipt.rung_name"), "resume");
  EXPECT_EQ(asked.at("receipt.rung"), "2");
  EXPECT_EQ(asked.at("receipt.agent_session_id"), "agent-1");
  EXPECT_EQ(asked.at("receipt.verified"), "id_only");
  EXPECT_EQ(asked.at("already_running"), "false");
  EXPECT_EQ(asked.at("session.state"), "WAITING_FOR_INPUT");
  EXPECT_EQ(asked.at("session.session_id"), bench.session.text());
  EXPECT_EQ(bench.agentctls.commands<SendPrompt>().size(), prompts);
}

TEST(ResumeRoutes, A7_stored_metadata_that_cannot_be_read_refuses_the_resume) {
  ApiBench bench;
  bench.make_worked();
  ASSERT_TRUE(bench.disk.flip_bit(bench.session, 1));
  bench.kill_daemon();
  bench.settle();
  const std::size_t started = bench.agentctls.started.size();
  const Asked asked = bench.on_session("resume");
  EXPECT_EQ(asked.code(), "damaged");
  EXPECT_EQ(bench.agentctls.started.size(), started) << "nothing was started";
}

TEST(ResumeRoutes, C14_A6_K8_a_live_session_is_already_running) {
  ApiBench bench;
  bench.make_worked();
  const Asked asked = bench.on_session("resume");
  EXPECT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.at("already_running"), "true");
  EXPECT_EQ(asked.at("receipt.rung_name"), "attach");
  EXPECT_EQ(bench.agentctls.started.size(), 1U);
}

TEST(ResumeRoutes, R11_L6_K18_X16_twenty_resumes_at_once_start_one_agent_and_all_get_the_receipt) {
  Lost bench;
  std::vector<Asked> asked;
  for (int i = 0; i < 20; ++i)
    asked.push_back(bench.on_session("resume", "", "r" + std::to_string(i)));
  EXPECT_EQ(bench.agentctls.started.size(), 2U);
  bench.agent_comes_up();
  for (const Asked& each : asked) EXPECT_EQ(each.at("receipt.rung_name"), "resume");
}

TEST(ResumeRoutes, N10_a_repeated_resume_gets_the_same_receipt_before_and_after_its_end) {
  Lost bench;
  const Asked first = bench.on_session("resume", "{}", "k");
  const Asked during = bench.on_session("resume", "{}", "k");
  bench.agent_comes_up();
  const Asked after = bench.on_session("resume", "{}", "k");
  for (const Asked& each : {first, during, after}) {
    EXPECT_EQ(each.at("receipt.rung_name"), "resume");
  }
  EXPECT_EQ(bench.count("resume.requested"), 2U);
}

TEST(ResumeRoutes,
     A16_A27_K37_R14_an_unknown_id_falls_back_once_and_the_receipt_says_what_is_lost) {
  Lost bench;
  const Asked asked = bench.on_session("resume");
  bench.executor_comes_up();
  bench.frame(FrameOpenFailed{OpenMethod::resume, OpenFailure::session_unknown, "-32002"});
  bench.frame(FrameSessionOpened{OpenMethod::fresh, "agent-2"});
  EXPECT_EQ(asked.at("receipt.rung_name"), "inject");
  EXPECT_EQ(asked.at("receipt.inject_armed"), "true");
  EXPECT_THAT(asked.at("receipt.lost"), HasSubstr("earlier turn"));
  EXPECT_THAT(asked.at("receipt.attempts"), HasSubstr("session_unknown"));
  EXPECT_EQ(asked.at("session.state"), "WAITING_FOR_INPUT");
  EXPECT_EQ(asked.at("session.agent_session_id"), "agent-2");
  EXPECT_EQ(bench.count("context.attempt"), 1U);
}

TEST(ResumeRoutes, K29_K30_the_history_goes_with_the_next_prompt_and_only_once) {
  Lost bench;
  bench.on_session("resume", R"({"how":"inject"})");
  bench.executor_comes_up();
  bench.frame(FrameSessionOpened{OpenMethod::fresh, "agent-2"});
  bench.on_session("prompt", R"({"text":"go on"})");
  EXPECT_THAT(bench.agentctls.commands<SendPrompt>().back().context,
              HasSubstr("=== EXECUTION HISTORY ==="));
  bench.finish_run();
  bench.on_session("prompt", R"({"text":"more"})");
  EXPECT_EQ(bench.agentctls.commands<SendPrompt>().back().context, "");
}

TEST(ResumeRoutes, A17_K17_C22_C2_another_failure_is_an_error_that_shows_the_session) {
  Lost bench;
  const Asked asked = bench.on_session("resume");
  bench.executor_comes_up();
  bench.frame(FrameOpenFailed{OpenMethod::resume, OpenFailure::auth, "log in first"});
  EXPECT_EQ(asked.status(), 409);
  EXPECT_EQ(asked.code(), "not_resumable");
  EXPECT_EQ(asked.at("session.state"), "FAILED");
  EXPECT_EQ(asked.at("receipt.rung"), "0");
  EXPECT_EQ(asked.at("receipt.agent_session_id"), "agent-1");
  EXPECT_EQ(bench.on_session("prompt", R"({"text":"still"})").status(), 200);
}

TEST(ResumeRoutes, C2_strict_fails_rather_than_lose_context) {
  Lost bench;
  const Asked asked = bench.on_session("resume", R"({"strict":true})");
  bench.executor_comes_up();
  bench.frame(FrameOpenFailed{OpenMethod::resume, OpenFailure::session_unknown, "no"});
  EXPECT_EQ(asked.code(), "not_resumable");
  EXPECT_EQ(bench.count("context.boundary"), 1U);
  EXPECT_EQ(bench.on_session("resume", R"({"strict":true})").code(), "not_resumable");
}

TEST(ResumeRoutes, K15_A8_C13_a_missing_folder_is_refused_with_what_can_be_done) {
  Lost bench;
  bench.loop.folder_there = false;
  const Asked asked = bench.on_session("resume");
  EXPECT_EQ(asked.code(), "workspace_missing");
  EXPECT_THAT(asked.at("error.actions"), HasSubstr("rebind"));
}

TEST(ResumeRoutes, A9_an_agent_that_is_not_defined_any_more_is_refused) {
  Lost bench;
  bench.agents = AgentCatalog();
  bench.agents.add({.profile = {.name = "other"}});
  EXPECT_EQ(bench.on_session("resume").code(), "agent_unknown");
}

TEST(ResumeRoutes, L25_the_session_must_belong_to_the_task_that_is_named) {
  Lost bench;
  EXPECT_EQ(bench.on_session("resume", R"({"task_id":"task_00000000000000000000000001"})").code(),
            "conflict");
}

TEST(ResumeRoutes, K13_after_ninety_seconds_the_answer_is_pending_and_the_ladder_goes_on) {
  Lost bench;
  const Asked asked = bench.on_session("resume");
  bench.executor_comes_up();
  bench.settle(resume_answer_ms - 1);
  EXPECT_TRUE(asked.is_open());
  bench.settle(10);
  EXPECT_EQ(asked.status(), 202);
  EXPECT_EQ(asked.at("pending"), "true");
  bench.frame(FrameSessionOpened{OpenMethod::resume, "agent-1"});
  EXPECT_EQ(bench.state().exec.agent, AgentPhase::ready);
}

TEST(ResumeRoutes, C5_handover_to_another_agent_starts_it_and_keeps_the_history) {
  Lost bench;
  const Asked asked = bench.on_session("resume", R"({"with":"other"})");
  EXPECT_EQ(bench.agentctls.started.back().agent.name, "other");
  bench.executor_comes_up();
  bench.frame(FrameSessionOpened{OpenMethod::fresh, "theirs"});
  EXPECT_EQ(asked.at("receipt.how"), "handover");
  EXPECT_EQ(bench.on_session("resume", R"({"with":"nobody"})").code(), "agent_unknown");
}

TEST(ResumeRoutes, C19_an_execution_out_of_reach_can_be_declared_dead) {
  ApiBench bench;
  bench.make_worked();
  bench.kill_daemon();
  const Asked asked = bench.on_session("resume", R"({"declare_dead":true})", "d");
  EXPECT_EQ(bench.count("executor.stopped"), 1U);
  EXPECT_EQ(bench.agentctls.started.size(), 1U);
  bench.agent_comes_up();
  EXPECT_EQ(asked.at("receipt.rung_name"), "resume");
  EXPECT_EQ(bench.on_session("resume", R"({"declare_dead":true})").code(), "conflict");
}

TEST(ResumeRoutes, O26_D1_K34_a_daemon_that_dies_in_a_run_leaves_one_interruption) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"long"})");
  bench.kill_daemon();
  bench.lose_agentctl();
  EXPECT_EQ(bench.count("run.interrupted"), 1U);
  EXPECT_EQ(enum_text(bench.runtime->view(bench.session)->status), "interrupted_startup");
  bench.kill_daemon();
  bench.settle();
  EXPECT_EQ(bench.count("run.interrupted"), 1U);
}

TEST(ResumeRoutes, a_stop_ends_the_wait_for_a_receipt) {
  Lost bench;
  const Asked asked = bench.on_session("resume");
  bench.on_session("stop");
  EXPECT_EQ(asked.code(), "not_resumable");
  EXPECT_THAT(asked.at("error.message"), HasSubstr("stopped"));
}

TEST(ResumeRoutes, A3_C3_K12_K16_a_session_comes_back_after_a_stop_a_crash_and_a_restart) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("stop");
  bench.lose_agentctl();
  const Asked stopped = bench.on_session("resume");
  bench.agent_comes_up();
  EXPECT_EQ(stopped.at("receipt.rung_name"), "resume");

  bench.frame(FrameAgentExited{{.signal = 11, .why = "crashed"}});
  const Asked crashed = bench.on_session("resume");
  bench.frame(FrameAgentStarted{{.abilities = {.resume = true}}});
  bench.frame(FrameSessionOpened{OpenMethod::resume, "agent-1"});
  EXPECT_EQ(crashed.at("receipt.rung_name"), "resume");

  bench.kill_daemon();
  bench.lose_agentctl();
  const Asked restarted = bench.on_session("resume");
  bench.agent_comes_up();
  EXPECT_EQ(restarted.at("receipt.rung_name"), "resume");
  EXPECT_EQ(bench.count("session.created"), 1U);
}

TEST(ResumeRoutes, A26_a_crash_stays_visible_until_new_work_starts) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"crash"})");
  bench.frame(FrameAgentExited{{.signal = 11, .why = "crashed"}}, bench.state().run->id);
  EXPECT_EQ(bench.on_session("repair").at("session.stop_reason"), "agent_crashed");
}

TEST(ResumeRoutes, K25_A15_an_agent_that_cannot_restore_gets_a_new_session_and_it_shows) {
  Lost bench;
  const Asked asked = bench.on_session("resume");
  bench.runtime->on_attached(bench.exec());
  bench.run_now();
  bench.frame(FrameExecutorReady{{.url = "unix:x", .pid = 7}});
  bench.frame(FrameAgentStarted{{.abilities = {}}});
  EXPECT_EQ(bench.agentctls.commands<OpenSession>().back().method, OpenMethod::fresh);
  bench.frame(FrameSessionOpened{OpenMethod::fresh, "agent-2"});
  EXPECT_EQ(asked.at("receipt.reason"), "capability_missing");
  EXPECT_EQ(at_path(asked.at("session.acp_caps"), "load"), "false");
}

TEST(ResumeRoutes, K9_C21_an_execution_that_is_not_known_to_be_dead_needs_no_resume) {
  ApiBench bench;
  bench.make_worked();
  bench.kill_daemon();
  EXPECT_FALSE(bench.runtime->view(bench.session)->resume.needs_resume);
  bench.lose_agentctl();
  EXPECT_TRUE(bench.runtime->view(bench.session)->resume.needs_resume);
}

}  // namespace
}  // namespace perdure
