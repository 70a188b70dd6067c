// Which process sees which data: environments, arguments, and access to an agentctl.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "daemon/hosting/agentctl_client.h"
#include "fixture.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

// A hand-made link, for messages that a daemon of this version never sends.
class Caller final : private AgentctlClientEvents {
 public:
  explicit Caller(Driver& driver) : driver_(driver), host_(*driver.loop) {
    const Bootstrap& bootstrap = driver.bootstrap();
    client_ = std::make_unique<AgentctlClient>(
        host_.connect(bootstrap.run_folder, bootstrap.exec.text() + ".sock").value(),
        static_cast<AgentctlClientEvents&>(*this));
  }
  AgentctlClient& client() { return *client_; }
  bool until_answered() {
    return driver_.until([this] { return refused || health || attached || closed; });
  }

  std::optional<RefusedPacket> refused;
  std::optional<HealthPacket> health;
  std::optional<AttachedPacket> attached;
  bool closed = false;

 private:
  void on_attached(const AttachedPacket& packet) override { attached = packet; }
  void on_refused(const RefusedPacket& packet) override { refused = packet; }
  void on_frame(FrameNo, std::string_view) override {}
  void on_acted(std::uint64_t) override {}
  void on_reply(std::uint64_t, Result<std::string>) override {}
  void on_shell_news(const std::string&) override {}
  void on_health(const HealthPacket& packet) override { health = packet; }
  void on_leaving(const std::string&) override {}
  void on_closed(const std::string&) override { closed = true; }

  Driver& driver_;
  PosixHost host_;
  std::unique_ptr<AgentctlClient> client_;
};

class Secrets : public Agentctl {};

TEST_F(Secrets, X31_an_agent_has_the_environment_that_was_named_and_no_other) {
  setenv("PERDURE_TEST_CANARY", "canary-of-the-daemon", 1);
  DriverSetup with = setup();
  with.adjust = [](Bootstrap& bootstrap) {
    bootstrap.secret = "canary-of-the-link";
    bootstrap.agent.environment["AGENT_KEY"] = "canary-of-the-agent";
  };
  Driver& driver = begin(std::move(with));
  ASSERT_TRUE(driver.open_session());
  ASSERT_EQ(call(driver, "shell.open", R"({"command":["/bin/sh"]})"), R"({"shell":"sh_1"})");
  ASSERT_TRUE(driver.run("spawn_child setsid; say 1"));
  // A process that was just forked does not have its own environment yet.
  ASSERT_TRUE(driver.until([&] { return exec_processes(driver).size() >= 4; }))
      << "agentctl, agent, its child, a shell";
  const auto processes = exec_processes(driver);
  for (const pid_t pid : processes) {
    const std::string proc = "/proc/" + std::to_string(pid);
    const std::string seen = read_whole(proc + "/environ") + read_whole(proc + "/cmdline");
    EXPECT_THAT(seen, Not(HasSubstr("canary-of-the-daemon"))) << pid;
    EXPECT_THAT(seen, Not(HasSubstr("canary-of-the-link"))) << pid;
    if (pid == agentctl_pid()) EXPECT_THAT(seen, Not(HasSubstr("canary-of-the-agent")));
  }
  std::set<std::string> names;
  std::istringstream environment(
      read_whole("/proc/" + std::to_string(agent_processes(driver).front()) + "/environ"));
  for (std::string one; std::getline(environment, one, '\0');)
    names.insert(one.substr(0, one.find('=')));
  EXPECT_EQ(names, (std::set<std::string>{"AGENT_KEY", "HOME", "PATH", "PERDURE_AGENT",
                                          "PERDURE_EXEC", "PERDURE_EXEC_MARK", "PERDURE_SESSION",
                                          "PERDURE_SESSION_MARK"}));
  for (const auto& file : std::filesystem::directory_iterator(driver.bootstrap().spool_folder)) {
    EXPECT_THAT(read_whole(file.path()), Not(HasSubstr("canary-of"))) << file.path();
  }
  unsetenv("PERDURE_TEST_CANARY");
}

TEST_F(Secrets, X31_a_long_history_goes_neither_through_arguments_nor_environment) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  driver.command(SendPrompt{.run = RunId(Ulid{3, 1}),
                            .prompt = {.text = "say 1"},
                            .context = std::string(2UL << 20, 'h')});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  ASSERT_TRUE(driver.run("spawn_child child; say 1")) << "E2BIG would end it here";
}

TEST_F(Secrets, X32_versions_are_agreed_on_or_the_link_is_refused) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  Caller newer(driver);
  newer.client().attach({.version_min = 99,
                         .version_max = 100,
                         .secret = driver.bootstrap().secret,
                         .epoch = 99,
                         .window = 1});
  ASSERT_TRUE(newer.until_answered());
  ASSERT_TRUE(newer.refused);
  EXPECT_EQ(newer.refused->code, "format_too_new");
  // A range that includes our version is accepted, and the rejected epoch has left no trace.
  Caller wider(driver);
  wider.client().probe({.version_min = 1, .version_max = 100, .secret = driver.bootstrap().secret});
  ASSERT_TRUE(wider.until_answered());
  ASSERT_TRUE(wider.health);
  EXPECT_TRUE(wider.health->attached);
  EXPECT_EQ(driver.detaches, 0U);
  EXPECT_TRUE(driver.open_session());
}

TEST_F(Secrets, X32_a_probe_without_the_secret_and_a_command_before_an_attach_are_refused) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  Caller guesser(driver);
  guesser.client().probe({.secret = "a secret of the tesT"});
  ASSERT_TRUE(guesser.until_answered());
  ASSERT_TRUE(guesser.refused);
  EXPECT_EQ(guesser.refused->code, "denied");
  EXPECT_FALSE(guesser.health);
  Caller eager(driver);
  eager.client().stop("because");
  ASSERT_TRUE(eager.until_answered());
  ASSERT_TRUE(eager.refused);
  EXPECT_EQ(eager.refused->code, "denied");
  EXPECT_TRUE(driver.open_session());
}

}  // namespace
}  // namespace perdure
