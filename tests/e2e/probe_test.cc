// `perdure agents probe` as a user meets it: what the scripted agent does well and badly is found
// out, kept, and shown, and nothing of it stays behind.
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/json_view.h"
#include "daemon_test.h"
#include "env/posix/confine/confine.h"
#include "env/posix/files/fd.h"

namespace perdure {
namespace {

class Probe : public DaemonTest {
 protected:
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {daemon_->setup().program};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_->environment());
  }
  // The outcome of each step, and its message.
  struct Found {
    std::map<std::string, std::string> outcome;
    std::map<std::string, std::string> says;
    std::string rung;
    int exit_code = -1;
  };
  Found probe(const std::string& agent = "test") {
    const ProgramRun ran = run({"agents", "probe", "--json", agent});
    Found found{.exit_code = ran.exit_code};
    const JsonView report(ran.output);
    for (const JsonView step : report["steps"].items()) {
      found.outcome[step["name"].text()] = step["outcome"].text();
      found.says[step["name"].text()] = step["says"].text();
    }
    found.rung = report["rung"].text();
    EXPECT_EQ(found.outcome.size(), 11u) << ran.output;
    return found;
  }
  bool has_probing_processes() {
    for (const MarkedProcess& each : daemon_->processes()) {
      if (each.kind != ProcessKind::daemon) return true;
    }
    return false;
  }
};

TEST_F(Probe, L23_what_a_good_agent_can_do_is_measured_and_kept) {
  begin();
  const Found found = probe();
  for (const char* step : {"initialize", "new", "permission", "cancel", "kill", "resume", "load",
                           "unknown id", "two", "end"}) {
    EXPECT_EQ(found.outcome.at(step), "yes") << step << ": " << found.says.at(step);
  }
  EXPECT_EQ(found.rung, "resume");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_FALSE(has_probing_processes());
  daemon_->kill_daemon();
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_EQ(client_->get("/api/agents/test/probe").at("report.rung"), "resume");
  EXPECT_NE(run({"agents", "ls"}).output.find("here"), std::string::npos);
  EXPECT_NE(run({"doctor"}).output.find("probe of test"), std::string::npos);
}

TEST_F(Probe, K38_an_agent_that_says_yes_and_has_forgotten_is_found_out) {
  begin({.agents = {TestAgentSetup{.switches = {"resume_empty_success", "exit_on_eof=no"}}}});
  const Found found = probe();
  EXPECT_EQ(found.outcome.at("resume"), "no") << found.says.at("resume");
  EXPECT_EQ(found.outcome.at("load"), "yes") << found.says.at("load");
  EXPECT_EQ(found.outcome.at("unknown id"), "no") << found.says.at("unknown id");
  EXPECT_EQ(found.outcome.at("end"), "partly") << found.says.at("end");
  EXPECT_EQ(found.rung, "load");
}

TEST_F(Probe, P14_what_an_agent_leaves_behind_is_counted_and_ended) {
  begin({.agents = {TestAgentSetup{.switches = {"no_resume", "no_load", "fork_child=setsid"}}}});
  const Found found = probe();
  EXPECT_EQ(found.outcome.at("kill"), "partly") << found.says.at("kill");
  EXPECT_EQ(found.outcome.at("resume"), "no");
  EXPECT_EQ(found.outcome.at("unknown id"), "skipped");
  EXPECT_EQ(found.rung, "inject");
  EXPECT_FALSE(has_probing_processes());
}

TEST_F(Probe, P12_an_agent_without_a_login_or_that_does_not_start_says_so) {
  begin({.agents = {TestAgentSetup{.name = "locked", .switches = {"auth_required=new"}},
                    TestAgentSetup{.name = "broken", .switches = {"exit_at_start=3"}}}});
  const Found locked = probe("locked");
  EXPECT_EQ(locked.outcome.at("new"), "failed");
  EXPECT_NE(locked.says.at("new").find("login"), std::string::npos);
  EXPECT_EQ(locked.outcome.at("load"), "skipped");
  EXPECT_EQ(locked.exit_code, 1);
  const Found broken = probe("broken");
  EXPECT_EQ(broken.outcome.at("initialize"), "failed");
  EXPECT_NE(run({"agents", "probe", "nobody"}).exit_code, 0);
}

TEST_F(Probe, D5_a_daemon_that_is_killed_takes_its_probes_along) {
  begin({.agents = {TestAgentSetup{.switches = {"never_complete"}}}});
  ASSERT_EQ(client_->post("/api/agents/test/probe", "{}").status, 202);
  EXPECT_EQ(client_->post("/api/agents/test/probe", "{}").status, 409);
  ASSERT_TRUE(until([&] { return client_->get("/api/agents/test/probe").at("steps").size() > 2; }));
  EXPECT_TRUE(has_probing_processes());
  daemon_->kill_daemon();
  EXPECT_TRUE(until([&] { return !has_probing_processes(); }));
}

TEST_F(Probe, SEC16_its_agent_signals_nobody_outside) {
  if (const Confinement here = try_namespaces(); !here.has_process_namespace) {
    GTEST_SKIP() << here.reason;
  }
  const std::string pipe = testing::TempDir() + "perdure-probed-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Fd reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const pid_t victim = fork();
  if (victim == 0) {
    while (true) pause();
  }
  begin({.config = "[agents.killer]\ncommand = ['/bin/sh', '-c', 'echo >" + pipe + "; kill -9 " +
                   std::to_string(victim) + "; exit 3']\n"});
  EXPECT_EQ(probe("killer").outcome.at("initialize"), "failed");
  unlink(pipe.c_str());
  char said = '-';
  EXPECT_EQ(read(reader.get(), &said, 1), 1) << "the agent was never started";
  EXPECT_EQ(waitpid(victim, nullptr, WNOHANG), 0) << "it was killed";
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
}

}  // namespace
}  // namespace perdure
