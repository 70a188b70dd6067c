// perdure-testagent: the scripted test agent as a program that speaks ACP on stdio. Its behaviour
// is in testing/agent/test_agent.h; docs/testagent.md lists the switches and the verbs.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "base/result.h"
#include "testing/agent/cli/agent_process.h"
#include "testing/agent/cli/folder_home.h"
#include "testing/agent/test_agent.h"

namespace perdure::testagent {
namespace {

constexpr int exit_usage = 64;
constexpr std::string_view usage_text =
    "usage: perdure-testagent [--home FOLDER] [--switch NAME[=VALUE]]... [--scenario FILE]\n"
    "                         [--seed N] [--lock NAME] [--list-switches]\n"
    "\n"
    "Speaks ACP on stdin and stdout. The home is $PERDURE_TESTAGENT_HOME or\n"
    "~/.perdure-testagent unless given.\n"
    "\n"
    "example: perdure-testagent --home /tmp/agent --switch crash_at=12\n";

struct Options {
  TestAgentSetup setup;
  std::string home;
  bool is_inner = false;  // started by a launcher of this program
  bool sleeps = false;
  bool lists_switches = false;
};

Result<> read_scenario(Options& options, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::not_found, "there is no scenario file " + path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  options.setup.switches = TRY(parse_scenario(text));
  return {};
}

Result<> take_value(Options& options, std::string_view flag, const std::string& value) {
  if (flag == "--home") {
    options.home = value;
  } else if (flag == "--switch") {
    TRY_VOID(apply_switch(options.setup.switches, value));
  } else if (flag == "--scenario") {
    TRY_VOID(read_scenario(options, value));
  } else if (flag == "--seed") {
    options.setup.seed = std::strtoull(value.c_str(), nullptr, 10);
  } else if (flag == "--lock") {
    options.setup.lock = value;
  } else {
    return fail(Code::invalid_argument, "there is no option " + std::string(flag));
  }
  return {};
}

Result<Options> parse_options(const std::vector<std::string>& words) {
  Options options;
  const auto pid = static_cast<std::uint64_t>(getpid());
  options.setup.seed = static_cast<std::uint64_t>(steady_wall_ms()) * 100'000 + pid;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--inner") {
      options.is_inner = true;
    } else if (words[i] == "--sleep" || words[i] == "--sleep-on") {
      options.sleeps = true;
      if (words[i] == "--sleep-on") std::signal(SIGTERM, SIG_IGN);
    } else if (words[i] == "--list-switches") {
      options.lists_switches = true;
    } else if (i + 1 < words.size()) {
      TRY_VOID(take_value(options, words[i], words[i + 1]));
      ++i;
    } else {
      return fail(Code::invalid_argument, words[i] + " is unknown or needs a value");
    }
  }
  const char* set = std::getenv("PERDURE_TESTAGENT_HOME");
  const char* user = std::getenv("HOME");
  if (options.home.empty() && set) options.home = set;
  if (options.home.empty() && user) options.home = std::string(user) + "/.perdure-testagent";
  if (options.home.empty()) return fail(Code::invalid_argument, "no --home, and HOME is not set");
  return options;
}

// The launcher of `fork_child=reexec`: waits for the actual agent and ends the same way. It
// forwards no signals, which makes it a trap.
int launch(std::vector<std::string> words) {
  words.emplace_back("--inner");
  const int pid = start_again(words, ChildKind::reexec);
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run(const std::vector<std::string>& words) {
  auto options = parse_options(words);
  if (!options) {
    std::fprintf(stderr, "perdure-testagent: %s\n\n%s", options.error().message().c_str(),
                 std::string(usage_text).c_str());
    return exit_usage;
  }
  if (options->lists_switches) {
    for (const std::string_view name : switch_names()) std::puts(std::string(name).c_str());
    return 0;
  }
  if (options->sleeps) {
    while (true) pause();
  }
  if (options->setup.switches.fork_child == ChildKind::reexec && !options->is_inner) {
    return launch(words);
  }
  take_signals();
  options->setup.now_ms = steady_wall_ms();
  FolderHome home(options->home);
  TestAgent agent(std::move(options->setup), home);
  return run_agent(agent);
}

}  // namespace
}  // namespace perdure::testagent

int main(int argc, char** argv) {
  return perdure::testagent::run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
