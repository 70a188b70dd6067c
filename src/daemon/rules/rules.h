// Answers questions by the node's permission rules: an exact rule, which names the question's title
// (G7), or a typed one (core/rules/rule.h). A person decides all others: no rule, two exact rules
// that disagree, an option that is missing or ambiguous, a question that is not stored whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/registry/node.h"
#include "daemon/runtime/audit/audit.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

struct RuleChoice {
  std::string rule;       // its id
  std::string option_id;  // empty: a person decides
  std::string option_kind;
  // Only if no path to these contains a symlink.
  std::vector<std::string> look_ups = {};
};

// A function of its arguments: the same question gets the same answer after a crash. A rule applies
// only to questions asked after it was created. Deny beats ask and ask beats allow, for both kinds
// of rule. Without `question`, typed rules allow nothing.
RuleChoice choose_by_rule(const NodeState& node, const State& state, const Permission& asked,
                          const std::optional<Question>& question);

// The only option of that kind; empty if there is none or more than one, or if the question was cut
// or options were omitted.
std::string option_of_kind(const Permission& asked, const std::string& kind);

class RuleAnswerer {
 public:
  // All arguments outlive it. Answers as `rule:<id>`, once; the machine accepts the first answer.
  // If there is an audit trail, only after the entry is on disk.
  RuleAnswerer(Runtime& runtime, Node& node, Workspaces& workspaces, Audit* audit = nullptr);
  ~RuleAnswerer();
  RuleAnswerer(const RuleAnswerer&) = delete;
  RuleAnswerer& operator=(const RuleAnswerer&) = delete;

 private:
  void look_at(SessionId session);
  RuleChoice choose(const State& state, const Permission& asked) const;
  void answer_after_look_up(const State& state, PermissionId permission, RuleChoice choice);
  void answer(SessionId session, PermissionId permission, const RuleChoice& choice);
  void submit(SessionId session, PermissionId permission, const RuleChoice& choice);

  Runtime& runtime_;
  Node& node_;
  Workspaces& workspaces_;
  Audit* const audit_;
  std::uint64_t watch_;
  std::set<PermissionId> answering_;
  std::set<PermissionId> for_people_;  // for a person, by the rules at `rules_head_`
  std::uint64_t rules_head_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
