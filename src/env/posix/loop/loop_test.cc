// The loop on real descriptors and real time: order, timers, watches destroyed during events, and
// waking by threads and signals.
#include "env/posix/loop/loop.h"

#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "env/posix/fixture_for_test.h"
#include "env/posix/loop/signals.h"
#include "env/posix/world.h"

namespace perdure {
namespace {

using posix_test::make_loop;
using posix_test::until;

bool readable(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLIN};
  return poll(&state, 1, 0) == 1;
}

TEST(EpollLoop, tasks_run_in_order_and_never_nested) {
  const auto loop = make_loop();
  std::string ran;
  loop->post([&] {
    ran += 'a';
    loop->post([&] { ran += 'c'; });
    ran += 'A';
  });
  loop->post([&] { ran += 'b'; });
  EXPECT_EQ(ran, "");
  ASSERT_TRUE(until(*loop, [&] { return ran.size() == 4; }));
  EXPECT_EQ(ran, "aAbc");
}

TEST(EpollLoop, timers_run_by_deadline_and_not_early) {
  const auto loop = make_loop();
  const auto clock = std::move(PosixClock::create()).value();
  const std::int64_t start = clock->now().since_boot.ms;
  std::int64_t late_at = 0;
  std::string ran;
  loop->after_ms(30, [&] {
    ran += 'c';
    late_at = clock->now().since_boot.ms;
  });
  loop->after_ms(10, [&] { ran += 'b'; });
  loop->after_ms(-5, [&] { ran += 'a'; });
  ASSERT_TRUE(until(*loop, [&] { return ran.size() == 3; }));
  EXPECT_EQ(ran, "abc");
  EXPECT_GE(late_at - start, 29);
}

TEST(EpollLoop, a_cancelled_timer_does_not_run_even_when_it_is_due) {
  const auto loop = make_loop();
  std::string ran;
  Loop::TimerId second = 0;
  Loop::TimerId third = 0;
  loop->after_ms(1, [&] {
    ran += 'a';
    loop->cancel(second);
  });
  second = loop->after_ms(1, [&] { ran += 'b'; });
  third = loop->after_ms(2, [&] { ran += 'c'; });
  loop->cancel(loop->after_ms(1, [&] { ran += 'd'; }));
  ASSERT_TRUE(until(*loop, [&] { return ran.ends_with('c'); }));
  EXPECT_EQ(ran, "ac");
  loop->cancel(third);  // ran before: ignored
  loop->cancel(0);
}

TEST(EpollLoop, a_timer_that_makes_timers_lets_others_have_their_turn) {
  const auto loop = make_loop();
  int again = 0;
  bool posted = false;
  std::function<void()> forever = [&] {
    ++again;
    loop->after_ms(0, forever);
  };
  forever();
  loop->post([&] { posted = true; });
  ASSERT_TRUE(until(*loop, [&] { return posted && again > 10; }));
}

TEST(EpollLoop, a_watch_can_end_itself_and_others_in_its_callback) {
  const auto loop = make_loop();
  const Pipe first = std::move(make_pipe()).value();
  const Pipe second = std::move(make_pipe()).value();
  ASSERT_EQ(write(first.write.get(), "x", 1), 1);
  ASSERT_EQ(write(second.write.get(), "x", 1), 1);
  Watch watches[2];
  int calls = 0;
  // Both are ready in one round; the first one ends both, and its captures stay alive.
  const auto end_both = [&, kept = std::make_shared<int>(7)](Ready) {
    watches[0].stop();
    watches[1].stop();
    calls += *kept;
  };
  watches[0] = loop->watch(first.read, Interest::read, end_both);
  watches[1] = loop->watch(second.read, Interest::read, end_both);
  ASSERT_TRUE(until(*loop, [&] { return calls > 0; }));
  loop->pump();
  EXPECT_EQ(calls, 7);
}

TEST(EpollLoop, a_watch_without_interest_is_silent_about_a_hang_up) {
  const auto loop = make_loop();
  Pipe pipe = std::move(make_pipe()).value();
  int calls = 0;
  Watch watch = loop->watch(pipe.read, Interest::none, [&](Ready) { ++calls; });
  pipe.write.reset();
  for (int i = 0; i < 3; ++i) loop->pump();
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(readable(loop->descriptor()));
  watch.set_interest(Interest::read);
  loop->pump();
  EXPECT_EQ(calls, 1);
}

TEST(EpollLoop, another_loop_can_drive_it_by_its_descriptor) {
  const auto loop = make_loop();
  loop->pump();
  EXPECT_FALSE(readable(loop->descriptor()));
  std::string ran;
  loop->post([&] {
    ran += 'a';
    loop->post([&] { ran += 'b'; });
  });
  EXPECT_TRUE(readable(loop->descriptor()));
  loop->pump();
  EXPECT_EQ(ran, "a");
  EXPECT_TRUE(readable(loop->descriptor()));  // there is work left to do
  loop->pump();
  EXPECT_EQ(ran, "ab");
  loop->pump();
  EXPECT_FALSE(readable(loop->descriptor()));
  loop->after_ms(1, [&] { ran += 'c'; });
  pollfd state{.fd = loop->descriptor(), .events = POLLIN};
  ASSERT_EQ(poll(&state, 1, 10'000), 1);
  loop->pump();
  EXPECT_EQ(ran, "abc");
}

TEST(EpollLoop, threads_can_post_and_stop_it) {
  const auto loop = make_loop();
  constexpr int each = 200;
  int ran = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        loop->post_from_thread([&] {
          if (++ran == 4 * each) loop->stop();
        });
      }
    });
  }
  loop->run();
  EXPECT_EQ(ran, 4 * each);
  loop->stop();
  loop->run();  // stopped before it began: returns
}

EpollLoop* signalled_loop = nullptr;

TEST(EpollLoop, a_signal_handler_can_stop_it) {
  const auto loop = make_loop();
  signalled_loop = loop.get();
  const auto before = std::signal(SIGUSR2, [](int) { signalled_loop->stop(); });
  loop->post([] { raise(SIGUSR2); });
  loop->run();
  std::signal(SIGUSR2, before);
}

TEST(SignalWatch, a_signal_becomes_an_event) {
  const auto loop = make_loop();
  std::vector<int> seen;
  const auto watch =
      SignalWatch::create(*loop, {SIGUSR1, SIGTERM}, [&](int number) { seen.push_back(number); });
  ASSERT_TRUE(watch);
  raise(SIGTERM);
  raise(SIGUSR1);
  ASSERT_TRUE(until(*loop, [&] { return seen.size() == 2; }));
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGTERM}));
}

TEST(World, clock_random_and_files_are_the_machine_s) {
  const auto clock = std::move(PosixClock::create()).value();
  const Moment first = clock->now();
  const Moment second = clock->now();
  EXPECT_GE(second.since_boot.ms, first.since_boot.ms);
  EXPECT_GT(first.wall.ms, 1'700'000'000'000);
  EXPECT_EQ(first.host_boot.size(), 36U);
  PosixRandom random;
  EXPECT_NE(random.next(), random.next());
  PosixFiles files;
  EXPECT_TRUE(files.folder_exists("/proc"));
  EXPECT_FALSE(files.folder_exists("/proc/self/stat"));
  EXPECT_FALSE(files.folder_exists("/no/such/folder"));
}

}  // namespace
}  // namespace perdure
