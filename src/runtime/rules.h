// Answers questions that a permission rule of the node names exactly (G7). Everything else is left
// to a person: no rule, two rules that disagree, an option that is not there or there twice, a
// question that is not kept whole.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "runtime/node.h"
#include "runtime/runtime.h"

namespace perdure {

struct RuleChoice {
  std::string rule;       // its id
  std::string option_id;  // empty: a person is asked
};

// A function of what is given: the same question gets the same answer after a crash. A rule speaks
// of questions that were asked after it was made, never of one that was open already.
RuleChoice choose_by_rule(const NodeState& node, const State& state, const Permission& asked);

class RuleAnswerer {
 public:
  // Both outlive it. Answers as `rule:<id>`, once; the machine takes the first answer.
  RuleAnswerer(Runtime& runtime, Node& node);
  ~RuleAnswerer();
  RuleAnswerer(const RuleAnswerer&) = delete;
  RuleAnswerer& operator=(const RuleAnswerer&) = delete;

 private:
  void look_at(SessionId session);

  Runtime& runtime_;
  Node& node_;
  std::uint64_t watch_;
  std::set<PermissionId> answering_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
