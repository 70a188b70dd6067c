// What a child sees after hide_folder(): each test forks, since a namespace cannot be left.
#include "env_posix/confine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env_posix/fixture_for_test.h"
#include "env_posix/proc.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Confine : public ::testing::Test {
 protected:
  Confine() {
    char name[] = "/tmp/perdure-confine-XXXXXX";
    root_ = mkdtemp(name);
    for (const char* const inner : {"data/run/agentctl", "data/workspaces/mine", "beside"}) {
      fs::create_directories(root_ / inner);
    }
    for (const char* const file :
         {"data/token", "data/run/perdure.sock", "data/run/agentctl/x.sock",
          "data/workspaces/mine/a.txt", "beside/b.txt"}) {
      std::ofstream(root_ / file) << "text";
    }
  }
  ~Confine() override { fs::remove_all(root_); }

  void SetUp() override {
    if (!allows_mount_namespaces()) GTEST_SKIP() << "this machine allows no mount namespace";
  }
  // Runs in a child of its own: a namespace cannot be left.
  int in_child(auto&& look) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string data = root_ / "data";
      const Result<> hidden = hide_folder({.folder = data,
                                           .show = {data + "/run", data + "/workspaces/mine"},
                                           .hide = {data + "/run/agentctl"}});
      if (!hidden) std::fprintf(stderr, "%s\n", hidden.error().message().c_str());
      if (!hidden) _exit(2);
      _exit(look() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  bool reads(const char* file) const { return !!std::ifstream(root_ / file); }

  fs::path root_;
};

TEST_F(Confine, TOK5_the_data_folder_is_hidden_and_what_was_named_is_not) {
  const int result = in_child([&] {
    return !reads("data/token") && reads("data/run/perdure.sock") &&
           !reads("data/run/agentctl/x.sock") && reads("data/workspaces/mine/a.txt") &&
           reads("beside/b.txt");
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(reads("data/token")) << "only the child's view may change";
}

TEST_F(Confine, the_workspace_stays_writable_and_the_cover_is_not) {
  const int result = in_child([&] {
    std::ofstream(root_ / "data/workspaces/mine/new.txt") << "new";
    std::ofstream(root_ / "data/forged-token") << "new";
    return reads("data/workspaces/mine/new.txt") && !reads("data/forged-token");
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(reads("data/workspaces/mine/new.txt"));
}

TEST(HostingSession, TOK3_a_descendant_is_known_whatever_it_does_to_its_environment) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("PERDURE_SESSION", "sess_x", 1);
    dup2(ends[1], STDOUT_FILENO);
    // The mark is in the shell's own environment; its child has none.
    execl("/bin/sh", "sh", "-c", "env -i /bin/sleep 30 >&2 & echo $!; wait", nullptr);
    _exit(1);
  }
  close(ends[1]);
  char said[32] = {};
  ASSERT_GT(read(ends[0], said, sizeof said - 1), 0);
  close(ends[0]);
  const std::int64_t grandchild = std::atoll(said);
  const Result<Fd> its_end = open_pidfd(grandchild);
  ASSERT_TRUE(its_end) << its_end.error().message();
  EXPECT_EQ(hosting_session_of(child).value_or("?"), "sess_x");
  EXPECT_EQ(hosting_session_of(grandchild).value_or("?"), "sess_x");
  EXPECT_EQ(hosting_session_of(getpid()).value_or("?"), "");
  kill(static_cast<pid_t>(grandchild), SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  pollfd ended{.fd = its_end->get(), .events = POLLIN};
  ASSERT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_FALSE(hosting_session_of(grandchild).has_value())
      << "of a process that has ended nothing can be said";
}

}  // namespace
}  // namespace perdure
