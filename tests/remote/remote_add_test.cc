// `perdure remote …` over a real sshd: copies the programs, starts the outpost, runs a session
// there; and the error messages.
#include <gtest/gtest.h>

#include "remote_fixture.h"

namespace perdure {
namespace {

class RemoteAdd : public RemoteTest {
 protected:
  void SetUp() override {
    RemoteTest::SetUp();
    if (IsSkipped()) return;
    const Result<std::string> options = host_->start_sshd();
    if (!options) GTEST_SKIP() << options.error().message();
    ssh_options_ = *options;
  }
  ProgramRun perdure(std::vector<std::string> words) {
    words.insert(words.begin(), PERDURE_PROGRAM);
    return run_program(words, daemon_->environment());
  }
  std::string ssh_options_;
};

TEST_F(RemoteAdd, L5_a_host_is_added_by_ssh_and_runs_a_session) {
  const std::string target = "root@" + host_->address();
  const std::string folder = host_->folder() + "/brought";
  const ProgramRun added =
      perdure({"remote", "add", "box", target, "--ssh-options", ssh_options_, "--folder", folder});
  ASSERT_EQ(added.exit_code, 0) << added.output;
  EXPECT_NE(added.output.find("answers: connected with TLS"), std::string::npos) << added.output;
  EXPECT_NE(perdure({"remote", "ls"}).output.find("box  " + target), std::string::npos);
  const std::filesystem::path file = daemon_->home() + "/remotes/box.json";
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_NO_FATAL_FAILURE(start_daemon());
  const std::string work = host_->folder() + "/work";  // next to the copied programs
  std::filesystem::create_directories(work);
  const ProgramRun made =
      perdure({"run", "test", "-d", "--remote", "box", "--cwd", work, "paced 40 50"});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string session = made.output.substr(0, made.output.find('\n'));
  ASSERT_TRUE(until_count(session, "message.agent", 2)) << daemon_->log();
  // A repeat installs newer programs; running sessions do not notice.
  const ProgramRun again =
      perdure({"remote", "add", "box", target, "--ssh-options", ssh_options_, "--folder", folder});
  EXPECT_EQ(again.exit_code, 0) << again.output;
  ASSERT_TRUE(until_count(session, "run.completed", 1)) << daemon_->log();
  expect_whole(session, 40);
  EXPECT_EQ(perdure({"remote", "check", "box"}).exit_code, 0);
  EXPECT_EQ(perdure({"remote", "rm", "box"}).exit_code, 0);
  EXPECT_NE(perdure({"remote", "check", "box"}).exit_code, 0);
}

TEST_F(RemoteAdd, L18_what_goes_wrong_is_said_in_words) {
  const std::string target = "root@" + host_->address();
  std::string strict = ssh_options_;
  const std::string known = host_->folder() + "/ssh/known";
  strict.replace(strict.find(known), known.size(), host_->folder() + "/ssh/nobody");
  const ProgramRun stranger = perdure({"remote", "add", "box", target, "--ssh-options", strict});
  EXPECT_NE(stranger.exit_code, 0);
  EXPECT_NE(stranger.output.find("key is not known here"), std::string::npos) << stranger.output;
  const ProgramRun nowhere = perdure(
      {"remote", "add", "box", target, "--ssh-options", ssh_options_, "--folder", "/proc/nowhere"});
  EXPECT_NE(nowhere.exit_code, 0);
  EXPECT_NE(nowhere.output.find("/proc/nowhere"), std::string::npos) << nowhere.output;
  EXPECT_NE(perdure({"remote", "add", "../box", target}).exit_code, 0);
  EXPECT_EQ(perdure({"remote", "ls"}).output, "");
}

}  // namespace
}  // namespace perdure
