// Sessions created, changed, prompted, stopped and forked through the routes, end to end down to
// the journal and the calls to agentctl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SessionRoutes, K1_K20_U9_a_session_is_made_and_its_prompt_starts_the_agent) {
  ApiBench bench;
  const Asked made = bench.make(R"({"cwd":"/w","prompt":"do it\nnow","title":""})");
  EXPECT_EQ(made.status(), 201);
  EXPECT_EQ(made.at("session.title"), "do it");
  EXPECT_EQ(made.at("session.state"), "STARTING");
  EXPECT_EQ(made.at("placed"), "queued");
  ASSERT_EQ(bench.agentctls.started.size(), 1U);
  bench.agent_comes_up();
  EXPECT_EQ(bench.agentctls.commands<SendPrompt>().at(0).prompt.text, "do it\nnow");
}

TEST(SessionRoutes, U9_without_a_cwd_a_folder_is_made_once_even_when_the_request_is_repeated) {
  ApiBench bench;
  const Asked first = bench.make("{}", "k1");
  EXPECT_THAT(bench.state().workspace.cwd, HasSubstr("/workspaces/session_sess_"));
  const Asked again = bench.make("{}", "k1");
  EXPECT_EQ(again.at("session_id"), first.at("session_id"));
  EXPECT_EQ(bench.made_folders, 1);
}

TEST(SessionRoutes, N10_a_repeated_creation_gives_the_first_session_and_another_body_is_409) {
  ApiBench bench;
  const Asked first = bench.make(R"({"cwd":"/w","prompt":"a"})", "k1");
  const Asked again = bench.make(R"({"cwd":"/w","prompt":"a"})", "k1");
  EXPECT_EQ(again.status(), 201);
  EXPECT_EQ(again.at("session_id"), first.at("session_id"));
  EXPECT_EQ(bench.agentctls.started.size(), 1U);
  const Asked other = bench.make(R"({"cwd":"/w","prompt":"b"})", "k1");
  EXPECT_EQ(other.status(), 409);
  EXPECT_EQ(other.code(), "key_reused");
}

TEST(SessionRoutes, L35_what_a_session_does_not_say_is_as_the_daemon_is_set) {
  ApiBench bench;
  bench.world->policy = {.resume = ResumePolicy::manual, .wait_ms = 5000};
  ASSERT_EQ(bench.make(R"({"cwd":"/w","wait_ms":7})").status(), 201);
  EXPECT_EQ(bench.state().policy.resume, ResumePolicy::manual);
  EXPECT_EQ(bench.state().policy.wait_ms, 7);
}

TEST(SessionRoutes, A9_an_agent_that_is_not_on_this_machine_is_refused) {
  ApiBench bench;
  bench.world->has_program = [](const AgentDefinition&, const std::string&) { return false; };
  const Asked refused = bench.make(R"({"cwd":"/w"})");
  EXPECT_EQ(refused.code(), "agent_missing");
  EXPECT_EQ(refused.status(), 409);
}

TEST(SessionRoutes, A9_an_unknown_agent_is_refused_and_the_others_are_named) {
  ApiBench bench;
  const Asked refused = bench.make(R"({"cwd":"/w","agent":"nobody"})");
  EXPECT_EQ(refused.code(), "agent_unknown");
  EXPECT_THAT(refused.at("error.message"), HasSubstr("demo"));
}

TEST(SessionRoutes, A8_a_folder_must_be_whole_and_there) {
  ApiBench bench;
  EXPECT_EQ(bench.make(R"({"cwd":"w"})").code(), "invalid_argument");
  bench.loop.folder_there = false;
  EXPECT_EQ(bench.make(R"({"cwd":"/gone"})").code(), "workspace_missing");
}

TEST(SessionRoutes, bad_bodies_are_refused_and_change_nothing) {
  ApiBench bench;
  for (const char* const body :
       {"[]", "{", R"({"cwd":"/w","colour":"red"})", R"({"cwd":"/w","prompt":7})",
        R"({"cwd":"/w","mcp_servers":{}})", R"({"cwd":"/w","mcp_servers":[1]})",
        R"({"cwd":"/w","wait_ms":-1})", R"({"cwd":"/w","env":{"A B":"x"}})",
        R"({"cwd":"/w","resume":"soon"})", R"({"cwd":7})"}) {
    EXPECT_EQ(bench.make(body).code(), "invalid_argument") << body;
  }
  EXPECT_EQ(bench.make(R"({"cwd":"/w","task_id":"task_00000000000000000000000001"})").code(),
            "not_found");
  EXPECT_TRUE(bench.store->list({}, 10)->empty());
}

TEST(SessionRoutes, K19_values_of_the_environment_are_kept_outside_of_the_journal) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w","env":{"TOKEN":"hunter2"}})");
  EXPECT_EQ(bench.kept.at(bench.session).at("TOKEN"), "hunter2");
  const std::string journal = bench.store->read(bench.session, {.limit = 100})->records.at(0);
  EXPECT_THAT(journal, HasSubstr("TOKEN"));
  EXPECT_THAT(journal, Not(HasSubstr("hunter2")));
}

TEST(SessionRoutes, R9_mcp_servers_are_journalled_and_given_to_every_execution) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w","prompt":"go","mcp_servers":[{"name":"a","command":"x"}]})");
  EXPECT_EQ(bench.agentctls.started.at(0).mcp_servers.text, R"([{"name":"a","command":"x"}])");
  bench.kill_daemon();
  EXPECT_EQ(bench.state().mcp_servers.text, R"([{"name":"a","command":"x"}])");
}

TEST(SessionRoutes, L1_L7_C17_sessions_of_a_task_stand_beside_each_other) {
  ApiBench bench;
  const TaskId task(Ulid{1, 2});
  bench.node.held.tasks[task] = {.id = task, .title = "T"};
  const std::string body = R"({"cwd":"/w","task_id":")" + task.text() + R"("})";
  const Asked first = bench.make(body);
  const Asked second = bench.make(body);
  EXPECT_EQ(first.at("session.task_id"), task.text());
  EXPECT_EQ(second.at("session.task_id"), task.text());
  EXPECT_NE(first.at("session_id"), second.at("session_id"));
  const std::string path = "/api/sessions/" + bench.session.text();
  EXPECT_EQ(bench.ask_route("PATCH", path, R"({"task_id":null})").at("session.task_id"), "null");
}

TEST(SessionRoutes, A2_a_change_of_title_policy_and_folder_shows_at_once) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w"})");
  const std::string path = "/api/sessions/" + bench.session.text();
  const Asked changed = bench.ask_route(
      "PATCH", path, R"({"title":"new","inject":"off","cwd":"/other","auto_continue":true})");
  EXPECT_EQ(changed.at("session.title"), "new");
  EXPECT_EQ(bench.state().policy.inject, Inject::off);
  EXPECT_TRUE(bench.state().policy.auto_continue);
  EXPECT_TRUE(bench.state().policy.survive);
  EXPECT_EQ(bench.state().workspace.cwd, "/other");
}

TEST(SessionRoutes, C13_a_live_session_keeps_its_folder_and_the_title_is_not_changed_either) {
  ApiBench bench;
  bench.make_worked();
  const Asked refused = bench.ask_route("PATCH", "/api/sessions/" + bench.session.text(),
                                        R"({"title":"new","cwd":"/other"})");
  EXPECT_EQ(refused.code(), "conflict");
  EXPECT_NE(bench.state().title, "new");
}

TEST(SessionRoutes, K13_K14_ACK4_a_prompt_is_durable_at_once_and_brings_the_agent_back) {
  ApiBench bench;
  bench.make_worked();
  bench.lose_agentctl();
  const Asked asked = bench.on_session("prompt", R"({"text":"second"})");
  EXPECT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.at("queue_position"), "1");
  EXPECT_EQ(bench.count("queue.added"), 2U);
  EXPECT_EQ(bench.agentctls.started.size(), 2U);
  bench.agent_comes_up();
  EXPECT_EQ(bench.agentctls.commands<SendPrompt>().back().prompt.text, "second");
  EXPECT_EQ(bench.state().run->id.text(), asked.at("run_id"));
}

TEST(SessionRoutes, N10_a_repeated_prompt_is_one_turn_even_after_a_crash) {
  ApiBench bench;
  bench.make_worked();
  const Asked first = bench.on_session("prompt", R"({"text":"once"})", "p1");
  const Asked again = bench.on_session("prompt", R"({"text":"once"})", "p1");
  EXPECT_EQ(again.at("run_id"), first.at("run_id"));
  bench.kill_daemon();
  const Asked later = bench.on_session("prompt", R"({"text":"once"})", "p1");
  EXPECT_EQ(later.at("run_id"), first.at("run_id"));
  EXPECT_EQ(bench.count("message.user"), 2U);
  EXPECT_EQ(bench.on_session("prompt", R"({"text":"twice"})", "p1").code(), "key_reused");
}

TEST(SessionRoutes, C23_the_mode_of_a_prompt_and_its_blocks_are_taken) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"a"})");
  const Asked queued = bench.on_session("prompt", R"({"text":"b","when":"queue"})");
  EXPECT_EQ(queued.at("placed"), "queued");
  const Asked front = bench.on_session(
      "prompt", R"({"content":[{"type":"text","text":"c"},{"type":"image"}],"when":"interrupt"})");
  EXPECT_EQ(front.at("placed"), "queued_front");
  EXPECT_EQ(bench.state().queue.front().prompt->text, "c");
  EXPECT_THAT(bench.state().queue.front().prompt->blocks.text, HasSubstr("image"));
  for (const char* const body :
       {"{}", R"({"text":"a","content":[{"type":"text","text":"a"}]})", R"({"content":[]})",
        R"({"content":[{"text":"a"}]})", R"({"text":"a","when":"later"})"}) {
    EXPECT_EQ(bench.on_session("prompt", body).code(), "invalid_argument") << body;
  }
}

TEST(SessionRoutes, N11_C23_the_held_queue_is_seen_edited_emptied_and_released) {
  ApiBench bench;
  bench.make_worked();
  bench.on_session("prompt", R"({"text":"a"})");
  const Asked b = bench.on_session("prompt", R"({"text":"b"})");
  const Asked c = bench.on_session("prompt", R"({"text":"c"})");
  bench.lose_agentctl();
  EXPECT_EQ(bench.state().queue.size(), 2U);
  EXPECT_TRUE(bench.state().queue_held);
  const std::string queue = "/api/sessions/" + bench.session.text() + "/queue/";
  EXPECT_EQ(bench.ask_route("PATCH", queue + b.at("message_id"), R"({"text":"b2"})").status(), 200);
  EXPECT_EQ(bench.ask_route("DELETE", queue + c.at("message_id"), "").status(), 200);
  EXPECT_EQ(bench.ask_route("DELETE", queue + c.at("message_id"), "").code(), "not_found");
  const std::size_t starts = bench.agentctls.started.size();
  EXPECT_EQ(bench.on_session("queue/release").status(), 200);
  EXPECT_EQ(bench.agentctls.started.size(), starts + 1);
  bench.agent_comes_up();
  EXPECT_EQ(bench.agentctls.commands<SendPrompt>().back().prompt.text, "b2");
}

TEST(SessionRoutes, N9_cancel_asks_first_and_force_ends_the_run_at_once) {
  ApiBench bench;
  bench.make_worked();
  EXPECT_EQ(bench.on_session("cancel").at("nothing_to_do"), "true");
  bench.on_session("prompt", R"({"text":"a"})");
  EXPECT_EQ(bench.on_session("cancel").status(), 200);
  EXPECT_TRUE(bench.state().run->cancelling);
  bench.post("/api/sessions/" + bench.session.text() + "/cancel?force=1");
  EXPECT_FALSE(bench.state().run);
  EXPECT_EQ(bench.agentctls.stopped.size(), 1U);
}

TEST(SessionRoutes, A28_C3_stop_archive_and_unarchive_leave_one_history) {
  ApiBench bench;
  bench.make_worked();
  EXPECT_EQ(bench.on_session("stop").at("session.stop_reason"), "stopped_by_user");
  bench.lose_agentctl();
  bench.on_session("prompt", R"({"text":"again"})");
  bench.on_session("stop", R"({"reason":"completed"})");
  EXPECT_EQ(bench.count("session.stopped"), 2U);
  EXPECT_EQ(bench.on_session("archive").at("session.archived"), "true");
  EXPECT_EQ(bench.on_session("prompt", R"({"text":"x"})").code(), "session_archived");
  EXPECT_EQ(bench.on_session("resume").code(), "session_archived");
  EXPECT_EQ(bench.on_session("unarchive").at("session.archived"), "false");
}

TEST(SessionRoutes, R9_options_are_asked_of_the_agent_and_remembered) {
  ApiBench bench;
  bench.make_worked();
  EXPECT_EQ(bench.on_session("options", R"({"mode":"plan"})").status(), 200);
  EXPECT_EQ(bench.agentctls.commands<SetOptions>().back().options.at("mode"), "plan");
  EXPECT_EQ(bench.on_session("options", "{}").code(), "invalid_argument");
  EXPECT_EQ(bench.on_session("options", R"({"mode":1})").code(), "invalid_argument");
}

TEST(SessionRoutes, A14_A13_a_dry_repair_shows_what_would_be_written_and_writes_nothing) {
  ApiBench bench;
  bench.make_worked();
  const State before = bench.state();
  const Asked plan = bench.post("/api/sessions/" + bench.session.text() + "/repair?dry_run=1");
  EXPECT_EQ(plan.at("records"), "[]");
  EXPECT_EQ(bench.state(), before);
  EXPECT_EQ(bench.on_session("repair").at("nothing_to_do"), "true");
  bench.on_session("prompt", R"({"text":"a"})");
  EXPECT_EQ(bench.on_session("repair").code(), "conflict");
}

TEST(SessionRoutes, N10_a_fork_is_a_session_of_its_own_and_a_repeat_gives_the_same_one) {
  ApiBench bench;
  bench.make_worked();
  const Asked copy = bench.on_session("fork", R"({"share_cwd":true})", "f1");
  EXPECT_EQ(copy.status(), 201);
  EXPECT_NE(copy.at("session_id"), bench.session.text());
  const Asked again = bench.on_session("fork", R"({"share_cwd":true})", "f1");
  EXPECT_EQ(again.at("session_id"), copy.at("session_id"));
  EXPECT_EQ(bench.store->list({}, 10)->size(), 2U);
  EXPECT_EQ(bench.on_session("fork", R"({"share_cwd":true,"at":9999})").code(), "cursor_invalid");
  EXPECT_EQ(bench.on_session("fork", "{}").code(), "unavailable");
}

TEST(SessionRoutes, a_fork_gets_a_worktree_of_its_own) {
  ApiBench bench;
  bench.make_worked();
  bench.world->make_worktree = [](const WorktreeOrder& order, ApiWorld::OnWorktree done) {
    done(Workspace{.cwd = order.cwd + "-wt", .worktree_branch = order.branch});
  };
  const Asked copy = bench.on_session("fork", R"({"branch":"topic"})");
  const SessionId made = *SessionId::parse(copy.at("session_id"));
  EXPECT_EQ(bench.runtime->state(made)->workspace.cwd, "/w-wt");
  EXPECT_EQ(bench.runtime->state(made)->workspace.worktree_branch, "topic");
  EXPECT_EQ(bench.state().workspace.cwd, "/w");
  const Asked session = bench.make(R"({"cwd":"/repo","worktree":{"branch":"b"}})");
  EXPECT_EQ(bench.state().workspace.cwd, "/repo-wt");
}

TEST(SessionRoutes, a_branch_that_git_would_take_for_an_option_makes_nothing) {
  ApiBench bench;
  bench.make_worked();
  int worktrees = 0;
  bench.world->make_worktree = [&](const WorktreeOrder&, ApiWorld::OnWorktree done) {
    ++worktrees;
    done(Workspace{.cwd = "/wt"});
  };
  const Seq head = bench.state().head;
  for (const std::string branch : {"-D", "--edit-description", "-", "a\\u0000b", "a\\nb"}) {
    const Asked made =
        bench.post("/api/sessions", R"({"cwd":"/repo","worktree":{"branch":")" + branch + R"("}})");
    EXPECT_EQ(made.code(), "invalid_argument") << branch;
    EXPECT_EQ(made.at("error.message"), "branch: not the name of a branch") << branch;
    const Asked copy = bench.on_session("fork", R"({"branch":")" + branch + R"("})");
    EXPECT_EQ(copy.code(), "invalid_argument") << branch;
  }
  EXPECT_EQ(worktrees, 0);
  EXPECT_EQ(bench.state().head, head);
  EXPECT_EQ(bench.store->list({}, 10)->size(), 1U);
}

TEST(SessionRoutes, N17_a_session_of_another_principal_is_not_there) {
  ApiBench bench;
  bench.make_worked();
  bench.principal = {.id = "token:x", .scope = Scope::operate, .sessions = {SessionId(Ulid{9, 9})}};
  for (const char* const verb : {"prompt", "cancel", "stop", "resume", "fork", "repair"}) {
    EXPECT_EQ(bench.on_session(verb, verb == std::string("prompt") ? R"({"text":"x"})" : "").code(),
              "not_found")
        << verb;
  }
  EXPECT_EQ(bench.make(R"({"cwd":"/w"})").code(), "denied");
}

TEST(SessionRoutes, A10_a_session_without_records_and_a_text_that_is_no_id_are_not_found) {
  ApiBench bench;
  EXPECT_EQ(bench.post("/api/sessions/sess_00000000000000000000000001/resume").code(), "not_found");
  EXPECT_EQ(bench.post("/api/sessions/nonsense/stop").status(), 404);
}

TEST(SessionRoutes, K38_agents_are_listed_without_the_values_of_their_environment) {
  ApiBench bench;
  const Asked listed = bench.ask_route("GET", "/api/agents", "");
  EXPECT_THAT(listed.exchange->body(), HasSubstr(R"("name":"demo","title":"Demo","default":true)"));
  EXPECT_THAT(listed.exchange->body(), HasSubstr("API_KEY"));
  EXPECT_THAT(listed.exchange->body(), Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace perdure
