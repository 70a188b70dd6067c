#include "sim/driver/campaign.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>

#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "sim/driver/probes.h"

namespace perdure::sim {
namespace {

constexpr const char* commit =
#include "sim_commit.inc"
    ;

std::uint64_t current_seed = 0;

extern "C" void on_abort(int) {
  char line[160];
  const int length =
      std::snprintf(line, sizeof line, "FAIL seed=%llu commit=%.40s CRASH: aborted (see above)\n",
                    static_cast<unsigned long long>(current_seed), commit);
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) < 0) _exit(4);
  _exit(3);
}

std::uint64_t mixed(const SeedResult& result) {
  std::uint64_t hash = result.trace_hash ^ (result.seed * 0x9e3779b97f4a7c15ULL);
  hash ^= hash >> 31;
  return hash * 0xbf58476d1ce4e5b9ULL;
}

void count_failure(Summary& summary, const Violation& violation) {
  if (violation.phase == Phase::safety) {
    summary.safety_failures += 1;
  } else {
    summary.liveness_failures += 1;
  }
}

// One worker's share: every `jobs`-th seed.
Summary run_share(const Campaign& campaign, unsigned worker) {
  Summary summary;
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t seed = campaign.seeds.first + worker; seed <= campaign.seeds.last;
       seed += campaign.jobs) {
    current_seed = seed;
    SeedResult result = run_seed(seed, campaign.options);
    if (campaign.twice && !result.violation) {
      const SeedResult again = run_seed(seed, campaign.options);
      if (again.trace_hash != result.trace_hash) {
        result.violation = Violation{"J5", "the same seed gave another trace", again.steps};
      }
    }
    summary.seeds += 1;
    summary.steps += result.steps;
    summary.records += result.records;
    summary.crashes += result.crashes;
    summary.combined_hash += mixed(result);
    lengths.push_back(result.safety_steps);
    if (!result.violation) continue;
    std::printf("%s\n", failure_line(result).c_str());
    std::fflush(stdout);
    count_failure(summary, *result.violation);
    if (campaign.stop_at_first) break;
  }
  if (!lengths.empty()) {
    std::ranges::nth_element(lengths,
                             lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2));
    summary.steps_median = lengths[lengths.size() / 2];
  }
  summary.probe_counts = probe_counts();
  return summary;
}

// The words that a worker writes into its pipe: fixed fields first, then the probes.
std::vector<std::uint64_t> pack(const Summary& summary) {
  std::vector<std::uint64_t> words{summary.seeds,           summary.steps,
                                   summary.records,         summary.crashes,
                                   summary.steps_median,    summary.combined_hash,
                                   summary.safety_failures, summary.liveness_failures,
                                   summary.aborts};
  words.insert(words.end(), summary.probe_counts.begin(), summary.probe_counts.end());
  return words;
}

void add(Summary& sum, const std::vector<std::uint64_t>& words) {
  sum.seeds += words[0];
  sum.steps += words[1];
  sum.records += words[2];
  sum.crashes += words[3];
  sum.steps_median = std::max(sum.steps_median, words[4]);
  sum.combined_hash += words[5];
  sum.safety_failures += words[6];
  sum.liveness_failures += words[7];
  sum.aborts += words[8];
  for (std::size_t i = 0; i < sum.probe_counts.size(); ++i) sum.probe_counts[i] += words[9 + i];
}

struct Worker {
  pid_t pid = 0;
  int pipe = -1;
};

Worker start_worker(const Campaign& campaign, unsigned number) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid > 0) {
    close(ends[1]);
    return {pid, ends[0]};
  }
  close(ends[0]);
  const std::vector<std::uint64_t> words = pack(run_share(campaign, number));
  const std::size_t bytes = words.size() * sizeof words[0];
  const bool written = write(ends[1], words.data(), bytes) == static_cast<ssize_t>(bytes);
  std::fflush(stdout);
  _exit(written ? 0 : 4);
}

}  // namespace

std::string failure_line(const SeedResult& result) {
  const Violation& violation = *result.violation;
  return "FAIL seed=" + std::to_string(result.seed) + " commit=" + commit + " " +
         (violation.phase == Phase::safety ? "safety " : "liveness ") + violation.invariant +
         " step=" + std::to_string(violation.step) + ": " + violation.what;
}

int Summary::exit_code() const {
  if (aborts > 0) return 3;
  if (safety_failures > 0) return 1;
  return liveness_failures > 0 ? 2 : 0;
}

Summary run_campaign(const Campaign& campaign) {
  if (campaign.jobs <= 1) return run_share(campaign, 0);
  Summary sum;
  sum.probe_counts.resize(known_probes().size());
  std::vector<Worker> workers;
  for (unsigned i = 0; i < campaign.jobs; ++i) workers.push_back(start_worker(campaign, i));
  for (const Worker& worker : workers) {
    std::vector<std::uint64_t> words(9 + sum.probe_counts.size());
    const auto bytes = static_cast<ssize_t>(words.size() * sizeof words[0]);
    if (read(worker.pipe, words.data(), static_cast<std::size_t>(bytes)) == bytes) {
      add(sum, words);
    } else {
      sum.aborts += 1;
    }
    close(worker.pipe);
    waitpid(worker.pid, nullptr, 0);
  }
  return sum;
}

void print_seed_on_abort() {
  std::signal(SIGABRT, on_abort);
  std::signal(SIGSEGV, on_abort);
}

}  // namespace perdure::sim
