// Which process holds a TCP connection from this machine, over IPv4, IPv6 and IPv4 from an IPv6
// socket: a caller is outside only if a process outside of every session is seen to hold it.
#include "env/posix/confine/tcp_caller.h"

#include <csignal>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/confine/confine.h"
#include "env/posix/files/fd.h"

namespace perdure {
namespace {

struct Family {
  const char* listen;
  const char* connect;
  const char* peer;  // as the server sees it
};

sockaddr_in6 to_address(const char* text, std::uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  inet_pton(AF_INET6, text, &address.sin6_addr);
  return address;
}

// A client's end of a connection to ourselves, and the server's knowledge of it.
struct Pair {
  Fd listener;
  Fd server;
  Fd client;
  TcpEnds ends;
};

bool connect_pair(const Family& family, Pair& pair) {
  pair.listener = Fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  pair.client = Fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address = to_address(family.listen, 0);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (bind(pair.listener.get(), raw, size) != 0 || listen(pair.listener.get(), 1) != 0)
    return false;
  getsockname(pair.listener.get(), raw, &size);
  pair.ends.our_port = ntohs(address.sin6_port);
  address = to_address(family.connect, pair.ends.our_port);
  if (connect(pair.client.get(), raw, sizeof address) != 0) return false;
  pair.server = Fd(accept4(pair.listener.get(), raw, &size, SOCK_CLOEXEC));
  pair.ends.their_address = pair.ends.our_address = family.peer;
  pair.ends.their_port = ntohs(address.sin6_port);
  return pair.server.get() >= 0;
}

const Family v4{"::ffff:127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"};

// A process that keeps only the client's end and runs `body` with it; killed at the end.
class Keeper {
 public:
  Keeper(Pair& pair, auto&& body) {
    Result<Pipe> ready = make_pipe();
    EXPECT_TRUE(ready);
    pid_ = fork();
    if (pid_ == 0) {
      pair.server.reset();
      pair.listener.reset();
      body(pair);
      if (write(ready->write.get(), "r", 1) != 1) _exit(1);
      while (true) pause();
    }
    pair.client.reset();
    ready->write.reset();
    char byte = 0;
    EXPECT_EQ(read(ready->read.get(), &byte, 1), 1);
  }
  ~Keeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  pid_t pid_ = 0;
};

class TcpCaller : public ::testing::TestWithParam<Family> {};

TEST_P(TcpCaller, one_outside_that_holds_the_connection_is_found) {
  Pair pair;
  if (!connect_pair(GetParam(), pair)) GTEST_SKIP() << "no IPv6 on this machine";
  TcpCallers callers({});
  const CallerPlace place = callers.find(pair.ends);
  EXPECT_FALSE(place.inside) << place.reason;
  const std::optional<CallerPlace> again = callers.find_outside(pair.ends);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->inside);
  // Another connection of the same port, from elsewhere, is not theirs.
  TcpEnds other = pair.ends;
  other.their_port = 1;
  EXPECT_TRUE(callers.find(other).inside);
}

INSTANTIATE_TEST_SUITE_P(Families, TcpCaller,
                         ::testing::Values(Family{"::1", "::1", "::1"},
                                           Family{"::ffff:127.0.0.1", "::ffff:127.0.0.1",
                                                  "127.0.0.1"}));

TEST(TcpCallers, TOK3_security_6_a_closed_connection_is_nobodys) {
  Pair pair;
  if (!connect_pair(v4, pair)) GTEST_SKIP() << "no IPv6 on this machine";
  TcpCallers callers({});
  pair.client.reset();
  EXPECT_TRUE(callers.find(pair.ends).inside);
  const std::optional<CallerPlace> place = callers.find_outside(pair.ends);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->reason, "no process on this machine holds its connection");
}

TEST(TcpCallers, TOK3_security_6_a_thread_with_descriptors_of_its_own_is_not_seen_to_hold_it) {
  Pair pair;
  if (!connect_pair(v4, pair)) GTEST_SKIP() << "no IPv6 on this machine";
  TcpCallers callers({});
  // The thread keeps the table, while the process's first thread gets its own and closes it.
  const Keeper keeper(pair, [](Pair& mine) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          while (true) pause();
        },
        nullptr);
    if (unshare(CLONE_FILES) != 0) _exit(1);
    mine.client.reset();
  });
  EXPECT_TRUE(callers.find(pair.ends).inside);
}

TEST(TcpCallers, a_person_with_many_threads_is_outside) {
  Pair pair;
  if (!connect_pair(v4, pair)) GTEST_SKIP() << "no IPv6 on this machine";
  // The newest ids are those of its threads, as with a browser.
  const Keeper keeper(pair, [](Pair&) {
    for (int i = 0; i < 8; ++i) {
      pthread_t thread;
      pthread_create(
          &thread, nullptr,
          [](void*) -> void* {
            while (true) pause();
          },
          nullptr);
    }
  });
  const std::optional<CallerPlace> place = TcpCallers({}).find_outside(pair.ends);
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->inside) << place->reason;
}

// A process in its own namespaces, as an agent has. It runs `body` and then waits.
std::int64_t start_confined(auto&& body) {
  Result<Pipe> ready = make_pipe();
  if (!ready) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const Result<ConfinedProcess> self = enter_namespaces();
    if (!self) _exit(1);
    body();
    const std::string number = std::to_string(self->pid);
    if (write(ready->write.get(), number.data(), number.size()) < 0) _exit(1);
    ready->write.reset();
    while (true) pause();
  }
  ready->write.reset();
  waitpid(child, nullptr, 0);
  char number[32] = {};
  return read(ready->read.get(), number, sizeof number - 1) > 0 ? std::atoll(number) : 0;
}

TEST(TcpCallers, TOK3_one_in_a_session_that_holds_it_is_inside) {
  const Confinement here = try_namespaces();
  if (!here.has_process_namespace) GTEST_SKIP() << here.reason;
  Pair pair;
  if (!connect_pair(v4, pair)) GTEST_SKIP() << "no IPv6 on this machine";
  TcpCallers callers({});
  const std::int64_t confined = start_confined([] {});
  ASSERT_NE(confined, 0);
  pair.client.reset();
  EXPECT_FALSE(callers.find_outside(pair.ends)) << "nobody outside holds it";
  const CallerPlace place = callers.find_inside(pair.ends);
  EXPECT_TRUE(place.inside);
  EXPECT_EQ(place.reason, "it runs in another process namespace");
  // With more descriptors than are looked at it is still inside, of no session that can be named.
  const CallerPlace hidden = TcpCallers({}, 2).find_inside(pair.ends);
  EXPECT_TRUE(hidden.inside);
  EXPECT_EQ(hidden.reason, "no process was found that holds its connection");
  kill(static_cast<pid_t>(confined), SIGKILL);
}

TEST(TcpCallers, TOK3_an_address_of_another_machine_is_outside_and_one_of_ours_is_not) {
  TcpCallers callers({});
  // 192.0.2.0/24 is reserved for documentation, so it is not ours.
  EXPECT_FALSE(callers.find({"192.0.2.7", 4711, "192.0.2.8", 80}).inside);
  EXPECT_TRUE(callers.find({"127.0.0.9", 4711, "127.0.0.1", 80}).inside);
  EXPECT_TRUE(callers.find({"no address", 4711, "127.0.0.1", 80}).inside);
}

// A network namespace has its own address that is not loopback: a caller from there is as local as
// one from loopback. Elsewhere 192.0.2.7 is unused.
TEST(TcpCallers, TOK3_security_6_a_caller_by_another_address_of_this_machine_is_looked_up) {
  const TcpEnds ends{"192.0.2.7", 4711, "192.0.2.7", 80};
  ASSERT_FALSE(TcpCallers({}).find(ends).inside);
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(3);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    auto& address = reinterpret_cast<sockaddr_in&>(loopback.ifr_addr);
    address.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.2.7", &address.sin_addr);
    const Fd control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (ioctl(control.get(), SIOCSIFADDR, &loopback) != 0) _exit(3);
    const CallerPlace place = TcpCallers({}).find(ends);
    const bool is_known = place.reason == "no process on this machine holds its connection";
    _exit(place.inside && is_known ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "this machine allows no network namespace";
  EXPECT_EQ(status, 0);
}

// They are not reaped, so /proc shows them but hides their descriptors.
TEST(TcpCallers, TOK3_zombies_in_a_session_refuse_no_person) {
  const Confinement here = try_namespaces();
  if (!here.has_process_namespace) GTEST_SKIP() << here.reason;
  Pair pair;
  if (!connect_pair(v4, pair)) GTEST_SKIP() << "no IPv6 on this machine";
  const std::int64_t confined = start_confined([&] {
    pair.client.reset();
    for (int i = 0; i < 8; ++i) {
      const pid_t zombie = fork();
      if (zombie == 0) _exit(0);
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT);
    }
  });
  ASSERT_NE(confined, 0);
  const std::optional<CallerPlace> place = TcpCallers({}).find_outside(pair.ends);
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->inside) << place->reason;
  kill(static_cast<pid_t>(confined), SIGKILL);
}

}  // namespace
}  // namespace perdure
