// Three real daemons on one real PostgreSQL, eight clients that move between them, and a loop that
// kills one with SIGKILL or stops it for longer than its lease. At the end every journal, every
// stream and /proc must agree. How much: PERDURE_CLUSTER_KILLS, PERDURE_CLUSTER_PAUSES,
// PERDURE_CLUSTER_NODES; which: PERDURE_CRASH_SEED.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "cluster_run.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

constexpr std::int64_t lease_secs = 2;
constexpr std::int64_t takeover_wait_ms = 30'000;
constexpr std::uint64_t rounds_between_checks = 25;

std::uint64_t wanted(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class ClusterLong : public testing::Test {
 protected:
  // Measures how long it takes until other daemons own all of the victim's sessions.
  void await_takeover(std::size_t victim) {
    if (run_->size() == 1) return;
    const std::int64_t began = now_ms();
    std::size_t left = run_->owned_by(victim);
    const auto leave = [&] {
      const std::size_t now = run_->owned_by(victim);
      if (now < left) takeover_ms_.insert(takeover_ms_.end(), left - now, now_ms() - began);
      left = std::min(left, now);
      return left == 0;
    };
    if (!until(leave, takeover_wait_ms)) {
      ADD_FAILURE() << "TAKE1 " << left << " sessions of " << run_->name(victim)
                    << " are not taken over: " << run_->leases_of(victim);
    }
  }

  // Usually the one with the most sessions.
  std::size_t choose_victim() {
    std::size_t victim = dice_() % run_->size();
    if (dice_() % 4 == 0 || run_->size() == 1) return victim;
    std::size_t most = 0;
    for (std::size_t i = 0; i < run_->size(); ++i) {
      const std::size_t count = run_->owned_by(i);
      if (count > most) victim = i;
      most = std::max(most, count);
    }
    return victim;
  }

  void kill_one(std::size_t victim) {
    const bool stays_away = dice_() % 2 == 0;
    run_->node(victim).kill_daemon();
    ++kills_;
    if (stays_away) await_takeover(victim);
    poll(nullptr, 0, static_cast<int>(dice_() % (stays_away ? 1'000 : 300)));
    const Result<> started = run_->node(victim).start();
    ASSERT_TRUE(started) << started.error().message();
  }

  void pause_one(std::size_t victim) {
    run_->node(victim).signal(SIGSTOP);
    ++pauses_;
    await_takeover(victim);
    poll(nullptr, 0, static_cast<int>(dice_() % 1'000));
    run_->node(victim).signal(SIGCONT);
    // It may detect that it was replaced, and exit; then restart it, as a supervisor would.
    poll(nullptr, 0, static_cast<int>(200 + dice_() % 500));
    if (run_->node(victim).until_exit(0) == -1) return;
    ++ended_;
    const Result<> started = run_->node(victim).start();
    ASSERT_TRUE(started) << started.error().message();
  }

  void round() {
    poll(nullptr, 0, static_cast<int>(200 + dice_() % 1'300));  // the load runs
    const std::size_t victim = choose_victim();
    const std::uint64_t left = kills_left_ + pauses_left_;
    if (dice_() % left < kills_left_) {
      --kills_left_;
      return kill_one(victim);
    }
    --pauses_left_;
    pause_one(victim);
  }

  void print() {
    std::ranges::sort(takeover_ms_);
    const auto count = takeover_ms_.size();
    const CrashClient::Counts sum = run_->counts();
    std::printf(
        "%zu nodes: %lu kills, %lu pauses (%lu ended after one); %zu sessions, %lu prompts, %lu "
        "answers, %lu requests (%lu sent again, %lu to a stale owner), %lu moves of clients, %lu "
        "stream connections, %lu records; seed %lu\n",
        run_->size(), kills_, pauses_, ended_, run_->sessions(), sum.prompts, sum.answers,
        sum.requests, sum.unanswered, sum.stale, sum.moves, sum.connections, run_->records(),
        seed_);
    std::printf(
        "takeovers: %zu, lease %ld ms; from death to takeover: median %ld ms, worst %ld ms\n",
        count, lease_secs * 1000, count > 0 ? takeover_ms_[count / 2] : 0,
        count > 0 ? takeover_ms_.back() : 0);
  }

  void open(std::size_t nodes) {
    run_ = std::make_unique<ClusterRun>(
        ClusterRun::Setup{.store = PostgresServer::shared().new_database(),
                          .nodes = nodes,
                          .clients = 8,
                          .seed = seed_,
                          .lease_secs = lease_secs});
  }

  const std::uint64_t seed_ = wanted("PERDURE_CRASH_SEED", 20261116);
  std::mt19937_64 dice_{seed_};
  std::unique_ptr<ClusterRun> run_;
  std::uint64_t kills_left_ = wanted("PERDURE_CLUSTER_KILLS", 6);
  std::uint64_t pauses_left_ = wanted("PERDURE_CLUSTER_PAUSES", 3);
  std::uint64_t kills_ = 0;
  std::uint64_t pauses_ = 0;
  std::uint64_t ended_ = 0;
  std::vector<std::int64_t> takeover_ms_;
};

TEST_F(ClusterLong, ACK1_ACK2_RUN1_STREAM1_STREAM2_PROC1_PROC6_J2_daemons_die_and_others_go_on) {
  if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  open(wanted("PERDURE_CLUSTER_NODES", 3));
  ASSERT_TRUE(run_->node(0).start());
  ASSERT_TRUE(run_->is_shared());
  const Result<> started = run_->start_all();
  ASSERT_TRUE(started) << started.error().message();
  while (kills_left_ + pauses_left_ > 0 && !HasFailure()) {
    run_->start_clients();
    for (std::uint64_t i = 0; i < rounds_between_checks && kills_left_ + pauses_left_ > 0; ++i) {
      ASSERT_NO_FATAL_FAILURE(round());
    }
    run_->stop_clients();
    for (const std::string& wrong : run_->findings()) ADD_FAILURE() << wrong;
  }
  print();
  for (const std::string& wrong : run_->end()) ADD_FAILURE() << wrong;
}

}  // namespace
}  // namespace perdure
