// Where the daemon listens, and access to its files and sockets: no non-loopback address without
// TLS, in any spelling, and no access for another user of the machine.
#include <filesystem>

#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guarded_daemon.h"

namespace perdure {
namespace {

TEST(Listen, N16_an_address_that_others_reach_is_refused_in_every_spelling) {
  for (const char* address :
       {"0.0.0.0", "0", "0x0", "00", "0x00000000", "0.0", "*", "", "[::]", "[::0]",
        "[0:0:0:0:0:0:0:0]", "[::ffff:0.0.0.0]", "[::ffff:0:0]", "10.1.2.3", "192.168.1.1",
        "[fe80::1]", "[::ffff:10.1.2.3]", "example.com", "2130706432.evil"}) {
    DaemonProcess daemon({.config = "listen = '" + std::string(address) + ":0'"});
    const Result<> started = daemon.start();
    ASSERT_FALSE(started) << "'" << address << "' was listened on";
    EXPECT_NE(started.error().message().find("ended with"), std::string::npos) << address;
  }
}

TEST(Listen, N16_the_command_line_is_no_way_around) {
  DaemonProcess daemon({.arguments = {"--listen", "0.0.0.0:0"}});
  ASSERT_FALSE(daemon.start());
  EXPECT_NE(daemon.output().find("TLS"), std::string::npos) << daemon.output();
}

// Tries to access the folder as another user of this machine; 0: every access was denied; 77:
// skipped.
int as_nobody(const std::string& home) {
  const passwd* const nobody = getpwnam("nobody");
  if (!nobody) return 77;
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0) _exit(77);
    if (access((home + "/token").c_str(), R_OK) == 0) _exit(1);
    if (RawConnection::to_socket(home + "/run/perdure.sock").is_open()) _exit(2);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(Listen, N16_another_user_reaches_neither_socket_nor_token) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  GuardedDaemon daemon;
  ASSERT_EQ(daemon.start(), "");
  // The parent folders would already deny it; here only the daemon's own folders do.
  std::filesystem::permissions(daemon.process.folder(), std::filesystem::perms(0755));
  EXPECT_EQ(as_nobody(daemon.process.home()), 0);
}

TEST(Listen, N16_the_kernels_word_on_the_uid_counts_even_where_the_folders_are_open) {
  const passwd* const nobody = getpwnam("nobody");
  if (geteuid() != 0 || !nobody) GTEST_SKIP() << "needs root to become another user";
  GuardedDaemon daemon;
  ASSERT_EQ(daemon.start(), "");
  // The folder for temporary files may be private.
  std::filesystem::permissions(std::filesystem::path(daemon.process.folder()).parent_path(),
                               std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  for (const std::string& path : {daemon.process.folder(), daemon.process.home(),
                                  daemon.process.home() + "/run", daemon.socket()}) {
    ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0) _exit(77);
    _exit(daemon.unix_socket({}).status == 401 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Listen, N16_folders_and_files_are_for_their_owner_alone) {
  GuardedDaemon daemon;
  ASSERT_EQ(daemon.start(), "");
  ApiClient client = daemon.client();
  const std::string session = client.create_session({});
  client.prompt({.session = session, .text = "say 1"});
  ASSERT_TRUE(until([&] { return client.count(session, "run.completed") == 1; }));
  namespace fs = std::filesystem;
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(daemon.process.home())) {
    struct stat found{};
    if (lstat(entry.path().c_str(), &found) != 0 || S_ISLNK(found.st_mode)) continue;
    ++seen;
    EXPECT_EQ(found.st_mode & 077, 0u) << entry.path();
  }
  EXPECT_GT(seen, 8u);
}

}  // namespace
}  // namespace perdure
