// Answers questions that a permission rule of the node decides: an exact rule, which names the
// question's title (G7), or a typed one (session/rule.h). Everything else is left to a person: no
// rule, two exact rules that disagree, an option that is not there or there twice, a question that
// is not kept whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/audit.h"
#include "runtime/node.h"
#include "runtime/runtime.h"

namespace perdure {

struct RuleChoice {
  std::string rule;       // its id
  std::string option_id;  // empty: a person is asked
  std::string option_kind;
  // Only if nothing on the way to these is a symlink.
  std::vector<std::string> look_ups = {};
};

// A function of what is given: the same question gets the same answer after a crash. A rule speaks
// of questions that were asked after it was made, never of one that was open already. Deny beats
// ask beats allow, whichever kind of rule says it. Without `question` typed rules allow nothing.
RuleChoice choose_by_rule(const NodeState& node, const State& state, const Permission& asked,
                          const std::optional<Question>& question);

// The only option of that kind; empty when there is none, or more than one, or the question was
// cut or left options out.
std::string option_of_kind(const Permission& asked, const std::string& kind);

class RuleAnswerer {
 public:
  // All outlive it. Answers as `rule:<id>`, once; the machine takes the first answer. With an audit
  // trail, only after the entry is on disk.
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
  std::set<PermissionId> for_people_;  // decided so under the rules of `rules_head_`
  std::uint64_t rules_head_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
