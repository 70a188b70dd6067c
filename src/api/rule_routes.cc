// Permission rules: answers given in advance. A rule names its question exactly; nothing in it is a
// pattern.
#include <memory>
#include <utility>

#include "api/bodies.h"
#include "api/node_routes.h"

namespace perdure {
namespace {

struct RuleBody {
  SessionId session;
  std::string agent;
  std::string title;
  std::string option_kind;
  FIELDS {
    visit("session_id", self.session);
    visit("agent", self.agent);
    visit("title", self.title);
    visit("option_kind", self.option_kind);
  }
};

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
  call.answer(std::move(out.end_array().end_object()).take());
}

void add(ApiWorld& world, Call call) {
  Result<RuleBody> body = read_body<RuleBody>(call.request.body);
  if (!body) return call.fail(body.error());
  PermissionRule rule{.id = new_row_id(world, "rule_"),
                      .session = body->session,
                      .agent = std::move(body->agent),
                      .title = std::move(body->title),
                      .option_kind = std::move(body->option_kind),
                      .created = world.clock.now().wall,
                      .by = call.principal.id};
  NodeRequest request = node_request(call);
  const std::string key = request.key;
  world.node.add_rule(std::move(request), rule,
                      [&world, call = std::move(call), rule, key](Result<> done) mutable {
                        if (!done) return call.fail(done.error());
                        // A repeat of the key made nothing new: the rule that it made then is
                        // shown.
                        const Result<std::string> made = world.node.shown_id(key);
                        if (made) rule.id = *made;
                        const auto at = world.node.state().rules.find(rule.id);
                        if (at != world.node.state().rules.end()) rule = at->second;
                        JsonWriter out;
                        out.begin_object().key("rule");
                        write_rule(out, rule);
                        call.answer(201, std::move(out.end_object()).take());
                      });
}

void remove(ApiWorld& world, Call call) {
  const std::string id = call.arguments.at(0);
  NodeRequest request = node_request(call);
  world.node.remove_rule(std::move(request), id, [call = std::move(call), id](Result<> done) {
    if (!done) return call.fail(done.error());
    call.answer(JsonWriter().begin_object().key("removed").string(id).end_object().text());
  });
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
              .summary = "Answers one exact question in advance.",
              .handler = [&world](Call call) { add(world, std::move(call)); },
              .body_bytes_max = 64UL << 10});
  router.add({.method = "DELETE",
              .pattern = "/api/rules/{id}",
              .access = Access::admin,
              .summary = "Takes a rule back.",
              .handler = [&world](Call call) { remove(world, std::move(call)); }});
}

}  // namespace perdure
