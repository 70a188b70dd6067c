// Runs one command line: from its words to its exit code.
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/call/help.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/call/world.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

// The command that corresponds to an action of the API; empty if there is none.
std::string action_words(std::string_view action, const Verb& verb) {
  const bool has_session = !verb.positionals.empty() && verb.positionals[0].name == "SESSION";
  if (action == "agents") return "`perdure agents ls`";
  if (action == "verify") return "`perdure verify`";
  if (action == "upgrade") return "a newer Perdure";
  if (action == "retry") return "the same again in a moment";
  if (action == "open") return "a token in $PERDURE_TOKEN or --token-file";
  if (!has_session) return {};
  if (action == "unarchive") return "`perdure archive --undo SESSION`";
  if (action == "fork") return "`perdure fork SESSION`";
  if (action == "fresh") return "`perdure resume SESSION --how fresh`";
  if (action == "handover") return "`perdure resume SESSION --with AGENT`";
  if (action == "repair") return "`perdure repair SESSION`";
  if (action == "recreate") return "making the folder again";
  if (action == "rebind") return "`perdure resume SESSION --cwd FOLDER`";
  if (action == "prompt") return "`perdure send SESSION TEXT`";
  return {};
}

void tell(CliWorld& world, const Trouble& trouble, const ParsedCall* call) {
  if (call != nullptr && call->args.has("json")) {
    world.console.err(json_for_terminal(trouble.json()) + "\n");
    return;
  }
  std::string text = "perdure";
  if (call != nullptr && call->verb != nullptr) text += " " + std::string(call->verb->name);
  std::string message = clean_text(trouble.message);
  while (message.ends_with('\n')) message.pop_back();
  text += ": " + message + "\n";
  std::string actions;
  for (const std::string& action : trouble.actions) {
    if (call == nullptr || call->verb == nullptr) break;
    const std::string words = action_words(action, *call->verb);
    if (!words.empty()) actions += (actions.empty() ? "" : ", ") + words;
  }
  if (!actions.empty()) text += "What helps: " + actions + "\n";
  if (trouble.exit_code == exit_usage && call != nullptr && call->verb != nullptr) {
    text += "Usage: " + usage_line(*call->verb) +
            (call->verb->options.empty() ? "" : " [OPTIONS]") + "\n";
  }
  world.console.err(text);
}

}  // namespace

int run_cli(CliWorld& world, const std::vector<std::string>& words) {
  if (words.empty()) {
    world.console.err(help_overview(all_verbs(), Style()));
    return exit_usage;
  }
  const Outcome<ParsedCall> parsed = parse_words(all_verbs(), words);
  if (!parsed) {
    tell(world, parsed.error(), nullptr);
    return parsed.error().exit_code;
  }
  if (parsed->wants_help) {
    world.console.out(parsed->verb == nullptr ? help_overview(all_verbs(), world.console.style())
                                              : help_verb(*parsed->verb, world.console.style()));
    return exit_done;
  }
  VerbCall call(world, *parsed);
  const Outcome<int> outcome = parsed->verb->run(call);
  if (outcome) return *outcome;
  tell(world, outcome.error(), &*parsed);
  return outcome.error().exit_code;
}

}  // namespace perdure::cli
