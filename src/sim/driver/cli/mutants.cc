#include "sim/driver/cli/mutants.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mutant.h"

namespace perdure::sim {
namespace {

// Processor time, which a busy machine does not stretch. A seed takes milliseconds; one that takes
// this long never ends.
constexpr time_t seed_seconds_max = 10;
constexpr double score_wanted = 0.9;

struct Mutant {
  int number;
  const char* file;
  int line;
  int occurrence;  // among equal texts in the file
  const char* kind;
  const char* source;
};

constexpr Mutant mutants[] = {
#include "mutants.inc"
};

std::string name_of(const Mutant& mutant) {
  const std::string which = mutant.occurrence == 1 ? "" : " #" + std::to_string(mutant.occurrence);
  return std::string(mutant.file) + " | " + mutant.kind + " | " + mutant.source + which;
}

// Lines `file | kind | source | why it changes nothing`; # begins a comment. `source #2` is the
// second occurrence of that text in the file.
std::set<std::string> read_equivalent(const std::string& path) {
  std::set<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t reason = line.rfind(" | ");
    names.insert(line.substr(0, reason));
  }
  return names;
}

// In the child: the exit code tells whether the mutant was caught, the pipe by which seed.
[[noreturn]] void hunt(const Campaign& campaign, int number, int pipe) {
  active_mutant = number;
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  for (std::uint64_t seed = campaign.seeds.first; seed <= campaign.seeds.last; ++seed) {
    if (write(pipe, &seed, sizeof seed) != sizeof seed) _exit(4);
    const itimerval limit{.it_interval = {},
                          .it_value = {.tv_sec = seed_seconds_max, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    if (run_seed(seed, campaign.options).violation) _exit(1);
  }
  _exit(0);
}

struct Hunt {
  const Mutant* mutant = nullptr;
  int pipe = -1;
};

struct Score {
  std::size_t caught = 0;
  std::uint64_t seeds_most = 0;
  std::vector<const Mutant*> survivors;
  std::vector<const Mutant*> equivalent;
};

std::uint64_t last_seed(int pipe) {
  std::uint64_t seed = 0;
  while (read(pipe, &seed, sizeof seed) == sizeof seed) {}
  return seed;
}

void note_end(Score& score, const Hunt& hunt, int status) {
  const std::uint64_t seed = last_seed(hunt.pipe);
  close(hunt.pipe);
  const bool survived = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const char* how = WIFSIGNALED(status)        ? "did not end"
                    : WEXITSTATUS(status) == 3 ? "aborted"
                    : survived                 ? "SURVIVED"
                                               : "violation";
  std::printf("%4d %-12s seed %-6llu %s:%d %s: %s\n", hunt.mutant->number, how,
              static_cast<unsigned long long>(seed), hunt.mutant->file, hunt.mutant->line,
              hunt.mutant->kind, hunt.mutant->source);
  std::fflush(stdout);
  if (survived) {
    score.survivors.push_back(hunt.mutant);
  } else {
    score.caught += 1;
    score.seeds_most = std::max(score.seeds_most, seed);
  }
}

Hunt start_hunt(const Campaign& campaign, const Mutant& mutant, std::map<pid_t, Hunt>& hunts) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  // Room for every seed's number, so that the child never waits for its parent.
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  std::fflush(stdout);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    hunt(campaign, mutant.number, ends[1]);
  }
  close(ends[1]);
  return hunts[pid] = Hunt{&mutant, ends[0]};
}

void wait_for_one(Score& score, std::map<pid_t, Hunt>& hunts) {
  int status = 0;
  const pid_t pid = wait(&status);
  const auto at = hunts.find(pid);
  if (at == hunts.end()) return;
  note_end(score, at->second, status);
  hunts.erase(at);
}

}  // namespace

int list_mutants() {
  for (const Mutant& mutant : mutants) {
    std::printf("%4d %s:%d %s: %s\n", mutant.number, mutant.file, mutant.line, mutant.kind,
                mutant.source);
  }
  return 0;
}

bool choose_mutant(const std::string& name) {
  if (name == "canary") return canary_is_on = true;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), active_mutant);
  return error == std::errc() && end == name.data() + name.size() && active_mutant >= 1 &&
         active_mutant <= static_cast<int>(std::size(mutants));
}

int score_mutants(const Campaign& campaign, const std::string& equivalent) {
  const std::set<std::string> known = read_equivalent(equivalent);
  Score score;
  std::map<pid_t, Hunt> hunts;
  for (const Mutant& mutant : mutants) {
    if (known.contains(name_of(mutant))) {
      score.equivalent.push_back(&mutant);
      continue;
    }
    while (hunts.size() >= campaign.jobs) wait_for_one(score, hunts);
    start_hunt(campaign, mutant, hunts);
  }
  while (!hunts.empty()) wait_for_one(score, hunts);
  const std::size_t judged = score.caught + score.survivors.size();
  const double share =
      judged == 0 ? 0 : static_cast<double>(score.caught) / static_cast<double>(judged);
  std::printf(
      "\nmutation score: %zu of %zu caught (%.1f %%), %zu equivalent, the last one at seed %llu\n",
      score.caught, judged, 100 * share, score.equivalent.size(),
      static_cast<unsigned long long>(score.seeds_most));
  for (const Mutant* survivor : score.survivors) {
    std::printf("survivor %d %s:%d\n  %s\n", survivor->number, survivor->file, survivor->line,
                name_of(*survivor).c_str());
  }
  return share >= score_wanted ? 0 : 1;
}

}  // namespace perdure::sim
