// Permission rules: answers given in advance. An exact rule names its question's title; a typed one
// names what the question is about (session/rule.h). Neither contains patterns.
#include <memory>
#include <utility>

#include "api/audited.h"
#include "api/bodies.h"
#include "api/node_routes.h"
#include "base/limits.h"
#include "runtime/rule_questions.h"
#include "runtime/rule_trial.h"
#include "session/rule_limits.h"

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

// Answers with the rule stored under the call's key: a repeat has added nothing.
template <class Rule>
auto answer_added(ApiWorld& world, Call call, Rule rule,
                  std::map<std::string, Rule> NodeState::* rules) {
  return [&world, call = std::move(call), rule = std::move(rule), rules](Result<> done) mutable {
    if (!done) return call.fail(done.error());
    const Result<std::string> made = world.node.shown_id(call.key());
    if (made) rule.id = *made;
    const auto& known = world.node.state().*rules;
    if (const auto at = known.find(rule.id); at != known.end()) rule = at->second;
    JsonWriter out;
    out.begin_object().key("rule");
    write_rule(out, rule);
    call.answer(201, std::move(out.end_object()).take());
  };
}

// The entry is on disk before the rule takes effect.
AuditEntry entry_for(const ApiWorld& world, const Call& call, const std::string& rule_id,
                     std::string text) {
  AuditEntry entry = audit_entry(world, call, "rule.add");
  entry.on = {rule_id};
  entry.text = std::move(text);
  return entry;
}

void add_typed(ApiWorld& world, Call call, RuleBody body) {
  TypedRule rule = typed_rule(std::move(body));
  if (const Result<> good = check_typed_rule(rule); !good) return call.fail(good.error());
  rule.id = new_row_id(world, "rule_");
  rule.created = world.clock.now().wall;
  rule.by = call.principal.id;
  AuditEntry entry = entry_for(world, call, rule.id, rule.effect);
  audited(world, std::move(call), std::move(entry), [&world, rule](Call noted) {
    NodeRequest request = node_request(noted);
    world.node.add_typed_rule(std::move(request), rule,
                              answer_added(world, std::move(noted), rule, &NodeState::typed_rules));
  });
}

void add(ApiWorld& world, Call call) {
  Result<RuleBody> body = read_body<RuleBody>(call.request.body);
  if (!body) return call.fail(body.error());
  if (const Result<> form = check_form(*body); !form) return call.fail(form.error());
  if (!body->effect.empty()) return add_typed(world, std::move(call), *std::move(body));
  PermissionRule rule{.id = new_row_id(world, "rule_"),
                      .session = body->session,
                      .agent = std::move(body->agent),
                      .title = std::move(body->title),
                      .option_kind = std::move(body->option_kind),
                      .created = world.clock.now().wall,
                      .by = call.principal.id};
  AuditEntry entry = entry_for(world, call, rule.id, rule.option_kind);
  audited(world, std::move(call), std::move(entry), [&world, rule](Call noted) {
    NodeRequest request = node_request(noted);
    world.node.add_rule(std::move(request), rule,
                        answer_added(world, std::move(noted), rule, &NodeState::rules));
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

std::string trial_json(const TypedRule& rule, const RuleTrial& trial) {
  JsonWriter out;
  out.begin_object().key("effect").string(rule.effect).key("text").string(rule_text(rule));
  out.key("days").number(trial.days).key("questions").number_unsigned(trial.questions);
  out.key("matched").number_unsigned(trial.matched);
  out.key("overruled").number_unsigned(trial.overruled);
  out.key("answered_otherwise").number_unsigned(trial.answered_otherwise);
  out.key("complete").boolean(trial.is_complete).key("list").begin_array();
  for (const TriedQuestion& tried : trial.list) write_tried(out, tried);
  return std::move(out.end_array().end_object()).take();
}

Result<RuleTrialAsk> read_trial(const Call& call) {
  RuleTrialBody body = TRY(read_body<RuleTrialBody>(call.request.body));
  if (body.days < 1 || body.days > rule_trial_days_max) {
    return fail(Code::invalid_argument,
                "days: expected 1 to " + std::to_string(rule_trial_days_max));
  }
  if (!body.rule.title.empty() || body.rule.effect.empty()) {
    return fail(Code::invalid_argument, "effect: only rules with an effect can be tried");
  }
  RuleTrialAsk ask{.rule = typed_rule(std::move(body.rule)), .days = body.days};
  TRY_VOID(check_typed_rule(ask.rule));
  return ask;
}

void try_out(ApiWorld& world, const std::shared_ptr<std::size_t>& running, Call call) {
  Result<RuleTrialAsk> ask = read_trial(call);
  if (!ask) return call.fail(ask.error());
  if (*running >= rule_trials_max) {
    return call.fail(Error(Code::limit_reached, "rules are being tried already; try again soon"));
  }
  *running += 1;
  const TypedRule rule = ask->rule;
  try_rule(world.runtime, world.node, world.clock, *std::move(ask),
           [call = std::move(call), rule, running](const RuleTrial& trial) {
             *running -= 1;
             call.answer(trial_json(rule, trial));
           });
}

Result<std::string> suggest(ApiWorld& world, const Call& call) {
  const PermissionId permission = TRY(PermissionId::parse(call.arguments.at(0)));
  const SessionId session = TRY(world.runtime.find_session(permission.text()));
  const State state = TRY(world.runtime.state(session));
  if (!call.principal.may_see(session) || !state.permissions.contains(permission)) {
    return fail(Code::not_found, "no such open question");
  }
  const auto question = read_open_question(world.runtime.store(), state, permission);
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
  router.add({.method = "GET",
              .pattern = "/api/rules",
              .access = Access::admin,
              .summary = "The permission rules.",
              .handler = [&world](Call call) { list(world, call); }});
  router.add({.method = "POST",
              .pattern = "/api/rules",
              .access = Access::admin,
              .summary = "Answers one exact question, or all of a kind, in advance.",
              .handler = [&world](Call call) { add(world, std::move(call)); },
              .body_bytes_max = 64UL << 10});
  router.add({.method = "POST",
              .pattern = "/api/rules/test",
              .access = Access::admin,
              .summary = "Tries a rule on the questions of the past; nothing is kept.",
              .handler = [&world, running = std::make_shared<std::size_t>(0)](
                             Call call) { try_out(world, running, std::move(call)); },
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
  router.add({.method = "DELETE",
              .pattern = "/api/rules/{id}",
              .access = Access::admin,
              .summary = "Takes a rule back.",
              .handler = [&world](const Call& call) { remove(world, call); }});
}

}  // namespace perdure
