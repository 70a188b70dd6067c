// Callers over a unix socket or TCP, judged by where their process lives, with real processes that
// try to look like others.
#include "env/posix/confine/caller.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/confine/cgroup.h"
#include "env/posix/confine/confine.h"
#include "env/posix/confine/socket_holder.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

constexpr CallerRules no_rules{};

// A process that runs `body` and then waits to be killed; the body's output is read first.
class Actor {
 public:
  explicit Actor(std::function<void(const Fd& tell)> body) {
    Result<Pipe> pipe = make_pipe();
    EXPECT_TRUE(pipe);
    pid_ = fork();
    if (pid_ == 0) {
      body(pipe->write);
      pipe->write.reset();
      while (true) pause();
    }
    pipe->write.reset();
    char buffer[256];
    for (ssize_t got = 0; (got = read(pipe->read.get(), buffer, sizeof buffer)) > 0;) {
      said_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  ~Actor() { end(); }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& said() const { return said_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  std::string said_;
};

void say(const Fd& to, const std::string& text) {
  if (write(to.get(), text.data(), text.size()) < 0) _exit(9);
}

CallerPlace place_of_pid(std::int64_t pid) {
  const Result<Fd> pidfd = open_pidfd(pid);
  if (!pidfd) return {true, "", "gone"};
  return place_of({pid, pidfd->get()}, no_rules);
}

// A socket pair by name, so that the kernel tells who connected.
struct Meeting {
  Fd listener;
  std::string path;
  Meeting() {
    char name[] = "/tmp/perdure-caller-XXXXXX";
    path = std::string(mkdtemp(name)) + "/s";
    listener = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = where();
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener.get(), 4), 0);
  }
  ~Meeting() {
    unlink(path.c_str());
    rmdir(path.substr(0, path.size() - 2).c_str());
  }
  sockaddr_un where() const {
    sockaddr_un address{.sun_family = AF_UNIX};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  int call() const {
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = where();
    return connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? made
                                                                                           : -1;
  }
};

TEST(Caller, one_beside_us_is_outside) {
  const Actor actor([](const Fd&) {});
  const CallerPlace place = place_of_pid(actor.pid());
  EXPECT_FALSE(place.inside) << place.reason;
}

// As for a container that shares the folder of the socket.
TEST(Caller, SEC17_one_in_a_process_namespace_that_cannot_be_seen_is_inside) {
  EXPECT_TRUE(place_of({0, -1}, no_rules).inside);
  if (const Confinement here = try_namespaces(); !here.has_process_namespace) {
    GTEST_SKIP() << here.reason;
  }
  const Meeting meeting;
  const Fd caller(meeting.call());
  ASSERT_TRUE(caller);
  Result<Pipe> said = make_pipe();
  ASSERT_TRUE(said);
  const pid_t daemon = fork();
  if (daemon == 0) {
    if (!enter_namespaces(CallingProcess::waits)) _exit(1);
    const Fd accepted(accept4(meeting.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const CallerPlace place = place_of_peer(accepted.get(), no_rules);
    say(said->write, (place.inside ? "inside: " : "outside: ") + place.reason);
    _exit(0);
  }
  said->write.reset();
  char text[256] = {};
  EXPECT_GT(read(said->read.get(), text, sizeof text - 1), 0);
  waitpid(daemon, nullptr, 0);
  EXPECT_STREQ(text, "inside: it runs in a process namespace that the daemon cannot see");
}

// The last of a chain of processes; all of them end with the first.
std::int64_t last_of_chain(const Actor& first) { return std::atoll(first.said().c_str()); }
std::function<void(const Fd&)> chain_of(int length) {
  return [length](const Fd& tell) {
    for (int i = 1; i < length; ++i) {
      const pid_t child = fork();
      if (child < 0) _exit(9);
      if (child > 0) {
        close(tell.get());
        while (true) pause();
      }
      prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    say(tell, std::to_string(getpid()));
  };
}

// Each of its calls would make us read all of its ancestors.
TEST(Caller, TOK3_one_below_too_many_others_is_inside) {
  const Actor some(chain_of(60));
  const CallerPlace place = place_of_pid(last_of_chain(some));
  EXPECT_FALSE(place.inside) << place.reason;
  const Actor many(chain_of(150));
  EXPECT_TRUE(place_of_pid(last_of_chain(many)).inside);
}

TEST(Caller, TOK3_the_mark_that_counts_is_the_topmost) {
  // A process like an agentctl with its mark, and below it two children: one claims to be of
  // another session, one claims nothing.
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("PERDURE_SESSION", "sess_x", 1);
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c",
          "env PERDURE_SESSION=sess_other /bin/sleep 60 >&2 & echo $!;"
          " env -i /bin/sleep 60 >&2 & echo $!; wait",
          nullptr);
    _exit(1);
  }
  close(ends[1]);
  std::string said;
  char buffer[64];
  while (std::count(said.begin(), said.end(), '\n') < 2) {
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    ASSERT_GT(got, 0);
    said.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  const std::int64_t liar = std::atoll(said.c_str());
  const std::int64_t bare = std::atoll(said.c_str() + said.find('\n') + 1);
  EXPECT_EQ(place_of_pid(liar).session, "sess_x");
  EXPECT_EQ(place_of_pid(bare).session, "sess_x");
  kill(static_cast<pid_t>(liar), SIGKILL);
  kill(static_cast<pid_t>(bare), SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Caller, TOK3_security_4_a_grandchild_without_a_mark_in_other_namespaces_is_inside) {
  const Confinement here = try_namespaces();
  if (!here.has_process_namespace) GTEST_SKIP() << here.reason;
  Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const pid_t child = fork();
  if (child == 0) {
    const Result<ConfinedProcess> self = enter_namespaces();
    if (!self) _exit(1);
    say(pipe->write, std::to_string(self->pid) + "\n");
    pipe->write.reset();
    clearenv();
    while (true) pause();
  }
  pipe->write.reset();
  char buffer[32] = {};
  ASSERT_GT(read(pipe->read.get(), buffer, sizeof buffer - 1), 0);
  waitpid(child, nullptr, 0);
  const std::int64_t confined = std::atoll(buffer);
  const CallerPlace place = place_of_pid(confined);
  EXPECT_TRUE(place.inside);
  EXPECT_EQ(place.reason, "it runs in another process namespace");
  kill(static_cast<pid_t>(confined), SIGKILL);
}

TEST(Caller, TOK3_one_in_another_user_namespace_is_inside) {
  const Actor actor(
      [](const Fd& tell) { say(tell, unshare(CLONE_NEWUSER) == 0 ? "entered" : "refused"); });
  if (actor.said() != "entered") GTEST_SKIP() << "this machine allows no user namespace";
  EXPECT_EQ(place_of_pid(actor.pid()).reason, "it runs in another user namespace");
}

TEST(Caller, TOK3_one_in_the_control_group_of_a_session_is_inside) {
  Result<Cgroup> group =
      Cgroup::create(std::string(session_group_prefix) + "test_" + std::to_string(getpid()));
  if (!group) GTEST_SKIP() << group.error().message();
  {
    const Actor actor([&](const Fd& tell) {
      say(tell, write(group->members().get(), "0", 1) == 1 ? "moved" : "refused");
    });
    EXPECT_EQ(actor.said(), "moved");
    EXPECT_EQ(place_of_pid(actor.pid()).reason, "it runs in the control group of a session");
  }
  EXPECT_TRUE(group->remove());
}

TEST(Caller, TOK3_security_5_a_connection_whose_maker_has_ended_is_nobodys) {
  const Meeting meeting;
  // A child connects, passes the connection to its own child and ends, so its pid can be reused.
  const pid_t child = fork();
  if (child == 0) {
    if (meeting.call() < 0) _exit(1);
    if (fork() == 0) {
      alarm(60);
      while (true) pause();
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const Fd accepted(accept4(meeting.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(accepted);
  const CallerPlace place = place_of_peer(accepted.get(), no_rules);
  EXPECT_TRUE(place.inside);
  EXPECT_EQ(place.reason, "the calling process has ended");
}

TEST(Caller, SEC18_a_number_alone_does_not_prove_who_holds_the_other_end) {
  const Meeting meeting;
  Actor caller([&](const Fd& tell) { say(tell, meeting.call() >= 0 ? "called" : "failed"); });
  const Actor other([](const Fd&) {});
  ASSERT_EQ(caller.said(), "called");
  const Fd accepted(accept4(meeting.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(holds_other_end(caller.pid(), accepted.get()));
  EXPECT_FALSE(holds_other_end(other.pid(), accepted.get()));
  const pid_t before = caller.pid();
  caller.end();
  EXPECT_FALSE(holds_other_end(before, accepted.get()));
}

TEST(Caller, a_peer_that_waits_is_outside) {
  const Meeting meeting;
  const Actor actor([&](const Fd& tell) { say(tell, meeting.call() >= 0 ? "called" : "failed"); });
  ASSERT_EQ(actor.said(), "called");
  const Fd accepted(accept4(meeting.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const CallerPlace place = place_of_peer(accepted.get(), no_rules);
  EXPECT_FALSE(place.inside) << place.reason;
}

}  // namespace
}  // namespace perdure
