// The view of a child in its own namespaces: each test forks, since a namespace cannot be left.
#include "env/posix/confine/confine.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/confine/hidden_folder.h"
#include "env/posix/files/fd.h"
#include "env/posix/fixture_for_test.h"

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
    const Confinement here = try_namespaces();
    if (here.level == ConfinementLevel::none) GTEST_SKIP() << here.reason;
  }
  // Runs in a separate child, because a namespace cannot be left. 2: nothing could be hidden.
  int in_child(auto&& look, const std::string& identity = "") {
    const pid_t child = fork();
    if (child == 0) {
      const std::string data = root_ / "data";
      if (!enter_mount_namespace()) _exit(3);
      const Result<> hidden = hide_folder({.folder = data,
                                           .identity = identity,
                                           .show = {data + "/workspaces/mine"},
                                           .sealed = {data + "/run"},
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

TEST_F(Confine, TOK5_a_sealed_folder_can_be_used_and_not_changed) {
  const std::string socket = root_ / "data/run/real.sock";
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(socket, address.sun_path);
  const auto* const where = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), where, sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const int result = in_child([&] {
    const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool connects = connect(client.get(), where, sizeof address) == 0;
    const bool moves = rename(socket.c_str(), (socket + ".moved").c_str()) == 0;
    const bool removes = unlink(socket.c_str()) == 0;
    const bool closes = chmod(socket.c_str(), 0) == 0;
    const bool adds = mkdir((root_ / "data/run/mine").c_str(), 0700) == 0;
    return connects && !moves && !removes && !closes && !adds;
  });
  EXPECT_EQ(result, 0);
}

TEST_F(Confine, TOK5_another_folder_is_never_hidden_in_the_place_of_the_right_one) {
  const auto identity = [&](const char* of) {
    return folder_identity(Fd(open((root_ / of).c_str(), O_PATH | O_CLOEXEC)).get());
  };
  const auto looks = [&] { return !reads("data/token"); };
  EXPECT_EQ(in_child(looks, identity("data")), 0);
  const std::string right = identity("data");
  fs::rename(root_ / "data", root_ / "moved");
  fs::create_directories(root_ / "data/run/agentctl");
  fs::create_directories(root_ / "data/workspaces/mine");
  EXPECT_EQ(in_child(looks, right), 2);
}

TEST_F(Confine, TOK5_the_folders_above_a_hidden_one_cannot_be_moved) {
  if (geteuid() == 0) GTEST_SKIP() << "root can undo any mount";
  const auto stays = [](const fs::path& folder) {
    const bool moves = rename(folder.c_str(), (folder.string() + ".x").c_str()) == 0;
    return !moves && errno == EBUSY;
  };
  EXPECT_EQ(in_child([&] { return stays(root_); }), 0);
  // The owner can make a folder writable again.
  const fs::path above = root_;
  fs::create_directories(above / "inner");
  fs::rename(above / "data", above / "inner/data");
  root_ = above / "inner";
  fs::permissions(above, fs::perms::owner_read | fs::perms::owner_exec);
  const int result = in_child([&] {
    fs::permissions(above, fs::perms::owner_all);
    return stays(root_);
  });
  fs::permissions(above, fs::perms::owner_all);
  root_ = above;
  EXPECT_EQ(result, 0);
}

TEST_F(Confine, no_control_group_can_be_changed_by_its_path) {
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_mount_namespace()) _exit(3);
    const std::string group = "/sys/fs/cgroup";
    if (!fs::exists(group)) _exit(0);
    if (const Result<> sealed = seal_control_groups(); !sealed) {
      std::fprintf(stderr, "%s\n", sealed.error().message().c_str());
      _exit(2);
    }
    for (const auto& entry : fs::directory_iterator(group)) {
      struct statvfs mounted{};
      if (statvfs(entry.path().c_str(), &mounted) != 0) _exit(4);
      if ((mounted.f_flag & ST_RDONLY) == 0) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Otherwise an agent that uses up all namespaces would leave the next session unconfined.
TEST_F(Confine, PROC4_where_namespaces_are_used_up_nobody_goes_on_without) {
  const pid_t child = fork();
  if (child == 0) {
    // Its own limits: the first mount namespace charged to it is also the last.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(3);
    std::ofstream("/proc/sys/user/max_mnt_namespaces") << "1" << std::flush;
    const Result<ConfinedProcess> confined = enter_namespaces();
    _exit(!confined && confined.error().code() == Code::limit_reached ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A process in its own namespaces, which started a grandchild with its own session, an empty
// environment and nested namespaces. We have its pid and the grandchild's end of a pipe.
struct Family {
  std::int64_t first = 0;
  Fd grandchild;  // reads an end after the grandchild has ended
};

Result<Family> start_family() {
  Pipe said = TRY(make_pipe());
  Pipe held = TRY(make_pipe());
  const pid_t child = fork();
  if (child == 0) {
    const Result<ConfinedProcess> self = enter_namespaces();
    if (!self || !self->confinement.has_process_namespace) _exit(2);
    if (fork() == 0) {
      setsid();
      (void)unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID);
      if (fork() != 0) _exit(0);
      fcntl(held.write.get(), F_SETFD, 0);
      char name[] = "sleep";
      char seconds[] = "60";
      char* words[] = {name, seconds, nullptr};
      char* nothing[] = {nullptr};
      execve("/bin/sleep", words, nothing);
      _exit(1);
    }
    held.write.reset();
    const std::string number = std::to_string(self->pid) + "\n";
    if (write(said.write.get(), number.data(), number.size()) < 0) _exit(3);
    while (true) pause();
  }
  said.write.reset();
  held.write.reset();
  waitpid(child, nullptr, 0);
  char number[32] = {};
  if (read(said.read.get(), number, sizeof number - 1) <= 0) {
    return fail(Code::unavailable, "nobody is confined");
  }
  return Family{std::atoll(number), std::move(held.read)};
}

TEST_F(Confine, PROC4_everything_below_ends_with_the_first_process) {
  if (!try_namespaces().has_process_namespace) GTEST_SKIP() << try_namespaces().reason;
  const Result<Family> family = start_family();
  ASSERT_TRUE(family) << family.error().message();
  ASSERT_EQ(kill(static_cast<pid_t>(family->first), SIGKILL), 0);
  pollfd ended{.fd = family->grandchild.get(), .events = POLLIN};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "a grandchild outlives what started it";
}

TEST_F(Confine, PROC4_nobody_below_can_end_the_first_process_or_see_others) {
  if (!try_namespaces().has_process_namespace) GTEST_SKIP() << try_namespaces().reason;
  const std::string outside = "/proc/" + std::to_string(getpid()) + "/stat";
  Result<Pipe> said = make_pipe();
  ASSERT_TRUE(said);
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_namespaces()) _exit(2);
    const pid_t below = fork();
    if (below == 0) {
      kill(1, SIGKILL);
      _exit(getppid() == 1 && access(outside.c_str(), F_OK) != 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(below, &status, 0);
    const char verdict = WEXITSTATUS(status) == 0 ? 'y' : 'n';
    if (write(said->write.get(), &verdict, 1) < 0) _exit(3);
    _exit(0);
  }
  said->write.reset();
  waitpid(child, nullptr, 0);
  char verdict = '?';
  EXPECT_EQ(read(said->read.get(), &verdict, 1), 1) << "the first process was ended from below";
  EXPECT_EQ(verdict, 'y');
}

TEST_F(Confine, SEC16_a_starter_that_waits_ends_with_the_code_of_the_one_that_goes_on) {
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_namespaces(CallingProcess::waits)) _exit(1);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(Confine, SEC16_a_starter_that_waits_takes_everything_along_when_it_is_killed) {
  if (!try_namespaces().has_process_namespace) GTEST_SKIP() << try_namespaces().reason;
  Result<Pipe> held = make_pipe();
  ASSERT_TRUE(held);
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_namespaces(CallingProcess::waits)) _exit(1);
    if (fork() == 0) setsid();
    if (write(held->write.get(), "y", 1) < 0) _exit(1);
    while (true) pause();
  }
  held->write.reset();
  char ready[2] = {};
  for (int i = 0; i < 2; ++i) ASSERT_EQ(read(held->read.get(), ready, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  pollfd ended{.fd = held->read.get(), .events = POLLIN};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "somebody outlives the one that waited";
}

bool write_to(const char* path, const std::string& text) {
  const Fd file(open(path, O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), text.data(), text.size()) > 0;
}

bool become_somebody_else() {
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_to("/proc/self/setgroups", "deny") &&
         write_to("/proc/self/uid_map", uid + " " + uid + " 1") &&
         write_to("/proc/self/gid_map", gid + " " + gid + " 1");
}

// As in a container: a user with more rights masks a part of /proc, so the kernel shows no complete
// one here.
bool enter_masked_place() {
  if (!become_somebody_else()) return false;
  if (mount("masked", "/proc/scsi", "tmpfs", MS_RDONLY, nullptr) != 0 &&
      mount("masked", "/proc/irq", "tmpfs", MS_RDONLY, nullptr) != 0) {
    return false;
  }
  return become_somebody_else();
}

TEST_F(Confine, TOK5_where_proc_is_masked_the_data_folder_is_hidden_all_the_same) {
  Result<Pipe> said = make_pipe();
  ASSERT_TRUE(said);
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_masked_place()) _exit(0);
    const Result<ConfinedProcess> self = enter_namespaces();
    if (!self) _exit(1);
    const bool hidden = hide_folder({.folder = root_ / "data"}).has_value();
    const std::string text = std::string(confinement_name(self->confinement.level)) +
                             (hidden && !reads("data/token") ? " hidden " : " visible ") +
                             self->confinement.reason;
    if (write(said->write.get(), text.data(), text.size()) < 0) _exit(1);
    _exit(0);
  }
  said->write.reset();
  char text[256] = {};
  const ssize_t got = read(said->read.get(), text, sizeof text - 1);
  waitpid(child, nullptr, 0);
  if (got <= 0) GTEST_SKIP() << "this machine allows no user namespace";
  EXPECT_TRUE(std::string(text).starts_with("partial hidden no process namespace: ")) << text;
}

}  // namespace
}  // namespace perdure
