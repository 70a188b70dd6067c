// Opening a session of the agent: every wrong answer of agents to load and resume, unexpected
// replays, and settings that must be restored.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

using testing::HasSubstr;

class Opening : public Agentctl {
 protected:
  // The number of conversation frames; a replay must add none.
  static std::size_t conversation(const Driver& driver) {
    return driver.count("message.agent") + driver.count("message.thought") +
           driver.count("tool.call") + driver.count("tool.update") + driver.count("plan") +
           driver.count("usage");
  }
  // Loads the session in an agent with these switches, and returns the result.
  FrameSessionOpened loaded(const std::string& switched, const std::string& id) {
    Driver& driver = begin_next({switched});
    EXPECT_TRUE(start_agent(driver));
    EXPECT_TRUE(load(driver, id)) << switched;
    const auto* opened = driver.last<FrameSessionOpened>();
    return opened ? *opened : FrameSessionOpened{};
  }
  OpenFailure load_failure(const std::string& switched, const std::string& id) {
    Driver& driver = begin_next({switched});
    EXPECT_TRUE(start_agent(driver));
    EXPECT_FALSE(load(driver, id)) << switched;
    const auto* failed = driver.last<FrameOpenFailed>();
    return failed ? failed->failure : OpenFailure::other;
  }
};

TEST_F(Opening, R1_X9_a_load_without_an_id_goes_on_with_the_one_asked_for) {
  const std::string id = lived({"say 2"});
  for (const char* const switched : {"load_null_result", "load_without_session_id"}) {
    const FrameSessionOpened opened = loaded(switched, id);
    EXPECT_EQ(opened.agent_session_id, "") << switched;
    EXPECT_EQ(opened.replayed_prompts, 1U + (switched[5] == 'w' ? 1U : 0U)) << switched;
    ASSERT_TRUE(driver_->run("recall")) << switched;
    EXPECT_THAT(driver_->text(), HasSubstr("say 2")) << switched;
    stop(*driver_);
  }
}

TEST_F(Opening, R1_X9_P11_another_id_is_told_as_it_is) {
  const std::string id = lived({"say 2"});
  const FrameSessionOpened opened = loaded("load_other_id", id);
  EXPECT_NE(opened.agent_session_id, "");
  EXPECT_NE(opened.agent_session_id, id);
  EXPECT_TRUE(driver_->run("say 1"));  // in the existing session
  EXPECT_EQ(driver_->count("run.finished"), 1U);
}

TEST_F(Opening, R1_X9_an_empty_success_shows_by_its_empty_replay) {
  const std::string id = lived({"say 2"});
  const FrameSessionOpened opened = loaded("load_empty_success", id);
  EXPECT_EQ(opened.agent_session_id, id);
  EXPECT_EQ(opened.replayed_prompts, 0U);
  EXPECT_EQ(opened.replayed_updates, 0U);
}

TEST_F(Opening, R1_X10_errors_are_told_by_what_they_mean_and_with_their_details) {
  const std::string id = lived({"say 1"});
  struct Case {
    const char* error;
    OpenFailure failure;
  };
  const Case cases[] = {
      {"-32603,Internal error,no rollout found for thread 7", OpenFailure::session_unknown},
      {"-32002,Resource not found", OpenFailure::session_unknown},
      {"-32603,OpenCode service failure", OpenFailure::session_unknown},
      {"-32000,Authentication required", OpenFailure::auth},
      {"-32601,Method not found", OpenFailure::capability_missing},
      {"-32603,Internal error,fetch failed", OpenFailure::transport},
      {"-32800,Request cancelled", OpenFailure::cancelled},
      {"-32603,Internal error,the moon is full", OpenFailure::other},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(load_failure("load_error=" + std::string(one.error), id), one.failure) << one.error;
    const std::string error = one.error;
    EXPECT_THAT(driver_->last<FrameOpenFailed>()->message,
                HasSubstr(error.substr(error.rfind(',') + 1)));
    EXPECT_TRUE(open(*driver_, {})) << "the agent is still of use";
    stop(*driver_);
  }
}

TEST_F(Opening, X11_a_session_that_was_never_prompted_is_unknown) {
  const std::string id = lived({});
  Driver& driver = begin_next();
  ASSERT_TRUE(start_agent(driver));
  EXPECT_FALSE(load(driver, id));
  EXPECT_EQ(driver.last<FrameOpenFailed>()->failure, OpenFailure::session_unknown);
  EXPECT_TRUE(open(driver, {}));
}

TEST_F(Opening, R3_X5_replays_of_every_form_are_counted_and_kept_out) {
  const std::string id = lived({"say 3; tool 1; think 1", "say 4"});
  for (const char* const form :
       {"load_replay=all", "load_replay=all,after", "load_replay=all,without_ids",
        "load_replay=all,merged", "load_replay=all,tools_twice", "load_replay=2000",
        "load_replay=2000,after", "usage_replay"}) {
    const FrameSessionOpened opened = loaded(form, id);
    EXPECT_GT(opened.replayed_updates, 0U) << form;
    EXPECT_EQ(conversation(*driver_), 0U) << form;
    if (std::string_view(form).find("2000") != std::string_view::npos) {
      EXPECT_EQ(opened.replayed_updates, 2000U) << form;
    }
    stop(*driver_);
  }
}

TEST_F(Opening, R4_a_replay_that_goes_on_behind_its_answer_is_not_live) {
  const std::string id = lived({"say 3"});
  // Within the time that agentctl waits for silence, and after it.
  struct Case {
    const char* late;
    std::uint64_t counted;
    std::size_t sent;
  };
  // The first turn is two updates of history, the second two more.
  const Case cases[] = {{"late_replay_frames=3,100", 5, 5}, {"late_replay_frames=3,600", 4, 7}};
  for (const auto& [late, counted, sent] : cases) {
    DriverSetup next = setup({late});
    next.number = executions_ + 1;
    next.adjust = [](Bootstrap& bootstrap) { bootstrap.agent.times.load_settle_ms = 300; };
    record(next);
    Driver& driver = begin(std::move(next));
    ASSERT_TRUE(start_agent(driver));
    const std::size_t before = said("_chunk").size();
    ASSERT_TRUE(load(driver, id));
    EXPECT_EQ(driver.last<FrameSessionOpened>()->replayed_updates, counted) << late;
    ASSERT_TRUE(driver.until([&] { return said("_chunk").size() == before + sent; })) << late;
    ASSERT_TRUE(driver.run("say 2"));
    const auto turns = testagent::read_sequence(driver.text());
    ASSERT_TRUE(turns) << turns.error().message() << " " << driver.text();
    EXPECT_EQ(turns->size(), 1U) << driver.text();
    stop(driver);
  }
}

TEST_F(Opening, X5_nothing_of_a_failed_load_leaks) {
  const std::string id = lived({"say 3; usage 5"});
  Driver& driver = begin_next({"load_replay=500,after", "load_error=-32603,boom"});
  ASSERT_TRUE(start_agent(driver));
  ASSERT_FALSE(load(driver, id));
  ASSERT_TRUE(open(driver, {}));
  ASSERT_TRUE(driver.run("say 2"));
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (testagent::SeenTurn{2, true}));
  EXPECT_EQ(driver.count("agent.update"), 1U) << "the usage of the turn, and nothing else";
}

TEST_F(Opening, R7_resume_restores_without_a_replay_and_sends_no_prompt) {
  const std::string id = lived({"say 2"});
  DriverSetup next = setup({"resume_only"});
  next.number = 2;
  record(next);
  Driver& driver = begin(std::move(next));
  ASSERT_TRUE(start_agent(driver));
  EXPECT_FALSE(driver.last<FrameAgentStarted>()->agent.abilities.load);
  EXPECT_TRUE(driver.last<FrameAgentStarted>()->agent.abilities.resume);
  EXPECT_FALSE(load(driver, id));
  EXPECT_EQ(driver.last<FrameOpenFailed>()->failure, OpenFailure::capability_missing);
  ASSERT_TRUE(open(driver, {OpenMethod::resume, id, {}}));
  EXPECT_EQ(driver.last<FrameSessionOpened>()->replayed_updates, 0U);
  ASSERT_TRUE(driver.run("recall"));
  EXPECT_THAT(driver.text(), HasSubstr("I know 1 earlier prompts"));
  EXPECT_EQ(told("session/prompt").size(), 1U);
}

TEST_F(Opening, R9_X14_model_mode_and_options_are_set_again_in_order) {
  const std::string id = lived({"say 1"});
  DriverSetup next = setup({"mode_reset_on_load"});
  next.number = 2;
  record(next);
  Driver& driver = begin(std::move(next));
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(
      open(driver, {OpenMethod::load, id, {{"mode", "plan"}, {"model", "large"}, {"a", "b"}}}));
  const auto set = told("session/set_");
  ASSERT_EQ(set.size(), 2U);
  EXPECT_THAT(set[0], HasSubstr("large"));
  EXPECT_THAT(set[1], HasSubstr("plan"));
  EXPECT_EQ(driver.count("session.opened"), 1U);
  // A setting that cannot be applied is reported, and blocks nothing.
  ASSERT_EQ(driver.count("agent.update"), 1U);
  EXPECT_THAT(driver.last<AgentUpdate>()->update.text, HasSubstr("option_refused"));
  ASSERT_TRUE(driver.run("mode"));
  EXPECT_THAT(driver.text(), HasSubstr("mode=plan model=large"));
}

TEST_F(Opening, R9_a_refused_value_is_visible_and_does_not_stop_the_opening) {
  Driver& driver = begin_next();
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(open(driver, {OpenMethod::fresh, "", {{"model", "gigantic"}, {"mode", "plan"}}}));
  EXPECT_THAT(driver.last<AgentUpdate>()->update.text, HasSubstr("option_refused"));
  ASSERT_TRUE(driver.run("mode"));
  EXPECT_THAT(driver.text(), HasSubstr("mode=plan"));
}

TEST_F(Opening, X7_X8_a_load_that_hangs_times_out_and_the_session_is_not_lost) {
  const std::string id = lived({"say 2"});
  const auto impatient = [](Bootstrap& bootstrap) { bootstrap.agent.times.open_quiet_ms = 200; };
  Driver& hanging = begin_next({"load_hang"}, impatient);
  ASSERT_TRUE(start_agent(hanging));
  ASSERT_FALSE(load(hanging, id));
  EXPECT_EQ(hanging.last<FrameOpenFailed>()->failure, OpenFailure::timeout);
  EXPECT_TRUE(open(hanging, {})) << "the agent itself answers";
  stop(hanging);
  // An agent that does not even initialize.
  Driver& slow = begin_next({"slow_start=60000"}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.initialize_ms = 200;
  });
  ASSERT_TRUE(slow.until_frame("executor.ready"));
  slow.command(StartAgent{});
  ASSERT_TRUE(slow.until_frame("agent.exited"));
  EXPECT_EQ(slow.last<FrameAgentExited>()->exit.why, "killed");
  EXPECT_THAT(slow.last<FrameAgentExited>()->exit.stderr_tail, HasSubstr("initialize"));
  stop(slow);
  EXPECT_EQ(loaded("load_ok", id).replayed_prompts, 1U);
}

TEST_F(Opening, X8_a_slow_replay_that_goes_on_does_not_time_out) {
  const std::string id = lived({"say 2"});
  Driver& driver = begin_next({"load_replay=10,gap_ms:100"}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.open_quiet_ms = 500;
  });
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  EXPECT_EQ(driver.last<FrameSessionOpened>()->replayed_updates, 10U);
}

TEST_F(Opening, X7_an_answer_to_a_call_that_was_given_up_opens_nothing_else) {
  const std::string id = lived({"say 2"});
  const std::string other = lived({"say 5", "say 1"});
  // The first load times out and is answered during the second; both replay in turn, so the agent
  // is never quiet for long.
  Driver& driver = begin_next({"load_replay=4,gap_ms:400"}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.open_quiet_ms = 300;
  });
  ASSERT_TRUE(start_agent(driver));
  const std::int64_t began_ms = driver.now_ms();
  ASSERT_FALSE(load(driver, id));
  ASSERT_TRUE(driver.until([&] { return driver.now_ms() >= began_ms + 600; }));
  ASSERT_TRUE(open(driver, {}));  // makes the agent read its clock
  // The first load's answer is not taken for the second's, whose own would come too late.
  EXPECT_FALSE(load(driver, other));
}

TEST_F(Opening, X15_servers_that_are_refused_are_left_out_on_the_second_try) {
  const std::string id = lived({"say 1"});
  DriverSetup next = setup({"mcp_refused"});
  next.number = 2;
  next.adjust = [](Bootstrap& bootstrap) {
    bootstrap.agent.mcp_servers.text = R"([{"name":"x","command":"x","args":[],"env":[]}])";
  };
  record(next);
  Driver& driver = begin(std::move(next));
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  const auto loads = told("session/load");
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_THAT(loads[0], HasSubstr(R"("name":"x")"));
  EXPECT_THAT(loads[1], HasSubstr(R"("mcpServers":[])"));
  EXPECT_EQ(driver.count("session.open_failed"), 0U);
}

TEST_F(Opening, a_session_is_not_opened_under_a_running_turn) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("say 1; hang");
  ASSERT_TRUE(driver.until_frame("message.agent"));
  EXPECT_FALSE(open(driver, {}));
  driver.command(CancelPrompt{run});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_TRUE(driver.run("say 1"));
}

}  // namespace
}  // namespace perdure
