// A connection over loopback is held by this process, then by a child with a session's mark: who
// holds it is what counts, over IPv4, IPv6 and IPv4 out of a socket for IPv6.
#include "env_posix/tcp_peer.h"

#include <csignal>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env_posix/fd.h"

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

// A client's end of a connection to ourselves, and what the server's side knows of it.
struct Pair {
  Fd listener;
  Fd server;
  Fd client;
  LoopbackPeer peer;
};

bool connect_pair(const Family& family, Pair& pair) {
  pair.listener = Fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  pair.client = Fd(socket(AF_INET6, SOCK_STREAM, 0));  // a child inherits it
  sockaddr_in6 address = to_address(family.listen, 0);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (bind(pair.listener.get(), raw, size) != 0 || listen(pair.listener.get(), 1) != 0)
    return false;
  getsockname(pair.listener.get(), raw, &size);
  pair.peer.our_port = ntohs(address.sin6_port);
  address = to_address(family.connect, pair.peer.our_port);
  if (connect(pair.client.get(), raw, sizeof address) != 0) return false;
  pair.server = Fd(accept4(pair.listener.get(), raw, &size, SOCK_CLOEXEC));
  pair.peer.address = family.peer;
  pair.peer.port = ntohs(address.sin6_port);
  return pair.server.get() >= 0;
}

class TcpPeer : public ::testing::TestWithParam<Family> {};

TEST_P(TcpPeer, TOK3_a_connection_belongs_to_the_session_of_the_process_that_holds_it) {
  Pair pair;
  if (!connect_pair(GetParam(), pair)) GTEST_SKIP() << "no IPv6 on this machine";
  EXPECT_EQ(hosting_session_of(pair.peer).value_or("?"), "");
  int ends[2] = {};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);  // its writing end closes with the child's exec
  const pid_t child = fork();
  if (child == 0) {
    char name[] = "sleep";
    char seconds[] = "60";
    char mark[] = "PERDURE_SESSION=sess_x";
    char* words[] = {name, seconds, nullptr};
    char* environment[] = {mark, nullptr};
    execve("/bin/sleep", words, environment);
    _exit(1);
  }
  pair.client = Fd();
  close(ends[1]);
  char none = 0;
  ASSERT_EQ(read(ends[0], &none, 1), 0);
  close(ends[0]);
  EXPECT_EQ(hosting_session_of(pair.peer).value_or(""), "sess_x");
  // Another connection of the same port, from elsewhere, is not theirs.
  LoopbackPeer other = pair.peer;
  other.address = "127.0.0.77";
  EXPECT_EQ(hosting_session_of(other).error().code(), Code::not_found);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, TcpPeer,
                         ::testing::Values(Family{"::1", "::1", "::1"},
                                           Family{"::ffff:127.0.0.1", "::ffff:127.0.0.1",
                                                  "127.0.0.1"}));

}  // namespace
}  // namespace perdure
