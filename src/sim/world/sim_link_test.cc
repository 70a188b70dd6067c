// The simulator's links give a socket's guarantees: order, and delivery of everything sent before
// an end. They break in the middle of data if the test wants it.
#include "sim/world/sim_link.h"

#include <memory>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace perdure::sim {
namespace {

struct Ear final : LinkEvents {
  void on_bytes(std::string_view bytes) override {
    heard += bytes;
    ++pieces;
  }
  void on_drained() override { ++drained; }
  void on_closed() override { closed = true; }
  std::string heard;
  int pieces = 0;
  int drained = 0;
  bool closed = false;
};

struct Pair {
  explicit Pair(std::uint64_t seed) : universe(seed) {
    universe.faults = Faults::none();
    std::tie(one, other) = make_link(universe, {left, right});
    one->set_events(left_ear);
    other->set_events(right_ear);
  }
  ~Pair() { universe.scheduler.close(); }
  void run() {
    while (universe.scheduler.run_next()) {}
  }

  Universe universe;
  std::shared_ptr<Life> left = std::make_shared<Life>();
  std::shared_ptr<Life> right = std::make_shared<Life>();
  Ear left_ear;
  Ear right_ear;
  std::unique_ptr<Link> one;
  std::unique_ptr<Link> other;
};

TEST(SimLink, BringsBytesInOrderAndInPieces) {
  int pieces = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Pair pair(seed);
    pair.one->send("the quick brown ");
    pair.one->send("fox");
    EXPECT_EQ(pair.one->unsent_bytes(), 19U);
    pair.run();
    EXPECT_EQ(pair.right_ear.heard, "the quick brown fox");
    EXPECT_EQ(pair.one->unsent_bytes(), 0U);
    EXPECT_GE(pair.left_ear.drained, 1);
    pieces += pair.right_ear.pieces;
  }
  EXPECT_GT(pieces, 100);
}

TEST(SimLink, AnEndThatClosesLosesNothingThatWasSent) {
  Pair pair(1);
  pair.one->send("last words");
  pair.one.reset();
  pair.run();
  EXPECT_EQ(pair.right_ear.heard, "last words");
  EXPECT_TRUE(pair.right_ear.closed);
}

TEST(SimLink, IsCutAnywhereForBothEnds) {
  std::set<std::size_t> lengths;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Pair pair(seed);
    pair.universe.faults.link_cut = 1'000'000;
    pair.one->send("0123456789");
    pair.one->send("never");
    pair.run();
    EXPECT_EQ(pair.right_ear.heard,
              std::string("0123456789").substr(0, pair.right_ear.heard.size()));
    EXPECT_TRUE(pair.left_ear.closed && pair.right_ear.closed);
    lengths.insert(pair.right_ear.heard.size());
  }
  EXPECT_GT(lengths.size(), 8U);
}

TEST(SimLink, TheDeadHearAndSayNothing) {
  Pair pair(1);
  pair.right->dead = true;
  pair.one->send("hello");
  pair.other->send("from beyond");
  pair.run();
  EXPECT_EQ(pair.right_ear.heard, "");
  EXPECT_EQ(pair.left_ear.heard, "");
}

TEST(SimLink, APausedProcessHearsLater) {
  Pair pair(1);
  pair.right->paused_until_ms = 5'000;
  pair.one->send("hello");
  while (pair.universe.scheduler.now_ms() < 4'000 && pair.universe.scheduler.run_next()) {}
  EXPECT_EQ(pair.right_ear.heard, "");
  pair.run();
  EXPECT_EQ(pair.right_ear.heard, "hello");
}

}  // namespace
}  // namespace perdure::sim
