// Verbs for other programs, and help: help, completion, acp, and the shell scripts' query.
#include <algorithm>

#include "base/limits.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/call/completion.h"
#include "perdure/verbs/call/help.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

Outcome<int> help(VerbCall& call) {
  const std::string name = call.args().rest(0);
  if (name.empty()) {
    call.print(help_overview(all_verbs(), call.style()));
    return exit_done;
  }
  if (const Verb* verb = find_verb(all_verbs(), name)) {
    call.print(help_verb(*verb, call.style()));
    return exit_done;
  }
  // One word of a two-word verb: lists all verbs that start with it.
  bool has_found = false;
  for (const Verb& verb : all_verbs()) {
    if (!verb.name.starts_with(name + " ")) continue;
    call.print((has_found ? "\n" : "") + help_verb(verb, call.style()));
    has_found = true;
  }
  if (has_found) return exit_done;
  std::vector<std::string_view> names;
  for (const Verb& verb : all_verbs()) names.push_back(verb.name);
  const std::string near = nearest(name, names);
  return usage("unknown verb '" + clean_line(name) + "'" +
               (near.empty() ? "" : "; did you mean " + near + "?"));
}

Outcome<int> completion(VerbCall& call) {
  const std::string script = completion_script(call.args().word(0));
  if (script.empty()) return usage("there are completions for bash, zsh and fish");
  call.print(script);
  return exit_done;
}

// A word that needs no shell quoting.
bool is_plain(std::string_view word) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !word.empty() && word[0] != '-' && std::ranges::all_of(word, is_fine);
}

// People know sessions by title: also offers titles that match only one session.
void offer_titles(std::vector<Candidate>& sessions) {
  const std::vector<Candidate> ids = sessions;
  for (const auto& [id, title] : ids) {
    if (is_plain(title) && std::ranges::count(ids, title, &Candidate::about) == 1) {
      sessions.push_back({title, short_id(id)});
    }
  }
}

void offer_from_daemon(VerbCall& call, Completes more, std::vector<Candidate>& out) {
  const auto add = [&](const Answered& answer, std::string_view list, std::string_view id,
                       std::string_view about) {
    for (const JsonView item : answer[list].items()) {
      out.push_back({clean_line(item[id].text()), clean_line(item[about].text())});
    }
  };
  if (more == Completes::session) {
    if (const auto answer = call.get("/api/sessions")) {
      add(*answer, "sessions", "id", "title");
      offer_titles(out);
    }
  } else if (more == Completes::agent) {
    if (const auto answer = call.get("/api/agents")) add(*answer, "agents", "name", "title");
  } else if (more == Completes::token) {
    if (const auto answer = call.get("/api/tokens")) add(*answer, "tokens", "id", "name");
  } else if (more == Completes::permission) {
    if (const auto answer = call.get("/api/inbox")) add(*answer, "items", "perm_id", "text");
  }
}

Outcome<int> complete(VerbCall& call) {
  std::vector<std::string> words = call.args().words();
  if (words.empty()) words.emplace_back();
  Offer offer = complete_words(all_verbs(), words);
  const std::size_t known = offer.candidates.size();
  offer_from_daemon(call, offer.more, offer.candidates);
  for (std::size_t i = 0; i < offer.candidates.size(); ++i) {
    const Candidate& candidate = offer.candidates[i];
    if (candidate.word.empty() || (i >= known && !candidate.word.starts_with(words.back()))) {
      continue;
    }
    call.print_line(candidate.word + "\t" + candidate.about);
  }
  return exit_done;
}

Outcome<int> man(VerbCall& call) {
  call.print(man_page(all_verbs(), call.world().local.version));
  return exit_done;
}

Outcome<int> acp(VerbCall& call) {
  if (!call.world().local.acp) {
    return std::unexpected(Trouble::of(Error(Code::internal, "this build has no bridge")));
  }
  BridgeOptions options{.agent = call.args().value("agent").value_or(""), .session = {}};
  if (const std::string word = call.args().value("session").value_or(""); !word.empty()) {
    options.session = TRY(call.session(word)).id;
  }
  client::DaemonApi* const daemon = TRY(call.daemon());
  const BridgeWorld world{*daemon, [&call] { return call.revive(); }};
  return call.world().local.acp(world, options);
}

}  // namespace

std::vector<Verb> plumbing_verbs() {
  return {
      {.name = "help",
       .group = Group::plumbing,
       .summary = "explain a command",
       .positionals = {{"VERB", Count::any, Completes::verb}},
       .example = "perdure help resume",
       .needs = Needs::nothing,
       .run = help},
      {.name = "completion",
       .group = Group::plumbing,
       .summary = "print a shell completion script",
       .positionals = {{"SHELL", Count::one, Completes::shell}},
       .detail = "Completion asks a running daemon for at most 200 ms and never starts one.",
       .example = "source <(perdure completion bash)\n"
                  "perdure completion fish > ~/.config/fish/completions/perdure.fish",
       .needs = Needs::nothing,
       .run = completion},
      {.name = "acp",
       .group = Group::plumbing,
       .summary = "serve an editor over ACP on stdio",
       .options = {{.name = "agent",
                    .value_name = "NAME",
                    .help = "agent for new sessions (default: the configured one)",
                    .completes = Completes::agent},
                   {.name = "session",
                    .value_name = "SESSION",
                    .help = "use this session when the editor asks for a new one",
                    .completes = Completes::session}},
       .detail =
           "An editor starts it instead of an agent. It ends with the editor; sessions and their "
           "turns go on.",
       .example = "perdure acp --agent claude",
       .needs = Needs::daemon,
       .run = acp},
      {.name = "__complete",
       .group = Group::plumbing,
       .summary = "list completions for the last word",
       .positionals = {{"WORDS", Count::any}},
       .example = "perdure __complete -- att",
       .needs = Needs::running_daemon,
       .run = complete,
       .is_hidden = true},
      {.name = "__man",
       .group = Group::plumbing,
       .summary = "the manual page",
       .example = "perdure __man | man -l -",
       .needs = Needs::nothing,
       .run = man,
       .is_hidden = true},
  };
}

}  // namespace perdure::cli
