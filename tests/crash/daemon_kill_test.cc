// The crash harness on the real programs: eight clients work against a daemon while it, agentctls
// and agents are killed or stopped at random moments; then everything heals, and the journal, the
// clients' logs, the store's file and /proc must agree. How many rounds: PERDURE_DAEMON_KILLS;
// which ones: PERDURE_CRASH_SEED.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "crash_client.h"
#include "daemon_process.h"
#include "heal.h"
#include "journal_check.h"

namespace perdure {
namespace {

constexpr int clients_count = 8;
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

class DaemonKillLong : public testing::Test {
 protected:
  void SetUp() override {
    seed_ = wanted("PERDURE_CRASH_SEED", 20261115);
    dice_.seed(seed_);
    const Result<> started = daemon_.start();
    ASSERT_TRUE(started) << started.error().message();
    for (int i = 1; i <= clients_count; ++i) {
      clients_.push_back(std::make_unique<CrashClient>(CrashClientSetup{
          .daemon = daemon_.endpoint(),
          .log = daemon_.folder() + "/client" + std::to_string(i),
          .number = i,
          .seed = seed_ + static_cast<std::uint64_t>(i),
          .scripts = {"say 3", "chunks 60 64; tool 1; sleep 30; say 1", "permission 1; say 2",
                      "sleep 150; chunks 200 40", "think 2; tool 2; permission 1; tool 1",
                      "chunks 5 3000; sleep 400; say 2"}}));
    }
  }

  // SIGKILL, or a moment of SIGSTOP, to one process of that kind, if there is one.
  bool strike(ProcessKind kind, int number) {
    std::vector<MarkedProcess> all = daemon_.processes();
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
    daemon_.kill_daemon();
    ++kills_.daemon;
    const Result<> started = daemon_.start();
    ASSERT_TRUE(started) << started.error().message();
  }

  void check(Rest rest) {
    records_ = 0;
    for (const auto& client : clients_) {
      for (const std::string& wrong : client->wrong()) ADD_FAILURE() << wrong;
      for (const auto& [id, owned] : client->sessions()) {
        const JudgedSession session{id, client->api().records(id), owned.prompts};
        records_ += session.records.size();
        for (const std::string& wrong : judge(session, rest)) ADD_FAILURE() << wrong;
        for (const std::string& wrong : judge_view(session, owned.reader->records())) {
          ADD_FAILURE() << wrong;
        }
      }
    }
    EXPECT_FALSE(daemon_.had_two_agents()) << "PROC1";
  }

  std::vector<std::string> session_ids() {
    std::vector<std::string> ids;
    for (const auto& client : clients_) {
      for (const auto& [id, owned] : client->sessions()) ids.push_back(id);
    }
    return ids;
  }

  // STREAM5: at rest every client sees the head.
  void catch_up() {
    for (const auto& client : clients_) {
      for (const auto& [id, owned] : client->sessions()) {
        const std::size_t head = client->api().records(id).size();
        EXPECT_TRUE(until(
            [&] {
              if (!owned.reader->is_open()) owned.reader->open();
              client->api().io().run_for_ms(20);
              return owned.reader->last() >= head;
            },
            30'000))
            << "STREAM5 " << id << ": " << owned.reader->last() << " of " << head;
      }
    }
  }

  void print(std::uint64_t rounds) const {
    CrashClient::Counts sum;
    std::size_t sessions = 0;
    for (const auto& client : clients_) {
      const CrashClient::Counts one = client->counts();
      sum.requests += one.requests;
      sum.unanswered += one.unanswered;
      sum.prompts += one.prompts;
      sum.answers += one.answers;
      sum.connections += one.connections;
      sessions += client->sessions().size();
    }
    std::printf(
        "%lu rounds: %lu kills (%lu daemon, %lu agentctl, %lu agent), %lu stops; %zu "
        "sessions, %lu prompts, %lu answers, %lu requests (%lu sent again), %lu stream "
        "connections, %lu records; seed %lu\n",
        rounds, kills_.all(), kills_.daemon, kills_.agentctl, kills_.agent, kills_.stopped,
        sessions, sum.prompts, sum.answers, sum.requests, sum.unanswered, sum.connections, records_,
        seed_);
  }

  std::uint64_t seed_ = 0;
  std::mt19937_64 dice_;
  DaemonProcess daemon_;
  std::vector<std::unique_ptr<CrashClient>> clients_;
  Kills kills_;
  std::uint64_t records_ = 0;
};

TEST_F(DaemonKillLong, ACK1_ACK2_RUN1_STREAM1_STREAM2_TOK3_PROC1_PROC6_J2_kills_lose_nothing) {
  const std::uint64_t rounds = wanted("PERDURE_DAEMON_KILLS", 100);
  ApiClient api(daemon_.endpoint());
  for (std::uint64_t done = 0; done < rounds && !HasFailure(); done += rounds_between_checks) {
    for (const auto& client : clients_) client->start();
    for (std::uint64_t i = done; i < std::min(rounds, done + rounds_between_checks); ++i) {
      ASSERT_NO_FATAL_FAILURE(round());
    }
    for (const auto& client : clients_) client->stop();
    EXPECT_EQ(heal(api, session_ids()), "") << "Q1";
    catch_up();
    check(Rest::quiet);
  }
  print(rounds);
  for (const std::string& id : session_ids()) {
    EXPECT_TRUE(api.post("/api/sessions/" + id + "/stop").ok());
  }
  EXPECT_TRUE(daemon_.until_no_hosted()) << "PROC6";
  EXPECT_EQ(daemon_.stop(), 0);
  for (const std::string& wrong : judge_store(daemon_.home() + "/perdure.db"))
    ADD_FAILURE() << wrong;
  if (HasFailure()) std::printf("%s\n", daemon_.output().c_str());
}

}  // namespace
}  // namespace perdure
