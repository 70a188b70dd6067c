#include "core/rules/rule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "core/rules/rule_limits.h"

namespace perdure {
namespace {

constexpr auto tool_kinds =
    std::to_array<std::string_view>({"read", "edit", "delete", "move", "search", "execute", "think",
                                     "fetch", "switch_mode", "other"});
constexpr auto changing_kinds = std::to_array<std::string_view>({"edit", "delete", "move"});

bool is_one_of(std::string_view text, auto&& texts) {
  return std::ranges::find(texts, text) != std::ranges::end(texts);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }
bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// `file:`, `https:`: a tool may not read it as a relative path.
bool has_scheme(std::string_view path) {
  const std::size_t colon = path.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  return std::ranges::all_of(path.substr(0, colon), is_letter);
}

bool may_mean_another(std::string_view path) {
  return path.empty() || path.starts_with('~') || path.contains('$') || path.contains('\\') ||
         has_scheme(path) || std::ranges::any_of(path, is_control);
}

void append_parts(std::vector<std::string_view>& parts, std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

bool is_in_scope(const TypedRule& rule, const RuleScene& scene) {
  if (!rule.agent.empty() && rule.agent != scene.agent) return false;
  if (rule.session && rule.session != scene.session) return false;
  if (rule.folder.empty()) return true;
  const auto cwd = plain_path(scene.cwd, "");
  const auto folder = plain_path(rule.folder, "");
  return cwd && folder && is_below(*cwd, *folder);
}

bool is_changing(const Question& question) {
  return question.changes_files || is_one_of(question.tool_kind, changing_kinds);
}

// For deny and ask: a question matches each kind that it shows signs of.
bool may_be_of(const TypedRule& rule, const Question& question) {
  if (rule.tools.empty() || is_one_of(question.tool_kind, rule.tools)) return true;
  if (!question.command.empty() && is_one_of("execute", rule.tools)) return true;
  return question.changes_files && is_one_of("edit", rule.tools);
}

// The folder that the rule's path refers to; empty: it cannot be named.
std::string folder_of(const TypedRule& rule, const RuleScene& scene) {
  const bool is_named = rule.path.starts_with('/');
  return plain_path(is_named ? rule.path : scene.cwd, "").value_or(std::string());
}

enum class Where { inside, outside, unclear };

Where where_is(std::string_view path, const std::string& folder, const RuleScene& scene) {
  const auto plain = plain_path(path, scene.cwd);
  if (!plain || folder.empty()) return Where::unclear;
  if (!is_below(*plain, folder)) return Where::outside;
  // Below the folder, a look-alike letter would hide which file is meant.
  return is_plain_ascii(std::string_view(*plain).substr(folder.size())) ? Where::inside
                                                                        : Where::unclear;
}

bool all_inside(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  if (question.paths.empty() || !question.paths_are_all) return false;
  const std::string folder = folder_of(rule, scene);
  const std::string workspace = plain_path(scene.cwd, "").value_or(std::string());
  return std::ranges::all_of(question.paths, [&](const std::string& path) {
    return where_is(path, folder, scene) == Where::inside &&
           where_is(path, workspace, scene) == Where::inside;
  });
}

// Questions of other kinds need not name a path.
bool is_about_files(const Question& question) {
  static constexpr auto kinds =
      std::to_array<std::string_view>({"", "read", "edit", "delete", "move", "search"});
  return question.changes_files ||
         (question.command.empty() && is_one_of(question.tool_kind, kinds));
}

RuleMatch match_any_path(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  const std::string folder = folder_of(rule, scene);
  const Where wanted = rule.path == "outside" ? Where::outside : Where::inside;
  bool unclear = is_about_files(question) && (question.paths.empty() || !question.paths_are_all);
  for (const std::string& path : question.paths) {
    const Where where = where_is(path, folder, scene);
    if (where == wanted) return RuleMatch::yes;
    unclear |= where == Where::unclear;
  }
  return unclear ? RuleMatch::unclear : RuleMatch::no;
}

// git executes files in its own folder, so writing there amounts to running a command.
bool touches_git(const Question& question) {
  return std::ranges::any_of(question.paths, [](const std::string& path) {
    std::string lower = path;
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    std::vector<std::string_view> parts;
    append_parts(parts, lower);
    return is_one_of(".git", parts);
  });
}

bool command_is_allowed(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  if (rule.argv.empty() || !question.words || question.changes_files) return false;
  if (question.tool_kind != "execute" || !has_prefix(*question.words, rule.argv)) return false;
  if (question.cwd.empty()) return true;
  const auto home = plain_path(scene.cwd, "");
  return home && where_is(question.cwd, *home, scene) == Where::inside;
}

bool is_allowed(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  if (question.tool_kind.empty() || !question.is_clear) return false;
  if (!rule.tools.empty() && !is_one_of(question.tool_kind, rule.tools)) return false;
  if (!rule.argv.empty() || !question.command.empty() || question.tool_kind == "execute") {
    return command_is_allowed(rule, scene, question);
  }
  if (rule.tools.empty()) return false;
  const bool says_change = is_one_of(question.tool_kind, changing_kinds);
  if (question.changes_files && !says_change) return false;
  if (is_changing(question) && touches_git(question)) return false;
  return rule.path.empty() || all_inside(rule, scene, question);
}

RuleMatch restricts(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  if (rule.version > typed_rule_version || !enum_parse<RuleEffect>(rule.effect)) {
    return RuleMatch::unclear;
  }
  if (!may_be_of(rule, question)) {
    return question.tool_kind.empty() ? RuleMatch::unclear : RuleMatch::no;
  }
  if (!rule.argv.empty()) {
    const bool found = std::ranges::any_of(
        question.within, [&](const Words& words) { return has_program_prefix(words, rule.argv); });
    if (!found) return RuleMatch::no;
  }
  return rule.path.empty() ? RuleMatch::yes : match_any_path(rule, scene, question);
}

Result<> bad(std::string what) { return fail(Code::invalid_argument, std::move(what)); }

Result<> check_texts(const TypedRule& rule) {
  if (rule.agent.size() > node_name_bytes_max) return bad("agent is too long");
  if (rule.path.size() > node_name_bytes_max) return bad("path is too long");
  if (rule.folder.size() > node_name_bytes_max) return bad("folder is too long");
  if (rule.tools.size() > tool_kinds.size()) return bad("tools names a kind twice");
  if (rule.argv.size() > rule_words_max) {
    return bad("argv has more than " + std::to_string(rule_words_max) + " words");
  }
  for (const std::string& word : rule.argv) {
    const bool fits = !word.empty() && word.size() <= rule_word_bytes_max && is_plain_ascii(word);
    if (!fits) return bad("argv: each word is plain ASCII and not empty");
  }
  for (const std::string& kind : rule.tools) {
    if (!is_one_of(kind, tool_kinds)) {
      return bad("tools: '" + kind.substr(0, 40) +
                 "' is not a kind. Use read, edit, delete, move, search, execute, think, fetch, "
                 "switch_mode or other");
    }
  }
  return {};
}

Result<> check_places(const TypedRule& rule) {
  const bool is_word = rule.path.empty() || rule.path == "workspace" || rule.path == "outside";
  if (!is_word && (!rule.path.starts_with('/') || !plain_path(rule.path, ""))) {
    return bad("path: expected workspace, outside or an absolute folder");
  }
  if (!rule.folder.empty() && (!rule.folder.starts_with('/') || !plain_path(rule.folder, ""))) {
    return bad("folder: expected an absolute folder");
  }
  return {};
}

Result<> check_allow(const TypedRule& rule) {
  if (rule.path == "outside") {
    return bad("path: an allow rule needs workspace or a folder; outside is too broad");
  }
  if (!rule.argv.empty()) {
    if (!rule.path.empty()) {
      return bad(
          "path: a command's arguments are not checked as paths; use folder to name the "
          "sessions");
    }
    if (!rule.tools.empty() && rule.tools != Words{"execute"}) {
      return bad("tools: a rule with argv is about execute");
    }
    if (runs_other_commands(rule.argv.front())) {
      return bad("argv: '" + rule.argv.front() +
                 "' runs other commands, so that this would allow any command");
    }
    if (!simple_command(rule.argv.front())) {
      return bad("argv: '" + rule.argv.front() + "' is not the plain name of a program");
    }
    return {};
  }
  if (rule.tools.empty()) return bad("an allow rule names tools or argv");
  if (is_one_of("execute", rule.tools)) {
    return bad("argv: an allow rule for commands names the command and its first words");
  }
  if (is_one_of("other", rule.tools) || is_one_of("switch_mode", rule.tools)) {
    return bad("tools: other and switch_mode can be anything; allow such a question by its title");
  }
  const bool changes = std::ranges::any_of(
      rule.tools, [](const std::string& kind) { return is_one_of(kind, changing_kinds); });
  if (changes && rule.path.empty()) {
    return bad("path: a rule that allows changes names workspace or a folder");
  }
  return {};
}

void append_word(std::string& text, const std::string& word) {
  if (!text.empty()) text += ' ';
  const bool plain = simple_command("x " + word) == Words{"x", word};
  const char quote = word.contains('\'') ? '"' : '\'';
  text += plain ? word : quote + word + quote;
}

std::string command_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) append_word(text, word);
  return "`" + text + "`";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

bool says_what(const std::string& word) {
  return !word.empty() && is_letter(word.front()) && !word.contains('/') && !word.contains('.');
}

// The first words, which show the action: `npm test`, `git log`, `npm run build`. Empty: only the
// whole command shows it. A program's name alone never does: it may run anything.
Words head_of(const Words& words) {
  static constexpr auto runners =
      std::to_array<std::string_view>({"run", "exec", "x", "dlx", "compose", "run-script"});
  if (words.size() < 2 || !says_what(words[1])) return {};
  if (!is_one_of(words[1], runners)) return {words[0], words[1]};
  if (words.size() < 3 || !says_what(words[2])) return {};
  return {words[0], words[1], words[2]};
}

std::string deed_words(const std::string& kind) {
  if (kind == "edit") return "changing files";
  if (kind == "delete") return "deleting files";
  if (kind == "move") return "moving files";
  if (kind == "read") return "reading files";
  if (kind == "search") return "searching files";
  if (kind == "fetch") return "fetching from the network";
  return kind;
}

void offer(std::vector<RuleOffer>& offers, TypedRule rule, const RuleScene& scene,
           const Question& question, const std::string& what) {
  const bool fits = check_typed_rule(rule) && match_rule(rule, scene, question) == RuleMatch::yes;
  if (!fits) return;
  const std::string where = rule.session ? "in this session" : "in this project";
  offers.push_back({"Always allow " + what + ' ' + where, std::move(rule)});
}

}  // namespace

std::optional<std::string> plain_path(std::string_view path, std::string_view cwd) {
  if (may_mean_another(path)) return std::nullopt;
  std::vector<std::string_view> parts;
  if (!path.starts_with('/')) {
    if (!cwd.starts_with('/') || may_mean_another(cwd)) return std::nullopt;
    append_parts(parts, cwd);
  }
  append_parts(parts, path);
  std::string plain;
  for (const std::string_view part : parts) plain.append("/").append(part);
  return plain.empty() ? "/" : plain;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<> check_typed_rule(const TypedRule& rule) {
  const auto effect = enum_parse<RuleEffect>(rule.effect);
  if (!effect) return bad("effect: expected allow, ask or deny");
  TRY_VOID(check_texts(rule));
  TRY_VOID(check_places(rule));
  if (!rule.option_kind.empty()) {
    const std::string start = *effect == RuleEffect::allow ? "allow_" : "reject_";
    const bool fits = *effect != RuleEffect::ask &&
                      (rule.option_kind == start + "once" || rule.option_kind == start + "always");
    if (!fits) return bad("option_kind: it does not fit the effect " + rule.effect);
  }
  if (*effect == RuleEffect::allow) return check_allow(rule);
  const bool is_about_something = !rule.tools.empty() || !rule.path.empty() || !rule.argv.empty() ||
                                  !rule.agent.empty() || !rule.folder.empty() || rule.session;
  if (!is_about_something)
    return bad("a rule names tools, path, argv, agent, folder or session_id");
  return {};
}

RuleMatch match_rule(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  if (!is_in_scope(rule, scene)) return RuleMatch::no;
  if (rule.effect != "allow" || rule.version > typed_rule_version) {
    return restricts(rule, scene, question);
  }
  return is_allowed(rule, scene, question) ? RuleMatch::yes : RuleMatch::no;
}

bool looks_at_paths(const TypedRule& rule, const RuleScene& scene, const Question& question) {
  return !rule.path.empty() && is_in_scope(rule, scene) && may_be_of(rule, question);
}

std::string chosen_option_kind(const TypedRule& rule) {
  if (!rule.option_kind.empty()) return rule.option_kind;
  if (rule.effect == "allow") return "allow_once";
  return rule.effect == "deny" ? "reject_once" : "";
}

RuleVerdict judge(const std::vector<const TypedRule*>& rules, const RuleScene& scene,
                  const Question& question) {
  RuleVerdict verdict;
  bool paths_matter = false;
  for (const TypedRule* const rule : rules) {
    paths_matter |= looks_at_paths(*rule, scene, question);
    const RuleMatch match = match_rule(*rule, scene, question);
    if (match == RuleMatch::no) continue;
    const auto kind = match == RuleMatch::unclear || rule->effect == "ask" ? RuleVerdict::Kind::ask
                      : rule->effect == "deny"                             ? RuleVerdict::Kind::deny
                                               : RuleVerdict::Kind::allow;
    if (kind <= verdict.kind) continue;
    verdict.kind = kind;
    verdict.rule = rule;
  }
  if (verdict.kind != RuleVerdict::Kind::allow) return verdict;
  if (paths_matter) verdict.look_ups = question.paths;
  if (!question.cwd.empty()) verdict.look_ups.push_back(question.cwd);
  return verdict;
}

std::string rule_text(const TypedRule& rule) {
  std::string text = rule.effect + ' ';
  if (!rule.argv.empty()) {
    text += command_text(rule.argv);
  } else {
    text += rule.tools.empty() ? "everything" : listed(rule.tools);
  }
  if (rule.path == "workspace") text += " inside the workspace";
  if (rule.path == "outside") text += " outside the workspace";
  if (rule.path.starts_with('/')) text += " below " + rule.path;
  if (!rule.agent.empty()) text += " of " + rule.agent;
  if (rule.session) text += " in session " + rule.session.text();
  if (!rule.folder.empty()) text += " in " + rule.folder;
  return text;
}

std::vector<RuleOffer> offer_rules(const RuleScene& scene, const Question& question) {
  std::vector<RuleOffer> offers;
  TypedRule project{.effect = "allow", .folder = plain_path(scene.cwd, "").value_or("")};
  TypedRule session{.effect = "allow", .session = scene.session};
  std::vector<TypedRule> scopes;
  if (!project.folder.empty() && project.folder != "/") scopes.push_back(project);
  scopes.push_back(session);
  for (const TypedRule& scope : scopes) {
    TypedRule rule = scope;
    if (question.words) {
      rule.argv = *question.words;
      const Words head = head_of(*question.words);
      offer(offers, rule, scene, question, command_text(rule.argv));
      if (head.empty() || head.size() == rule.argv.size()) continue;
      rule.argv = head;
      offer(offers, rule, scene, question, command_text(rule.argv));
      continue;
    }
    rule.tools = {question.tool_kind};
    if (!question.paths.empty()) rule.path = "workspace";
    const std::string where = rule.path.empty() ? "" : " inside the workspace";
    offer(offers, rule, scene, question, deed_words(question.tool_kind) + where);
  }
  return offers;
}

}  // namespace perdure
