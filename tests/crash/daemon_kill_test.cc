// The crash harness on the real programs: eight clients work against a daemon while it, agentctls
// and agents are killed or stopped at random moments; then everything heals, and the journal, the
// clients' logs, the store's file and /proc must agree. Rounds: PERDURE_DAEMON_KILLS; seed:
// PERDURE_CRASH_SEED. Once per engine. Each check reads whole journals, so a larger number of seeds
// covers more than a larger number of rounds.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "crash_run.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

constexpr std::uint64_t rounds_between_checks = 25;

std::uint64_t wanted(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

struct Kills {
  std::uint64_t daemon = 0;
  std::uint64_t agentctl = 0;
  std::uint64_t agent = 0;
  std::uint64_t stopped = 0;
  std::uint64_t all() const { return daemon + agentctl + agent; }
};

class DaemonKillLong : public testing::TestWithParam<std::string> {
 protected:
  // SIGKILL, or a short SIGSTOP, to one process of that kind, if there is one.
  bool strike(ProcessKind kind, int number) {
    std::vector<MarkedProcess> all = run_.daemon().processes();
    std::erase_if(all, [&](const MarkedProcess& process) { return process.kind != kind; });
    if (all.empty()) return false;
    const pid_t pid = all[dice_() % all.size()].pid;
    kill(pid, number);
    if (number != SIGSTOP) return true;
    poll(nullptr, 0, static_cast<int>(50 + dice_() % 400));
    kill(pid, SIGCONT);
    return true;
  }

  void round() {
    poll(nullptr, 0, static_cast<int>(50 + dice_() % 450));  // the load runs
    const std::uint64_t what = dice_() % 100;
    const bool agentctl = (what >= 50 && what < 65) || what >= 90;
    const bool agent = what >= 65 && what < 80;
    if (agentctl) kills_.agentctl += strike(ProcessKind::agentctl, SIGKILL);
    if (agent) kills_.agent += strike(ProcessKind::agent, SIGKILL);
    if (what >= 80 && what < 90) {
      constexpr ProcessKind kinds[] = {ProcessKind::daemon, ProcessKind::agentctl,
                                       ProcessKind::agent};
      kills_.stopped += strike(kinds[dice_() % 3], SIGSTOP);
    }
    if (what >= 50 && what < 90) return;
    run_.daemon().kill_daemon();
    ++kills_.daemon;
    const Result<> started = run_.daemon().start();
    ASSERT_TRUE(started) << started.error().message();
  }

  void print(std::uint64_t rounds) {
    const CrashClient::Counts sum = run_.counts();
    std::printf(
        "%s: %lu rounds: %lu kills (%lu daemon, %lu agentctl, %lu agent), %lu stops; %zu sessions, "
        "%lu "
        "prompts, %lu answers, %lu requests (%lu sent again), %lu stream connections, %lu records; "
        "seed %lu\n",
        GetParam().c_str(), rounds, kills_.all(), kills_.daemon, kills_.agentctl, kills_.agent,
        kills_.stopped, run_.sessions(), sum.prompts, sum.answers, sum.requests, sum.unanswered,
        sum.connections, run_.records(), seed_);
  }

  static std::string store() {
    if (GetParam() != "postgres" || !PostgresServer::missing().empty()) return GetParam();
    return PostgresServer::shared().new_database();
  }

  const std::uint64_t seed_ = wanted("PERDURE_CRASH_SEED", 20261115);
  std::mt19937_64 dice_{seed_};
  CrashRun run_{{.clients = 8, .seed = seed_, .store = store()}};
  Kills kills_;
};

INSTANTIATE_TEST_SUITE_P(Engines, DaemonKillLong, testing::Values("sqlite", "files", "postgres"),
                         [](const auto& of) { return of.param; });

TEST_P(DaemonKillLong, ACK1_ACK2_RUN1_STREAM1_STREAM2_TOK3_PROC1_PROC6_J2_kills_lose_nothing) {
  const bool is_database = GetParam() == "postgres";
  if (const std::string reason = PostgresServer::missing(); is_database && !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const std::uint64_t rounds = wanted("PERDURE_DAEMON_KILLS", is_database ? 20 : 100);
  const Result<> started = run_.daemon().start();
  ASSERT_TRUE(started) << started.error().message();
  for (std::uint64_t done = 0; done < rounds && !HasFailure(); done += rounds_between_checks) {
    run_.start_clients();
    for (std::uint64_t i = done; i < std::min(rounds, done + rounds_between_checks); ++i) {
      ASSERT_NO_FATAL_FAILURE(round());
    }
    run_.stop_clients();
    for (const std::string& wrong : run_.findings()) ADD_FAILURE() << wrong;
  }
  print(rounds);
  for (const std::string& wrong : run_.end()) ADD_FAILURE() << wrong;
}

}  // namespace
}  // namespace perdure
