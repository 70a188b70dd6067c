#include "runtime/rules.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace perdure {
namespace {

// What was cut, or offers more than is shown, is not what a rule has named.
bool is_whole(const Permission& asked) {
  return !may_be_cut(asked.title) && asked.options_left_out == 0;
}

bool matches(const PermissionRule& rule, const State& state, const Permission& asked) {
  return !rule.title.empty() && rule.title == asked.title &&
         (rule.agent.empty() || rule.agent == state.agent.name) &&
         (!rule.session || rule.session == state.id) && rule.created <= asked.asked;
}

// The only option of that kind; empty when there is none, or more than one.
std::string option_of_kind(const Permission& asked, const std::string& kind) {
  if (std::ranges::count(asked.options, kind, &PermissionOption::kind) != 1) return "";
  return std::ranges::find(asked.options, kind, &PermissionOption::kind)->id;
}

}  // namespace

RuleChoice choose_by_rule(const NodeState& node, const State& state, const Permission& asked) {
  RuleChoice choice;
  if (!is_whole(asked)) return choice;
  for (const auto& [id, rule] : node.rules) {
    if (!matches(rule, state, asked)) continue;
    const std::string option = option_of_kind(asked, rule.option_kind);
    if (option.empty()) return {};
    if (!choice.option_id.empty() && choice.option_id != option) return {};
    if (choice.option_id.empty()) choice = {id, option};
  }
  return choice;
}

RuleAnswerer::RuleAnswerer(Runtime& runtime, Node& node)
    : runtime_(runtime),
      node_(node),
      watch_(runtime.watch([this](SessionId session) { look_at(session); })) {}

RuleAnswerer::~RuleAnswerer() { runtime_.unwatch(watch_); }

void RuleAnswerer::look_at(SessionId session) {
  if (node_.state().rules.empty()) return;
  const State* const state = runtime_.state_in_memory(session);
  if (!state || state->permissions.empty()) return;
  std::vector<std::pair<PermissionId, RuleChoice>> chosen;
  for (const auto& [id, asked] : state->permissions) {
    if (answering_.contains(id)) continue;
    RuleChoice choice = choose_by_rule(node_.state(), *state, asked);
    if (!choice.option_id.empty()) chosen.emplace_back(id, std::move(choice));
  }
  for (const auto& [id, choice] : chosen) {
    answering_.insert(id);
    runtime_.submit(session,
                    {.by = "rule:" + choice.rule, .body = AnswerPermission{id, choice.option_id}},
                    [this, id, alive = std::weak_ptr<bool>(alive_)](const Result<Reply>&) {
                      // Refused, the question stays open for a person, or for the next look.
                      if (!alive.expired()) answering_.erase(id);
                    });
  }
}

}  // namespace perdure
