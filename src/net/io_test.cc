// The loop: another loop driven within it, tasks and timers in order, and how it stops.
#include "net/io.h"

#include <array>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/fixture_for_test.h"
#include "net/reactor.h"

namespace perdure {
namespace {

using namespace http_test;

TEST(Io, G8_what_is_always_ready_does_not_keep_the_caller_out) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[1]);  // now at its end, and therefore always readable
  const auto io = HttpIo::create();
  int calls = 0;
  io->drive(ends[0], [&] { calls += 1; });
  io->run_for_ms(1000);
  EXPECT_GT(calls, 0);
  ::close(ends[0]);
}

TEST(Io, drives_another_loop_as_long_as_it_has_something) {
  const auto io = HttpIo::create();
  const Socket event(::eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC));
  const Socket epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event interest{.events = EPOLLIN, .data = {.fd = event.get()}};
  ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.get(), &interest), 0);
  int pumped = 0;
  // Each round takes one of three, so the rest must be noticed without another event.
  io->drive(epoll.get(), [&] {
    epoll_event ready{};
    if (::epoll_wait(epoll.get(), &ready, 1, 0) != 1) return;
    eventfd_t value = 0;
    if (::eventfd_read(event.get(), &value) == 0) ++pumped;
  });
  ASSERT_TRUE(until(*io, [&] { return pumped == 3; }));
  for (int i = 0; i < 3; ++i) io->run_for_ms(1);
  EXPECT_EQ(pumped, 3);
  ASSERT_EQ(::eventfd_write(event.get(), 2), 0);
  EXPECT_TRUE(until(*io, [&] { return pumped == 5; }));
}

TEST(Io, tasks_and_timers_run_in_order_and_a_cancelled_one_does_not) {
  const auto io = HttpIo::create();
  HttpReactor& reactor = reactor_of(*io);
  std::vector<int> order;
  const auto cancelled = reactor.after_ms(1, [&] { order.push_back(9); });
  reactor.after_ms(3, [&] { order.push_back(4); });
  reactor.after_ms(2, [&] { order.push_back(3); });
  reactor.post([&] { order.push_back(1); });
  reactor.post([&] { order.push_back(2); });
  reactor.cancel(cancelled);
  reactor.cancel(0);
  ASSERT_TRUE(until(*io, [&] { return order.size() == 4; }));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Io, run_ends_by_stop_be_it_called_before_or_inside) {
  const auto io = HttpIo::create();
  HttpReactor& reactor = reactor_of(*io);
  io->stop();
  io->run();
  int ran = 0;
  reactor.post([&] {
    ++ran;
    io->stop();
  });
  io->run();
  EXPECT_EQ(ran, 1);
  io->run_for_ms(0);
  reactor.post([&] { ++ran; });
  io->run_for_ms(0);
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace perdure
