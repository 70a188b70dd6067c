// perdure-sim: runs seeds and reports what broke.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "sim/driver/campaign.h"
#include "sim/driver/probes.h"

#ifdef PERDURE_MUTANTS
#include "sim/driver/cli/mutants.h"
#endif

namespace perdure::sim {
namespace {

struct Arguments {
  Campaign campaign;
  bool probes = false;
  bool require_probes = false;
  bool score = false;
  bool list_mutants = false;
  std::string mutant;
  std::string equivalent;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<SeedRange> range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *first > *last) return std::nullopt;
  return SeedRange{*first, *last};
}

int usage() {
  std::fprintf(stderr,
               "usage: perdure-sim --seeds A..B [--jobs N] [--twice] [--first] [--steps-max N]\n"
               "                   [--probes] [--require-probes] [--store memory|sqlite]\n"
               "                   [--agentctl real|scripted] [--daemons N]\n"
               "       perdure-sim --seed N [--trace]\n"
               "perdure-sim-mutants takes also: --mutants (lists them), --mutant ID|canary,\n"
               "                   --score [--equivalent FILE]\n"
               "exit codes: 0 ok, 1 safety, 2 liveness, 3 crash, 64 usage\n");
  return 64;
}

// Flags without a value. Returns false for anything else.
bool take_flag(Arguments& to, std::string_view flag) {
  if (flag == "--trace") return to.campaign.options.trace = true;
  if (flag == "--twice") return to.campaign.twice = true;
  if (flag == "--first") return to.campaign.stop_at_first = true;
  if (flag == "--probes") return to.probes = true;
  if (flag == "--require-probes") return to.probes = to.require_probes = true;
  if (flag == "--score") return to.score = true;
  if (flag == "--mutants") return to.list_mutants = true;
  return false;
}

bool take_value(Arguments& to, std::string_view flag, std::string_view value) {
  if (flag == "--seeds" || flag == "--seed") {
    const auto seeds = range(value);
    if (seeds) to.campaign.seeds = *seeds;
    return seeds.has_value();
  }
  if (flag == "--daemons") {
    const auto count = number(value);
    if (count) to.campaign.options.daemons = *count;
    return count && *count >= 1 && *count <= 26;
  }
  if (flag == "--mutant") return to.mutant = value, true;
  if (flag == "--equivalent") return to.equivalent = value, true;
  if (flag == "--agentctl") {
    to.campaign.options.agentctls =
        value == "scripted" ? AgentctlKind::scripted : AgentctlKind::real;  // otherwise by seed
    return value == "scripted" || value == "real";
  }
  if (flag == "--store") {
    to.campaign.options.store = value == "sqlite" ? StoreKind::sqlite : StoreKind::memory;
    return value == "sqlite" || value == "memory";
  }
  const auto count = number(value);
  if (!count) return false;
  if (flag == "--jobs") return to.campaign.jobs = static_cast<unsigned>(*count), *count > 0;
  if (flag == "--steps-max") return to.campaign.options.steps_max = *count, true;
  return false;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    if (take_flag(arguments, argv[i])) continue;
    if (i + 1 >= argc || !take_value(arguments, argv[i], argv[i + 1])) return std::nullopt;
    ++i;
  }
  const SeedOptions& options = arguments.campaign.options;
  if (options.store == StoreKind::sqlite && options.daemons > 1) return std::nullopt;
  return arguments;
}

int print_probes(const Summary& summary, bool require) {
  int missed = 0;
  for (std::size_t i = 0; i < summary.probe_counts.size(); ++i) {
    const std::string_view name = known_probes()[i];
    std::printf("%12llu  %.*s\n", static_cast<unsigned long long>(summary.probe_counts[i]),
                static_cast<int>(name.size()), name.data());
    missed += summary.probe_counts[i] == 0 ? 1 : 0;
  }
  std::printf("%d of %zu probes were not reached\n", missed, summary.probe_counts.size());
  return require && missed > 0 ? 1 : 0;
}

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const Summary summary = run_campaign(arguments.campaign);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::uint64_t failed = summary.safety_failures + summary.liveness_failures + summary.aborts;
  std::printf(
      "%llu seeds, %llu failed; %llu steps (median %llu), %llu records, %llu crashes; "
      "%.1f s, %.0f seeds/s, %.0f steps/s; trace %016llx\n",
      static_cast<unsigned long long>(summary.seeds), static_cast<unsigned long long>(failed),
      static_cast<unsigned long long>(summary.steps),
      static_cast<unsigned long long>(summary.steps_median),
      static_cast<unsigned long long>(summary.records),
      static_cast<unsigned long long>(summary.crashes), took.count(),
      static_cast<double>(summary.seeds) / took.count(),
      static_cast<double>(summary.steps) / took.count(),
      static_cast<unsigned long long>(summary.combined_hash));
  int code = summary.exit_code();
  if (arguments.probes) {
    const int probes = print_probes(summary, arguments.require_probes);
    if (code == 0) code = probes;
  }
  return code;
}

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) return usage();
  print_seed_on_abort();
#ifdef PERDURE_MUTANTS
  if (arguments->list_mutants) return list_mutants();
  if (!arguments->mutant.empty() && !choose_mutant(arguments->mutant)) return usage();
  if (arguments->score) return score_mutants(arguments->campaign, arguments->equivalent);
#else
  if (arguments->score || arguments->list_mutants || !arguments->mutant.empty()) return usage();
#endif
  return run(*arguments);
}

}  // namespace
}  // namespace perdure::sim

int main(int argc, char** argv) { return perdure::sim::main(argc, argv); }
