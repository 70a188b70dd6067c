#include "base/failpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"

namespace perdure {
namespace {

#ifdef PERDURE_FAILPOINTS
constexpr bool is_test_build = true;
#else
constexpr bool is_test_build = false;
#endif

constexpr std::array<std::string_view, 13> names = {"accept.before_commit",
                                                    "accept.after_commit",
                                                    "reply.after",
                                                    "commit.before",
                                                    "commit.after",
                                                    "effect.before",
                                                    "effect.after",
                                                    "reattach.before",
                                                    "reattach.after",
                                                    "frame.before_ack",
                                                    "checkpoint.before",
                                                    "checkpoint.after",
                                                    "shutdown"};

constexpr std::array<std::string_view, 9> agentctl_names = {
    "agentctl.before_claim",  // of the spool
    "agentctl.after_claim",
    "agentctl.before_answer",  // to its bootstrap
    "agentctl.after_spawn",    // of the agent, before anything was sent to it
    "command.taken",           // its number is known, nothing is done yet
    "command.acted",           // done, but not confirmed
    "spool.before_write",
    "spool.written",  // but not sent
    "ack.before_cut"};

struct Term {
  std::uint64_t times = 0;
  int signal = 0;  // 0: off
};

struct Armed {
  std::mutex mutex;  // points are hit on the loop's and the store's threads
  std::map<std::string, std::vector<Term>, std::less<>> points;
};

Armed& armed() {
  static Armed points;
  return points;
}

void hit(const char* name) {
  Armed& all = armed();
  const std::lock_guard lock(all.mutex);
  const auto point = all.points.find(std::string_view(name));
  if (point == all.points.end()) return;
  std::vector<Term>& terms = point->second;
  if (terms.empty()) return;
  const int signal = terms.front().signal;
  if (--terms.front().times == 0) terms.erase(terms.begin());
  if (signal != 0) std::raise(signal);
  // The first process of a process namespace ignores its own signals.
  if (signal == SIGKILL) std::_Exit(128 + SIGKILL);
}

// Removes the text up to the separator and returns it; the rest stays.
std::string_view cut(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + separator.size());
  return front;
}

Result<Term> parse_term(std::string_view text) {
  std::string_view action = text;
  const std::string_view times = cut(action, "*");
  Term term;
  const auto [end, error] = std::from_chars(times.data(), times.data() + times.size(), term.times);
  const bool counted = error == std::errc() && end == times.data() + times.size() && term.times > 0;
  if (action == "kill") term.signal = SIGKILL;
  if (action == "stop") term.signal = SIGSTOP;
  if (counted && (term.signal != 0 || action == "off")) return term;
  return fail(Code::invalid_argument,
              "'" + std::string(text) + "' is not COUNT*off, COUNT*kill or COUNT*stop");
}

}  // namespace

std::span<const std::string_view> failpoint_names() { return names; }
std::span<const std::string_view> agentctl_failpoint_names() { return agentctl_names; }

Result<> arm_failpoints(std::string_view text) {
  if (!is_test_build) {
    return fail(Code::denied, "FAILPOINT is set, and this is not a build for tests");
  }
  std::map<std::string, std::vector<Term>, std::less<>> points;
  while (!text.empty()) {
    std::string_view terms = cut(text, ";");
    const std::string name(cut(terms, "="));
    if (std::ranges::find(names, name) == names.end() &&
        std::ranges::find(agentctl_names, name) == agentctl_names.end()) {
      return fail(Code::invalid_argument, "unknown failpoint '" + name + "'");
    }
    std::vector<Term>& point = points[name];
    do point.push_back(TRY(parse_term(cut(terms, "->"))));
    while (!terms.empty());
  }
  CHECK(failpoint_hook == nullptr, "armed once");
  armed().points = std::move(points);
  failpoint_hook = hit;
  return {};
}

}  // namespace perdure
