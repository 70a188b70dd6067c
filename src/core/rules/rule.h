// Typed permission rules: which of an agent's questions are answered in advance, and how. Pure: the
// verdict depends only on rule, session and question. The question's details come from the agent
// and are trusted, so a rule is a convenience, not a sandbox. The bias: anything unclear never
// matches an allow rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "core/rules/shell_words.h"
#include "core/session/values.h"

namespace perdure {

inline constexpr std::int64_t typed_rule_version = 1;

enum class RuleEffect { allow, ask, deny };
ENUM_TEXT(RuleEffect, "allow", "ask", "deny");

// Every field that is set must match. Fields are text, so that rules of later versions can be read:
// such a rule never allows, and a person answers the questions that it may concern.
struct TypedRule {
  std::string id;  // rule_<ulid>
  std::int64_t version = typed_rule_version;
  std::string effect;              // allow, ask, deny
  std::vector<std::string> tools;  // kinds of ACP tools: read, edit, execute …; empty: any
  std::string path;                // workspace, outside, or an absolute folder; empty: any
  Words argv;                      // the command's first words; empty: any
  std::string agent;               // empty: every agent
  SessionId session;               // null: every session
  std::string folder;              // sessions that work in or below it; empty: any
  std::string option_kind;         // empty: allow_once or reject_once
  Timestamp created;
  std::string by;
  bool operator==(const TypedRule&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("rule_version", self.version);
    visit("effect", self.effect);
    visit("tools", self.tools);
    visit("path", self.path);
    visit("argv", self.argv);
    visit("agent", self.agent);
    visit("session_id", self.session);
    visit("folder", self.folder);
    visit("option_kind", self.option_kind);
    visit("created", self.created);
    visit("by", self.by);
  }
};

// The subject of a question, as reported by its agent (core/wire/question/question.h reads it).
struct Question {
  std::string tool_kind;       // empty: not reported
  std::string command;         // for people; empty: no command involved
  std::optional<Words> words;  // of a fully understood simple command
  std::vector<Words> within;   // every command that it may run
  std::vector<std::string> paths;
  bool paths_are_all = false;  // false: it may touch more than `paths`
  bool changes_files = false;  // it brings a diff
  std::string cwd;             // of the command; empty: not told
  bool is_clear = true;        // false: it says more than is understood, so nothing allows it
  bool operator==(const Question&) const = default;
};

// The session that asks the question.
struct RuleScene {
  std::string agent;
  SessionId session;
  std::string cwd;
};

// invalid_argument: the message states what is wrong and what to write instead.
Result<> check_typed_rule(const TypedRule& rule);

// yes: the rule applies. unclear: a deny or ask rule might apply, so a person decides.
enum class RuleMatch { no, yes, unclear };
RuleMatch match_rule(const TypedRule& rule, const RuleScene& scene, const Question& question);

// Whether the rule's path affects the verdict, so that symlinks matter.
bool looks_at_paths(const TypedRule& rule, const RuleScene& scene, const Question& question);

// The kind of option that the rule chooses; empty: a person decides.
std::string chosen_option_kind(const TypedRule& rule);

// The combined verdict of a session's rules: deny beats ask, ask beats allow.
struct RuleVerdict {
  enum class Kind { none, allow, ask, deny };
  Kind kind = Kind::none;
  const TypedRule* rule = nullptr;  // of allow and deny
  // Of allow: what must be reachable without a symlink, paths and the folder of a command.
  std::vector<std::string> look_ups;
};
RuleVerdict judge(const std::vector<const TypedRule*>& rules, const RuleScene& scene,
                  const Question& question);

// The absolute path without `.`, `..` and doubled slashes, from its text alone. Absent if the path
// may mean something else: empty, or with `~`, `$`, a backslash, a scheme or a control character.
std::optional<std::string> plain_path(std::string_view path, std::string_view cwd);
// Whether the path is the folder or lies below it. Both as returned by plain_path().
bool is_below(std::string_view path, std::string_view folder);

// "allow `npm test` in /srv/me/app"
std::string rule_text(const TypedRule& rule);

// Rules to offer when a person allows this question; those for the project come before those for
// the session. Each passes check_typed_rule() and matches the question. `text` is for a button.
struct RuleOffer {
  std::string text;
  TypedRule rule;
};
std::vector<RuleOffer> offer_rules(const RuleScene& scene, const Question& question);

}  // namespace perdure
