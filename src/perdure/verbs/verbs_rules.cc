// Verbs on permission rules. A rule is tried on past questions before a person saves it.
#include <algorithm>

#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/question/rule_words.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

constexpr std::size_t all_lines = 1000;

std::string session_or_all(JsonView rule) {
  std::string words;
  if (rule["session_id"].is_there()) words += " in " + short_id(rule["session_id"].text());
  if (rule["agent"].is_there()) words += " of " + clean_line(rule["agent"].text());
  return words;
}

Outcome<int> rules_ls(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/rules"));
  if (call.print_json(answer)) return exit_done;
  const auto typed = answer["typed_rules"].items();
  const auto exact = answer["rules"].items();
  if (typed.empty() && exact.empty()) {
    call.print_line("There are no rules. `perdure approve --always` makes one from a question.");
    return exit_done;
  }
  for (const JsonView rule : typed) {
    call.print_line(rule["id"].text() + "  " + clean_line(rule["text"].text()));
  }
  for (const JsonView rule : exact) {
    call.print_line(rule["id"].text() + "  " + clean_line(rule["option_kind"].text()) + " \"" +
                    clean_line(rule["title"].text()) + "\"" + session_or_all(rule));
  }
  return exit_done;
}

void write_list(JsonWriter& out, std::string_view name, const std::vector<std::string>& words) {
  if (words.empty()) return;
  out.key(name).begin_array();
  for (const std::string& word : words) out.string(word);
  out.end_array();
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) words.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return words;
}

// The body for POST /api/rules from the words and options.
Outcome<std::string> read_rule(VerbCall& call) {
  const Args& args = call.args();
  const std::string effect = args.word(0);
  if (effect != "allow" && effect != "ask" && effect != "deny") {
    return usage("the first word is allow, ask or deny, not '" + clean_line(effect) + "'");
  }
  JsonWriter out;
  out.begin_object();
  if (const auto title = args.value("title")) {
    if (effect == "ask") return usage("a rule with --title allows or denies");
    out.key("title").string(*title).key("option_kind");
    out.string(effect == "allow" ? "allow_once" : "reject_once");
  } else {
    out.key("effect").string(effect);
  }
  write_list(out, "tools", split_at_commas(args.value("tool").value_or("")));
  write_list(out, "argv", {args.words().begin() + 1, args.words().end()});
  if (const auto path = args.value("path")) {
    const bool is_word = *path == "workspace" || *path == "outside";
    out.key("path").string(is_word ? *path : call.whole_path(*path));
  }
  if (const auto agent = args.value("agent")) out.key("agent").string(*agent);
  if (const auto folder = args.value("folder")) {
    out.key("folder").string(call.whole_path(*folder));
  }
  if (const auto session = args.value("session")) {
    out.key("session_id").string(TRY(call.session(*session)).id);
  }
  return std::move(out.end_object()).take();
}

Outcome<int> rules_add(VerbCall& call) {
  const std::string body = TRY(read_rule(call));
  if (!TRY(confirm_rule(call, body))) {
    call.remark("No rule was added.");
    return exit_refused;
  }
  const Answered answer = TRY(call.change({.path = "/api/rules", .body = body}));
  if (call.print_json(answer)) return exit_done;
  print_trial_of(call, answer);
  const std::string text = answer["rule"]["text"].text();
  call.print_line(answer["rule"]["id"].text() + (text.empty() ? "" : "  " + clean_line(text)));
  return exit_done;
}

Outcome<int> rules_test(VerbCall& call) {
  const std::string body = TRY(read_rule(call));
  const auto days = TRY(call.args().number("days"));
  const Answered trial = TRY(try_rule(call, body, days.value_or(30)));
  if (!call.print_json(trial)) print_trial(call, trial.view(), all_lines);
  return exit_done;
}

Outcome<int> rules_rm(VerbCall& call) {
  const std::string id = call.args().word(0);
  const Answered answer = TRY(
      call.change({.path = "/api/rules/" + encode_segment(id), .body = "", .method = "DELETE"}));
  if (!call.print_json(answer)) call.print_line("removed");
  return exit_done;
}

std::vector<Option> rule_options() {
  return {
      {.name = "tool",
       .value_name = "KINDS",
       .help = "read, edit, delete, move, search, execute, fetch …, with commas between"},
      {.name = "path",
       .value_name = "WHERE",
       .help = "workspace, outside, or a folder: where the paths are",
       .completes = Completes::file},
      {.name = "agent",
       .value_name = "NAME",
       .help = "only this agent",
       .completes = Completes::agent},
      {.name = "session",
       .value_name = "SESSION",
       .help = "only this session",
       .completes = Completes::session},
      {.name = "folder",
       .value_name = "FOLDER",
       .help = "only sessions that work in it or below",
       .completes = Completes::file},
  };
}

}  // namespace

std::vector<Verb> rule_verbs() {
  const std::vector<Positional> words = {{"EFFECT", Count::one}, {"ARGV", Count::any}};
  std::vector<Option> adding = rule_options();
  adding.push_back({.name = "title",
                    .value_name = "TEXT",
                    .help = "a question with exactly this title, instead of the others"});
  adding.push_back({.name = "yes", .letter = 'y', .help = "add it without confirmation"});
  std::vector<Option> testing = rule_options();
  testing.push_back({.name = "days", .value_name = "N", .help = "how far back; 30 without it"});
  return {
      {.name = "rules ls",
       .group = Group::decide,
       .summary = "list the permission rules",
       .example = "perdure rules ls",
       .run = rules_ls},
      {.name = "rules add",
       .group = Group::decide,
       .summary = "answer questions of a kind from now on",
       .positionals = words,
       .options = adding,
       .detail = "EFFECT is allow, ask or deny; deny beats ask beats allow. ARGV is a command's "
                 "first words: an allow rule matches only a plain command that begins with them, "
                 "a deny rule matches any part of a command. First tries the rule on the "
                 "questions of the last 30 days and asks; with --yes it shows the result with "
                 "the rule that was added.",
       .example = "perdure rules add allow --folder . -- npm test\n"
                  "perdure rules add deny --tool edit,delete --path outside",
       .run = rules_add},
      {.name = "rules test",
       .group = Group::decide,
       .summary = "show which past questions a rule would have decided",
       .positionals = words,
       .options = testing,
       .example = "perdure rules test allow --folder . -- npm test",
       .run = rules_test},
      {.name = "rules rm",
       .group = Group::decide,
       .summary = "remove a permission rule",
       .positionals = {{"RULE", Count::one}},
       .example = "perdure rules rm rule_01m0",
       .run = rules_rm},
  };
}

}  // namespace perdure::cli
