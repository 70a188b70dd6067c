// Typed permission rules: which questions of an agent are answered in advance, and how. Pure: a
// rule, a session and a question go in, a verdict comes out. What the question says of itself comes
// from the agent and is believed, so a rule is a convenience and no sandbox. The one bias: whatever
// is unclear never matches an allow rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "session/shell_words.h"
#include "session/values.h"

namespace perdure {

inline constexpr std::int64_t typed_rule_version = 1;

enum class RuleEffect { allow, ask, deny };
ENUM_TEXT(RuleEffect, "allow", "ask", "deny");

// Every given field must hold. Texts, so that a rule of a later version can be read: it then never
// allows, and a question that it may concern is a person's.
struct TypedRule {
  std::string id;  // rule_<ulid>
  std::int64_t version = typed_rule_version;
  std::string effect;              // allow, ask, deny
  std::vector<std::string> tools;  // kinds of ACP tools: read, edit, execute …; empty: any
  std::string path;                // workspace, outside, or an absolute folder; empty: any
  Words argv;                      // the command's first words; empty: any
  std::string agent;               // empty: every agent
  SessionId session;               // null: every session
  std::string folder;              // sessions that work in or below it; empty: anywhere
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

// What a question is about, as its agent tells it (wire/question.h reads it).
struct Question {
  std::string tool_kind;       // empty: not told
  std::string command;         // for people; empty: it is about no command
  std::optional<Words> words;  // of a simple command that is fully understood
  std::vector<Words> within;   // every command that it may run
  std::vector<std::string> paths;
  bool paths_are_all = false;  // false: it may touch more than `paths`
  bool changes_files = false;  // it brings a diff
  std::string cwd;             // of the command; empty: not told
  bool is_clear = true;        // false: it says more than is understood, so nothing allows it
  bool operator==(const Question&) const = default;
};

// The session that asks.
struct RuleScene {
  std::string agent;
  SessionId session;
  std::string cwd;
};

// invalid_argument says what is wrong and what to write instead.
Result<> check_typed_rule(const TypedRule& rule);

// yes: it applies. unclear: only of deny and ask, when the question may be one of theirs; a person
// then decides.
enum class RuleMatch { no, yes, unclear };
RuleMatch match_rule(const TypedRule& rule, const RuleScene& scene, const Question& question);

// Whether the rule's path decides about this question, so that symlinks matter.
bool looks_at_paths(const TypedRule& rule, const RuleScene& scene, const Question& question);

// The kind of option that the rule chooses; empty: a person is asked.
std::string chosen_option_kind(const TypedRule& rule);

// What a session's rules say together: deny beats ask beats allow.
struct RuleVerdict {
  enum class Kind { none, allow, ask, deny };
  Kind kind = Kind::none;
  const TypedRule* rule = nullptr;  // of allow and deny
  // Of allow: what must be reached without a symlink, paths and the folder of a command.
  std::vector<std::string> look_ups;
};
RuleVerdict judge(const std::vector<const TypedRule*>& rules, const RuleScene& scene,
                  const Question& question);

// The absolute path without `.`, `..` and doubled slashes, by its text alone. Nothing for a path
// that may mean another: empty, with `~`, `$`, a backslash, a scheme, or a control character.
std::optional<std::string> plain_path(std::string_view path, std::string_view cwd);
// Whether the first, both as plain_path() gives them, is the folder or lies below it.
bool is_below(std::string_view path, std::string_view folder);

// "allow `npm test` in /srv/me/app"
std::string rule_text(const TypedRule& rule);

// Rules that a person who allows this question may want to keep, for the project before those for
// the session. Each passes check_typed_rule() and matches the question. `text` is for a button.
struct RuleOffer {
  std::string text;
  TypedRule rule;
};
std::vector<RuleOffer> offer_rules(const RuleScene& scene, const Question& question);

}  // namespace perdure
