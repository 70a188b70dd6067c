// The program `perdure`. It has no daemon yet, and every verb that would need one says so and
// fails: nothing here pretends.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "demo/demo_program.h"
#include "main/serve.h"

namespace perdure {
namespace {

// Exit codes that scripts rely on.
constexpr int exit_usage = 2;

constexpr std::string_view version = PERDURE_VERSION;

constexpr std::string_view usage_text =
    "usage: perdure VERB\n"
    "\n"
    "  about      this version, and what it does and does not do yet\n"
    "  version    the version alone\n"
    "  serve      the daemon (not in this build)\n"
    "\n"
    "example: perdure version\n";

constexpr std::string_view about_text =
    "This build has no daemon yet, so nothing is listening and there is no page to open.\n"
    "It will serve agent sessions on 127.0.0.1:7433: the journal, the session machine and the\n"
    "simulator that judges them come first. README.md says which parts exist today.\n";

void print(std::FILE* out, std::string_view text) { std::fwrite(text.data(), 1, text.size(), out); }

int demo_agent() {
  const demo::DemoFolders folders = demo::demo_folders_from_environment();
  if (folders.home.empty()) {
    print(stderr, "perdure demo-agent: neither PERDURE_DEMO_HOME nor HOME is set\n");
    return exit_usage;
  }
  return demo::demo_agent_main(folders);
}

int run_verb(std::string_view verb, const std::vector<std::string_view>& rest) {
  const bool wants_usage = !rest.empty() && (rest[0] == "--help" || rest[0] == "-h");
  if (verb == "help" || verb == "--help" || verb == "-h" || wants_usage) {
    print(stdout, usage_text);
    return 0;
  }
  if (verb == "version" || verb == "--version") {
    print(stdout, "perdure " + std::string(version) + "\n");
    return 0;
  }
  if (verb == "about") {
    print(stdout, "perdure " + std::string(version) + "\n");
    print(stdout, about_text);
    return 0;
  }
  // Not in the usage: started by the daemon, as any other agent is.
  if (verb == "demo-agent") return demo_agent();
  if (verb == "serve") {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    ServeOptions options{.program = program,
                         .agentctl = std::filesystem::path(program).parent_path() / "perdure-agentctl"};
    for (const std::string_view word : rest) options.background |= word == "--background";
    return serve(options);
  }
  print(stderr, "perdure: there is no verb '" + std::string(verb) + "'\n\n");
  print(stderr, usage_text);
  return exit_usage;
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.empty()) {
    perdure::print(stderr, perdure::usage_text);
    return perdure::exit_usage;
  }
  return perdure::run_verb(words.front(), {words.begin() + 1, words.end()});
}
