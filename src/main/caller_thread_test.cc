// Looks for callers: each source has its turn and its share of the room, and a search through what
// sessions hold delays nobody outside of them.
#include "main/caller_thread.h"

#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace perdure {
namespace {

// Runs what other threads posted, on this one.
class PostedTasks final : public Loop {
 public:
  void post(Task task) override {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.notify_one();
  }
  TimerId after_ms(std::int64_t, Task) override { return 0; }
  void cancel(TimerId) override {}
  void run_one() {
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [this] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> tasks_;
};

bool push(CallerQueue& queue, const std::string& source) {
  CallerLook look{.source = source, .ends = {}, .found = {}};
  return queue.push(look);
}

TEST(CallerQueue, N16_one_source_delays_the_others_by_one_look) {
  CallerQueue queue;
  for (std::size_t i = 0; i < caller_looks_per_source_max; ++i) ASSERT_TRUE(push(queue, "a"));
  EXPECT_FALSE(push(queue, "a"));
  EXPECT_TRUE(push(queue, "b"));
  EXPECT_TRUE(push(queue, "c"));
  EXPECT_TRUE(push(queue, "b"));
  std::string order;
  for (int i = 0; i < 6; ++i) order += queue.pop().source;
  EXPECT_EQ(order, "abcaba");
  EXPECT_TRUE(push(queue, "a")) << "it has room again";
  while (!queue.empty()) EXPECT_EQ(queue.pop().source, "a");
}

TEST(CallerQueue, N16_there_is_room_for_so_many_in_all) {
  CallerQueue queue;
  for (std::size_t i = 0; i < caller_looks_max; ++i) {
    ASSERT_TRUE(push(queue, std::to_string(i)));
  }
  EXPECT_FALSE(push(queue, "one more"));
  EXPECT_EQ(queue.pop().source, "0");
  EXPECT_TRUE(push(queue, "one more"));
}

TEST(CallerThread, N16_a_search_inside_sessions_delays_nobody_outside) {
  PostedTasks loop;
  std::latch answered{1};
  std::latch searching{1};
  CallerThread callers({.outside = [](const TcpEnds& ends) -> std::optional<CallerPlace> {
                          if (ends.their_port == 1) return std::nullopt;
                          return CallerPlace{false, "", ""};
                        },
                        .inside =
                            [&](const TcpEnds&) {
                              searching.count_down();
                              answered.wait();
                              return CallerPlace{true, "a session", ""};
                            }},
                       loop);
  std::string order;
  callers.find("one", {.their_port = 1},
               [&](Result<CallerPlace> place) { order += place->session; });
  searching.wait();
  callers.find("one", {.their_port = 2}, [&](Result<CallerPlace> place) {
    order += place->inside ? "inside, " : "outside, ";
  });
  loop.run_one();
  answered.count_down();
  loop.run_one();
  EXPECT_EQ(order, "outside, a session");
}

}  // namespace
}  // namespace perdure
