// Other hosts in the data folder and the configuration, and the environment with which an execution
// starts there.
#include "daemon/launch/remotes.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/launch/agent_launch.h"
#include "daemon/launch/ssh.h"
#include "daemon/setup/config.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class RemoteFiles : public ::testing::Test {
 protected:
  RemoteFiles() {
    char name[] = "/tmp/perdure-remotes-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~RemoteFiles() override { fs::remove_all(root_); }
  std::string root_;
};

TEST_F(RemoteFiles, K35_a_remote_is_kept_in_a_private_file_and_found_by_its_name) {
  const std::string folder = root_ + "/remotes";
  EXPECT_TRUE(list_remotes(folder)->empty());
  EXPECT_EQ(read_remote({folder, "box"}).error().code(), Code::not_found);
  const Remote box{.name = "box",
                   .target = "me@box",
                   .ssh_options = {"-p", "2222"},
                   .folder = "/there",
                   .host = "192.0.2.7",
                   .port = 7434,
                   .fingerprint = std::string(64, 'a'),
                   .secret = "s"};
  ASSERT_TRUE(write_remote(folder, box));
  struct stat status{};
  ASSERT_EQ(stat((folder + "/box.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const Result<Remote> read = read_remote({folder, "box"});
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->ssh_options, box.ssh_options);
  EXPECT_EQ(read->port, 7434u);
  EXPECT_EQ(read->secret, "s");
  EXPECT_EQ(list_remotes(folder)->size(), 1u);
  ASSERT_TRUE(remove_remote({folder, "box"}));
  EXPECT_EQ(remove_remote({folder, "box"}).error().code(), Code::not_found);
}

TEST_F(RemoteFiles, K35_a_name_is_never_a_way_out_of_the_folder) {
  for (const char* const name : {"", "..", "../box", "a/b", ".box", "-rf", "a b"}) {
    EXPECT_FALSE(check_remote_name(name)) << name;
    EXPECT_EQ(write_remote(root_, {.name = name}).error().code(), Code::invalid_argument) << name;
  }
  EXPECT_TRUE(check_remote_name("box-1.example_2"));
}

TEST_F(RemoteFiles, L13_an_execution_there_has_nothing_of_this_machines_places) {
  const auto data = DataFolder::open(root_ + "/d").value();
  AgentCatalog agents;
  agents.add({.profile = {.name = "some"}, .command = {"some-agent"}, .env = {{"KEY", "k"}}});
  const Places places{.home = "/h/ada", .user = "ada"};
  Config config;
  config.limits = {.memory_bytes = 1L << 30, .run_ms = 5};
  LaunchSpec spec{.session = SessionId(Ulid{1, 2}), .exec = ExecId(Ulid{1, 3}), .gen = 1};
  spec.agent.name = "some";
  spec.workspace.cwd = "/there";
  spec.runtime = "remote";
  spec.remote = "box";
  const Result<Bootstrap> made =
      make_launch({*data, places, agents, config, "key", config.limits}, spec);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->agent.command, (std::vector<std::string>{"some-agent"}));
  EXPECT_EQ(made->agent.environment.at("KEY"), "k");
  EXPECT_FALSE(made->agent.environment.contains("PATH"));
  EXPECT_FALSE(made->agent.environment.contains("HOME"));
  EXPECT_EQ(made->limits, (AgentLimits{.run_ms = 5}));
}

TEST(RemoteConfig, L36_times_of_a_remote_are_read_and_bounded) {
  const Result<Config> config = parse_config(
      "[remotes.box]\nbackoff_min_ms = 50\nbackoff_max_ms = 900\nheartbeat_ms = 2000\n", "c");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->remotes.at("box"), (RemoteTimes{50, 900, 2000}));
  EXPECT_EQ(parse_config(show_config(*config), "shown")->remotes, config->remotes);
  for (const char* const bad :
       {"[remotes.box]\nbackoff_min_ms = 0\n", "[remotes.box]\nbackoff_max_ms = 1\n",
        "[remotes.box]\nheartbeat_ms = 10\n", "[remotes.box]\nhost = 'x'\n",
        "[remotes]\nbox = 1\n"}) {
    const Result<Config> refused = parse_config(bad, "c");
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message().find("remotes.box"), std::string::npos) << bad;
  }
}

TEST(Ssh, L5_what_goes_to_the_shell_there_is_one_word) {
  EXPECT_EQ(shell_quoted("/a b"), "'/a b'");
  EXPECT_EQ(shell_quoted("it's; $(reboot)"), "'it'\\''s; $(reboot)'");
}

}  // namespace
}  // namespace perdure
