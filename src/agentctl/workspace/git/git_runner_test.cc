// How git runs: in order, a few jobs at once, bounded, and without harmful settings from its
// environment. Uses scripted processes and a manual clock.
#include "agentctl/workspace/git/git_runner.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentctl/supervisor/fake_world_for_test.h"

namespace perdure {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class GitRunnerTest : public ::testing::Test {
 protected:
  GitRunner::JobId run(const std::string& name, GitAccess access = GitAccess::read) {
    GitJob job{.arguments = {name}, .cwd = "/", .access = access};
    return run(name, std::move(job));
  }
  GitRunner::JobId run(const std::string& name, GitJob job) {
    return runner_->run(std::move(job), [this, name](Result<GitOutput> result) {
      ended_.push_back(name);
      last_ = std::move(result);
    });
  }
  std::string started(std::size_t index) {
    return processes_.children.at(index)->spec.command.back();
  }
  void finish(std::size_t index, std::string_view output = "", int code = 0) {
    processes_.finish(index, output, code);
    loop_.run();
  }

  FakeLoop loop_;
  FakeProcesses processes_;
  std::optional<GitRunner> runner_{std::in_place, GitRunner::Setup{loop_, processes_, {}}};
  std::vector<std::string> ended_;
  Result<GitOutput> last_ = GitOutput{};
};

TEST_F(GitRunnerTest, runs_few_at_once_and_the_rest_in_order) {
  for (const auto* name : {"a", "b", "c", "d"}) run(name);
  EXPECT_EQ(processes_.children.size(), git_processes_max);
  finish(1);
  EXPECT_EQ(started(2), "c");
  finish(0);
  EXPECT_EQ(started(3), "d");
  EXPECT_EQ(ended_, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(processes_.alive(), 2U);
}

TEST_F(GitRunnerTest, writers_come_one_at_a_time_and_nobody_overtakes) {
  run("w1", GitAccess::write);
  run("w2", GitAccess::write_with_hooks);
  run("r");
  EXPECT_EQ(processes_.children.size(), 1U);
  finish(0);
  ASSERT_EQ(processes_.children.size(), 3U);
  EXPECT_EQ(started(1), "w2");
  EXPECT_EQ(started(2), "r");
}

TEST_F(GitRunnerTest, a_full_queue_refuses_at_once) {
  for (std::size_t i = 0; i < git_processes_max + git_queue_max; ++i) run("x");
  EXPECT_TRUE(ended_.empty());
  run("one more");
  EXPECT_EQ(ended_.size(), 1U);
  EXPECT_EQ(last_.error().code(), Code::limit_reached);
}

TEST_F(GitRunnerTest, one_that_hangs_is_killed_and_its_place_is_free) {
  run("hangs");
  run("b");
  run("c");
  loop_.advance_ms(git_read_ms - 1);
  EXPECT_TRUE(ended_.empty());
  loop_.advance_ms(1);
  EXPECT_EQ(ended_, (std::vector<std::string>{"hangs", "b"}));
  EXPECT_EQ(last_.error().code(), Code::unavailable);
  EXPECT_EQ(processes_.alive(), 1U);
  EXPECT_EQ(started(2), "c");
}

TEST_F(GitRunnerTest, output_beyond_the_limit_ends_it) {
  GitJob job{.arguments = {"x"}, .cwd = "/"};
  job.output_bytes_max = 10;
  run("x", std::move(job));
  processes_.children[0]->events->on_output("0123456");
  EXPECT_TRUE(ended_.empty());
  processes_.children[0]->events->on_output("789abc");
  loop_.run();
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_TRUE(last_->cut);
  EXPECT_EQ(last_->output, "0123456789");
  EXPECT_EQ(processes_.alive(), 0U);
  EXPECT_EQ(loop_.timers(), 0U);
}

TEST_F(GitRunnerTest, output_that_fits_exactly_is_whole) {
  GitJob job{.arguments = {"x"}, .cwd = "/"};
  job.output_bytes_max = 10;
  run("x", std::move(job));
  finish(0, "0123456789");
  EXPECT_FALSE(last_->cut);
  EXPECT_EQ(last_->output.size(), 10U);
}

TEST_F(GitRunnerTest, a_cancelled_one_tells_nobody) {
  const auto running = run("running");
  run("other");
  const auto waiting = run("waiting");
  run("next");
  runner_->cancel(waiting);
  runner_->cancel(running);
  runner_->cancel(99);
  loop_.run();
  EXPECT_EQ(started(2), "next");
  finish(1);
  finish(2);
  EXPECT_EQ(ended_, (std::vector<std::string>{"other", "next"}));
}

TEST_F(GitRunnerTest, destroying_it_kills_and_tells_nobody) {
  run("a");
  run("b");
  run("c");
  finish(0);
  runner_.reset();
  loop_.run();
  EXPECT_EQ(processes_.alive(), 0U);
  EXPECT_EQ(loop_.timers(), 0U);
  EXPECT_EQ(ended_.size(), 1U);
}

TEST_F(GitRunnerTest, no_git_is_said_so) {
  processes_.refusal = Error(Code::not_found, "git");
  run("x");
  EXPECT_EQ(last_.error().code(), Code::unavailable);
  EXPECT_THAT(last_.error().message(), HasSubstr("git is not installed"));
}

TEST(GitSpawnSpec, the_outside_world_cannot_redirect_git) {
  const GitJob job{.arguments = {"status"}, .cwd = "/w"};
  const SpawnSpec spec =
      git_spawn_spec(job, {"PATH=/bin", "HOME=/h", "GIT_DIR=/elsewhere", "GIT_EXTERNAL_DIFF=evil",
                           "LC_ALL=de_DE", "GIT_SSH_COMMAND=evil", "GIT_CONFIG_PARAMETERS='a'",
                           "GIT_AUTHOR_NAME=A", "GIT_CONFIG_GLOBAL=/g"});
  for (const auto* kept : {"PATH=/bin", "HOME=/h", "GIT_AUTHOR_NAME=A", "GIT_CONFIG_GLOBAL=/g",
                           "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none"}) {
    EXPECT_THAT(spec.environment, Contains(kept));
  }
  for (const auto* name :
       {"GIT_DIR=", "GIT_EXTERNAL", "GIT_SSH", "GIT_CONFIG_PARAM", "LC_ALL=de"}) {
    EXPECT_THAT(spec.environment, Not(Contains(::testing::StartsWith(name))));
  }
  EXPECT_EQ(spec.command.front(), "git");
  EXPECT_EQ(spec.cwd, "/w");
}

TEST(GitSpawnSpec, hooks_run_for_commits_only) {
  const auto command = [](GitAccess access) {
    return git_spawn_spec({.arguments = {"x"}, .access = access}, {}).command;
  };
  EXPECT_THAT(command(GitAccess::read), Contains("core.hooksPath=/dev/null"));
  EXPECT_THAT(command(GitAccess::write), Contains("core.hooksPath=/dev/null"));
  EXPECT_THAT(command(GitAccess::write_with_hooks), Not(Contains("core.hooksPath=/dev/null")));
  for (const auto access : {GitAccess::read, GitAccess::write, GitAccess::write_with_hooks}) {
    EXPECT_THAT(command(access), Contains("core.fsmonitor=false"));
  }
  EXPECT_THAT(command(GitAccess::read), Contains("--no-optional-locks"));
}

}  // namespace
}  // namespace perdure
