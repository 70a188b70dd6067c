#include "daemon/rules/rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/rules/rule_look_up.h"
#include "daemon/rules/rule_questions.h"

namespace perdure {
namespace {

constexpr std::size_t for_people_max = 4096;  // beyond this, all are examined again

// A question that was cut or has omitted options is not the one that a rule names.
bool is_whole(const Permission& asked) {
  return !may_be_cut(asked.title) && asked.options_left_out == 0;
}

bool matches(const PermissionRule& rule, const State& state, const Permission& asked) {
  return !rule.title.empty() && rule.title == asked.title &&
         (rule.agent.empty() || rule.agent == state.agent.name) &&
         (!rule.session || rule.session == state.id) && rule.created <= asked.asked;
}

struct ExactChoice {
  RuleChoice choice;
  bool rejects = false;
  bool is_for_people = false;  // the rules disagree, or choose an option not offered
};

ExactChoice choose_exactly(const NodeState& node, const State& state, const Permission& asked) {
  ExactChoice exact;
  for (const auto& [id, rule] : node.rules) {
    if (!matches(rule, state, asked)) continue;
    const std::string option = option_of_kind(asked, rule.option_kind);
    const bool disagrees = !exact.choice.option_id.empty() && exact.choice.option_id != option;
    if (option.empty() || disagrees) return {.is_for_people = true};
    if (!exact.choice.option_id.empty()) continue;
    exact.choice = {.rule = id, .option_id = option, .option_kind = rule.option_kind};
    exact.rejects = rule.option_kind.starts_with("reject");
  }
  return exact;
}

std::vector<const TypedRule*> rules_before(const NodeState& node, Timestamp asked) {
  std::vector<const TypedRule*> rules;
  for (const auto& [id, rule] : node.typed_rules) {
    if (rule.created <= asked) rules.push_back(&rule);
  }
  return rules;
}

}  // namespace

std::string option_of_kind(const Permission& asked, const std::string& kind) {
  if (!is_whole(asked)) return "";
  if (std::ranges::count(asked.options, kind, &PermissionOption::kind) != 1) return "";
  return std::ranges::find(asked.options, kind, &PermissionOption::kind)->id;
}

RuleChoice choose_by_rule(const NodeState& node, const State& state, const Permission& asked,
                          const std::optional<Question>& question) {
  if (!is_whole(asked)) return {};
  const auto rules = rules_before(node, asked.asked);
  // An unreadable question may be one that a rule denies.
  const RuleVerdict typed = judge(rules, scene_of(state), question.value_or(Question{}));
  const ExactChoice exact = choose_exactly(node, state, asked);
  if (typed.kind == RuleVerdict::Kind::deny) {
    const std::string kind = chosen_option_kind(*typed.rule);
    return {.rule = typed.rule->id, .option_id = option_of_kind(asked, kind), .option_kind = kind};
  }
  if (exact.is_for_people) return {};
  if (exact.rejects) return exact.choice;
  if (typed.kind == RuleVerdict::Kind::ask) return {};
  if (!exact.choice.option_id.empty()) return exact.choice;
  if (typed.kind != RuleVerdict::Kind::allow) return {};
  const std::string kind = chosen_option_kind(*typed.rule);
  return {.rule = typed.rule->id,
          .option_id = option_of_kind(asked, kind),
          .option_kind = kind,
          .look_ups = typed.look_ups};
}

RuleAnswerer::RuleAnswerer(Runtime& runtime, Node& node, Workspaces& workspaces, Audit* audit)
    : runtime_(runtime),
      node_(node),
      workspaces_(workspaces),
      audit_(audit),
      watch_(runtime.watch([this](SessionId session) { look_at(session); })) {}

RuleAnswerer::~RuleAnswerer() { runtime_.unwatch(watch_); }

RuleChoice RuleAnswerer::choose(const State& state, const Permission& asked) const {
  std::optional<Question> question;
  if (!node_.state().typed_rules.empty()) {
    if (auto open = read_open_question(runtime_.store(), state, asked.permission)) {
      question = std::move(open->for_rules);
    }
  }
  return choose_by_rule(node_.state(), state, asked, question);
}

void RuleAnswerer::look_at(SessionId session) {
  const NodeState& rules = node_.state();
  if (rules.rules.empty() && rules.typed_rules.empty()) return;
  const State* const in_memory = runtime_.state_in_memory(session);
  if (!in_memory || in_memory->permissions.empty()) return;
  if (std::exchange(rules_head_, rules.head) != rules.head) for_people_.clear();
  if (for_people_.size() > for_people_max) for_people_.clear();
  const auto is_decided = [this](const auto& entry) {
    return answering_.contains(entry.first) || for_people_.contains(entry.first);
  };
  if (std::ranges::all_of(in_memory->permissions, is_decided)) return;
  const State state = *in_memory;  // an answer changes it
  for (const auto& [id, asked] : state.permissions) {
    if (answering_.contains(id) || for_people_.contains(id)) continue;
    const RuleChoice choice = choose(state, asked);
    if (choice.option_id.empty()) {
      for_people_.insert(id);
    } else if (!choice.look_ups.empty()) {
      answer_after_look_up(state, id, choice);
    } else {
      answer(session, id, choice);
    }
  }
}

void RuleAnswerer::answer_after_look_up(const State& state, PermissionId permission,
                                        RuleChoice choice) {
  answering_.insert(permission);
  LookUp what{.exec = {state.id, state.exec.id, state.exec.gen},
              .cwd = state.workspace.cwd,
              .paths = choice.look_ups};
  look_up(workspaces_, std::move(what),
          [this, session = state.id, permission, choice = std::move(choice),
           alive = std::weak_ptr<bool>(alive_)](bool is_plain) {
            if (alive.expired()) return;
            answering_.erase(permission);
            // A rule that was removed in the meantime answers nothing.
            const bool stands = node_.state().typed_rules.contains(choice.rule);
            if (is_plain && stands) return answer(session, permission, choice);
            for_people_.insert(permission);
          });
}

void RuleAnswerer::answer(SessionId session, PermissionId permission, const RuleChoice& choice) {
  answering_.insert(permission);
  if (!audit_) return submit(session, permission, choice);
  AuditEntry entry{.what = "rule.answer",
                   .by = "rule:" + choice.rule,
                   .how = "rule",
                   .on = {session.text(), permission.text(), choice.rule},
                   .text = choice.option_kind};
  audit_->note(std::move(entry), [this, session, permission, choice,
                                  alive = std::weak_ptr<bool>(alive_)](const Result<Seq>& noted) {
    if (alive.expired()) return;
    // An answer requires an audit entry, and that the rule still exists.
    const NodeState& rules = node_.state();
    const bool stands =
        rules.rules.contains(choice.rule) || rules.typed_rules.contains(choice.rule);
    if (noted && stands) return submit(session, permission, choice);
    answering_.erase(permission);
    for_people_.insert(permission);
  });
}

void RuleAnswerer::submit(SessionId session, PermissionId permission, const RuleChoice& choice) {
  runtime_.submit(
      session,
      {.by = "rule:" + choice.rule, .body = AnswerPermission{permission, choice.option_id}},
      [this, permission, alive = std::weak_ptr<bool>(alive_)](const Result<Reply>&) {
        // If rejected, the question stays open for a person or for the next look.
        if (!alive.expired()) answering_.erase(permission);
      });
}

}  // namespace perdure
