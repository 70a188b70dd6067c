// Permission rules: answers given in advance. An exact rule names its question's title; a typed one
// names what the question is about (core/rules/rule.h). Neither contains patterns.
#include <memory>
#include <utility>

#include "base/limits.h"
#include "core/rules/rule_limits.h"
#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/bodies.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/registry/node_events.h"
#include "daemon/rules/rule_questions.h"
#include "daemon/rules/rule_trial.h"

namespace perdure {
namespace {

TypedRule typed_rule(RuleBody body) {
  return {.effect = std::move(body.effect),
          .tools = std::move(body.tools),
          .path = std::move(body.path),
          .argv = std::move(body.argv),
          .agent = std::move(body.agent),
          .session = body.session,
          .folder = std::move(body.folder),
          .option_kind = std::move(body.option_kind)};
}

// A rule is exact or typed, never a mixture.
Result<> check_form(const RuleBody& body) {
  if (body.effect.empty()) {
    const bool is_exact =
        body.tools.empty() && body.path.empty() && body.argv.empty() && body.folder.empty();
    if (is_exact) return {};
    return fail(Code::invalid_argument, "effect: a rule with tools, path, argv or folder needs it");
  }
  if (body.title.empty()) return {};
  return fail(Code::invalid_argument, "title: a rule has either a title or an effect");
}

void write_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
  out.key(name).begin_array();
  for (const std::string& text : texts) out.string(text);
  out.end_array();
}

// The body that POST /api/rules takes: only the rule's content.
void write_rule_body(JsonWriter& out, const TypedRule& rule) {
  out.begin_object().key("effect").string(rule.effect);
  if (!rule.tools.empty()) write_texts(out, "tools", rule.tools);
  if (!rule.path.empty()) out.key("path").string(rule.path);
  if (!rule.argv.empty()) write_texts(out, "argv", rule.argv);
  if (!rule.agent.empty()) out.key("agent").string(rule.agent);
  if (rule.session) out.key("session_id").string(rule.session.text());
  if (!rule.folder.empty()) out.key("folder").string(rule.folder);
  if (!rule.option_kind.empty()) out.key("option_kind").string(rule.option_kind);
  out.end_object();
}

void write_or_null(JsonWriter& out, std::string_view name, const std::string& text) {
  out.key(name);
  if (text.empty()) {
    out.null();
  } else {
    out.string(text);
  }
}

void write_rule(JsonWriter& out, const TypedRule& rule) {
  out.begin_object().key("id").string(rule.id).key("effect").string(rule.effect);
  write_texts(out, "tools", rule.tools);
  write_or_null(out, "path", rule.path);
  write_texts(out, "argv", rule.argv);
  write_or_null(out, "agent", rule.agent);
  write_or_null(out, "session_id", rule.session ? rule.session.text() : "");
  write_or_null(out, "folder", rule.folder);
  write_or_null(out, "option_kind", rule.option_kind);
  out.key("created").string(format_timestamp(rule.created)).key("by").string(rule.by);
  out.key("text").string(rule_text(rule)).end_object();
}

void write_rule(JsonWriter& out, const PermissionRule& rule) {
  out.begin_object().key("id").string(rule.id).key("session_id");
  if (rule.session) {
    out.string(rule.session.text());
  } else {
    out.null();
  }
  out.key("agent");
  if (rule.agent.empty()) {
    out.null();
  } else {
    out.string(rule.agent);
  }
  out.key("title").string(rule.title).key("option_kind").string(rule.option_kind);
  out.key("created").string(format_timestamp(rule.created)).key("by").string(rule.by).end_object();
}

void list(ApiWorld& world, const Call& call) {
  JsonWriter out;
  out.begin_object().key("rules").begin_array();
  for (const auto& [id, rule] : world.node.state().rules) write_rule(out, rule);
  out.end_array().key("typed_rules").begin_array();
  for (const auto& [id, rule] : world.node.state().typed_rules) write_rule(out, rule);
  call.answer(std::move(out.end_array().end_object()).take());
}

void write_tried(JsonWriter& out, const TriedQuestion& tried) {
  out.begin_object().key("session_id").string(tried.session.text());
  out.key("session_title").string(tried.session_title);
  out.key("perm_id").string(tried.permission.text()).key("seq").number_unsigned(tried.seq);
  out.key("ts").string(format_timestamp(tried.at)).key("title").string(tried.title);
  write_or_null(out, "command", tried.command);
  out.key("answer").string(tried.answer);
  write_or_null(out, "by", tried.by);
  out.key("overruled").boolean(tried.overruled).end_object();
}

std::string exact_text(const PermissionRule& rule) {
  return rule.option_kind + " \"" + rule.title + "\"";
}

std::string trial_json(const RuleTrialAsk& ask, const RuleTrial& trial) {
  const bool denies = ask.exact && ask.exact->option_kind.starts_with("reject");
  JsonWriter out;
  out.begin_object().key("effect");
  out.string(!ask.exact ? ask.rule.effect : denies ? "deny" : "allow");
  out.key("text").string(ask.exact ? exact_text(*ask.exact) : rule_text(ask.rule));
  out.key("days").number(trial.days).key("questions").number_unsigned(trial.questions);
  out.key("matched").number_unsigned(trial.matched);
  out.key("overruled").number_unsigned(trial.overruled);
  out.key("answered_otherwise").number_unsigned(trial.answered_otherwise);
  out.key("complete").boolean(trial.is_complete).key("list").begin_array();
  for (const TriedQuestion& tried : trial.list) write_tried(out, tried);
  return std::move(out.end_array().end_object()).take();
}

// The rule that is there now under the call's key: a repeat made nothing new.
template <class Rule>
auto answer_added(ApiWorld& world, Call call, Rule rule, std::string trial,
                  std::map<std::string, Rule> NodeState::* rules) {
  return [&world, call = std::move(call), rule = std::move(rule), trial = std::move(trial),
          rules](Result<> done) mutable {
    if (!done) return call.fail(done.error());
    const Result<std::string> made = world.node.shown_id(call.key());
    if (made) rule.id = *made;
    const auto& known = world.node.state().*rules;
    if (const auto at = known.find(rule.id); at != known.end()) rule = at->second;
    JsonWriter out;
    out.begin_object().key("rule");
    write_rule(out, rule);
    out.key("trial").raw(trial);
    call.answer(201, std::move(out.end_object()).take());
  };
}

// How many trials run.
using Running = std::shared_ptr<std::size_t>;

// Tries the rule on the past; `next` gets the call and the result as JSON.
void try_then(ApiWorld& world, const Running& running, RuleTrialAsk ask, Call call,
              std::move_only_function<void(Call, std::string)> next) {
  if (*running >= rule_trials_max) {
    return call.fail(Error(Code::limit_reached, "rules are being tried already; try again soon"));
  }
  *running += 1;
  RuleTrialAsk tried = ask;
  try_rule(world.runtime, world.node, world.clock, std::move(ask),
           [call = std::move(call), tried = std::move(tried), running,
            next = std::move(next)](const RuleTrial& trial) mutable {
             *running -= 1;
             next(std::move(call), trial_json(tried, trial));
           });
}

// The entry is on disk before the rule is there.
AuditEntry entry_for(const ApiWorld& world, const Call& call, const std::string& rule_id,
                     std::string text) {
  AuditEntry entry = audit_entry(world, call, "rule.add");
  entry.on = {rule_id};
  entry.text = std::move(text);
  return entry;
}

void keep(ApiWorld& world, TypedRule rule, Call call, std::string trial) {
  rule.created = world.clock.now().wall;
  AuditEntry entry = entry_for(world, call, rule.id, rule.effect);
  audited(world, std::move(call), std::move(entry),
          [&world, rule, trial = std::move(trial)](Call noted) mutable {
            NodeRequest request = node_request(noted);
            world.node.add_typed_rule(std::move(request), rule,
                                      answer_added(world, std::move(noted), rule, std::move(trial),
                                                   &NodeState::typed_rules));
          });
}

void keep(ApiWorld& world, PermissionRule rule, Call call, std::string trial) {
  rule.created = world.clock.now().wall;
  AuditEntry entry = entry_for(world, call, rule.id, rule.option_kind);
  audited(world, std::move(call), std::move(entry),
          [&world, rule, trial = std::move(trial)](Call noted) mutable {
            NodeRequest request = node_request(noted);
            world.node.add_rule(
                std::move(request), rule,
                answer_added(world, std::move(noted), rule, std::move(trial), &NodeState::rules));
          });
}

// The rule that the body says, exact or typed, without id, time and maker.
Result<RuleTrialAsk> read_ask(RuleBody body, std::int64_t days) {
  TRY_VOID(check_form(body));
  RuleTrialAsk ask{.rule = {}, .days = days};
  if (!body.effect.empty()) {
    ask.rule = typed_rule(std::move(body));
    TRY_VOID(check_typed_rule(ask.rule));
    return ask;
  }
  ask.exact = PermissionRule{.session = body.session,
                             .agent = std::move(body.agent),
                             .title = std::move(body.title),
                             .option_kind = std::move(body.option_kind)};
  TRY_VOID(check_exact_rule(*ask.exact));
  return ask;
}

// No rule is kept that was not tried first: who makes it sees what it would have done.
void add(ApiWorld& world, const Running& running, Call call) {
  Result<RuleBody> body = read_body<RuleBody>(call.request.body);
  if (!body) return call.fail(body.error());
  Result<RuleTrialAsk> ask = read_ask(*std::move(body), rule_trial_days);
  if (!ask) return call.fail(ask.error());
  const auto begin = [&](auto rule) {
    rule.id = new_row_id(world, "rule_");
    rule.by = call.principal.id;
    return rule;
  };
  RuleTrialAsk tried = *std::move(ask);
  if (tried.exact) {
    const PermissionRule rule = begin(*tried.exact);
    return try_then(world, running, std::move(tried), std::move(call),
                    [&world, rule](Call noted, std::string trial) {
                      keep(world, rule, std::move(noted), std::move(trial));
                    });
  }
  const TypedRule rule = begin(tried.rule);
  try_then(world, running, std::move(tried), std::move(call),
           [&world, rule](Call noted, std::string trial) {
             keep(world, rule, std::move(noted), std::move(trial));
           });
}

void remove(ApiWorld& world, const Call& call) {
  const std::string id = call.arguments.at(0);
  AuditEntry entry = audit_entry(world, call, "rule.remove");
  entry.on = {id};
  entry.essential = true;
  audited(world, call, std::move(entry), [&world, id](const Call& noted) {
    world.node.remove_rule(node_request(noted), id, [call = noted, id](Result<> done) {
      if (!done) return call.fail(done.error());
      call.answer(JsonWriter().begin_object().key("removed").string(id).end_object().text());
    });
  });
}

Result<RuleTrialAsk> read_trial(const Call& call) {
  RuleTrialBody body = TRY(read_body<RuleTrialBody>(call.request.body));
  if (body.days < 1 || body.days > rule_trial_days_max) {
    return fail(Code::invalid_argument,
                "days: expected 1 to " + std::to_string(rule_trial_days_max));
  }
  return read_ask(std::move(body.rule), body.days);
}

void try_out(ApiWorld& world, const Running& running, Call call) {
  Result<RuleTrialAsk> ask = read_trial(call);
  if (!ask) return call.fail(ask.error());
  try_then(world, running, *std::move(ask), std::move(call),
           [](const Call& tried, const std::string& trial) { tried.answer(trial); });
}

struct OpenPermission {
  PermissionId id;
  State state;
};

Result<OpenPermission> open_permission(ApiWorld& world, const Call& call) {
  const PermissionId permission = TRY(PermissionId::parse(call.arguments.at(0)));
  const SessionId session = TRY(world.runtime.find_session(permission.text()));
  State state = TRY(world.runtime.state(session));
  if (!call.principal.may_see(session) || !state.permissions.contains(permission)) {
    return fail(Code::not_found, "no such open question");
  }
  return OpenPermission{permission, std::move(state)};
}

Result<std::string> show(ApiWorld& world, const Call& call) {
  const auto [permission, state] = TRY(open_permission(world, call));
  const Permission& asked = state.permissions.at(permission);
  auto open = read_open_question(world.runtime.store(), state, permission);
  ShownQuestion shown = open ? std::move(open->shown) : ShownQuestion{.is_whole = false};
  if (shown.title.empty()) shown.title = asked.title;
  JsonWriter out;
  out.begin_object().key("perm_id").string(permission.text());
  out.key("session_id").string(state.id.text()).key("digest").string(asked.digest);
  out.key("options_left_out").number_unsigned(asked.options_left_out);
  write_question(out, shown);
  return std::move(out.end_object()).take();
}

Result<std::string> suggest(ApiWorld& world, const Call& call) {
  const auto [permission, state] = TRY(open_permission(world, call));
  const auto open = read_open_question(world.runtime.store(), state, permission);
  const auto question = open ? open->for_rules : std::nullopt;
  JsonWriter out;
  out.begin_object().key("suggested_rules").begin_array();
  for (const RuleOffer& offer :
       question ? offer_rules(scene_of(state), *question) : std::vector<RuleOffer>()) {
    out.begin_object().key("text").string(offer.text).key("rule");
    write_rule_body(out, offer.rule);
    out.end_object();
  }
  return std::move(out.end_array().end_object()).take();
}

}  // namespace

void add_rule_routes(Router& router, ApiWorld& world) {
  const auto running = std::make_shared<std::size_t>(0);
  router.add({.method = "GET",
              .pattern = "/api/rules",
              .access = Access::admin,
              .summary = "The permission rules.",
              .handler = [&world](Call call) { list(world, call); }});
  router.add({.method = "POST",
              .pattern = "/api/rules",
              .access = Access::admin,
              .summary = "Answers one exact question, or all of a kind, in advance.",
              .handler = [&world, running](Call call) { add(world, running, std::move(call)); },
              .body_bytes_max = 64UL << 10});
  router.add({.method = "POST",
              .pattern = "/api/rules/test",
              .access = Access::admin,
              .summary = "Tries a rule on the questions of the past; nothing is kept.",
              .handler = [&world, running](Call call) { try_out(world, running, std::move(call)); },
              .body_bytes_max = 64UL << 10});
  router.add({.method = "GET",
              .pattern = "/api/permissions/{id}/rules",
              .access = Access::admin,
              .summary = "Rules that would allow an open question from now on.",
              .handler = [&world](const Call& call) {
                const Result<std::string> offers = suggest(world, call);
                if (!offers) return call.fail(offers.error());
                call.answer(*offers);
              }});
  router.add({.method = "GET",
              .pattern = "/api/permissions/{id}",
              .access = Access::observe,
              .summary = "Shows what an open question asks for, in parts that leave nothing out.",
              .handler = [&world](const Call& call) {
                const Result<std::string> question = show(world, call);
                if (!question) return call.fail(question.error());
                call.answer(*question);
              }});
  router.add({.method = "DELETE",
              .pattern = "/api/rules/{id}",
              .access = Access::admin,
              .summary = "Takes a rule back.",
              .handler = [&world](const Call& call) { remove(world, call); }});
}

}  // namespace perdure
