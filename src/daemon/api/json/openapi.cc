#include "daemon/api/json/openapi.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "daemon/api/gate/bodies.h"
#include "daemon/api/json/json_schema.h"

namespace perdure {
namespace {

// The request body and the answer of a route, as names of schemas.
struct Shapes {
  std::string_view route;
  std::string_view body;  // empty: none
  std::string_view answer = "SessionAnswer";
};

constexpr auto shapes = std::to_array<Shapes>({
    {"POST /api/sessions", "CreateSession"},
    {"PATCH /api/sessions/{id}", "ChangeSession"},
    {"POST /api/sessions/{id}/prompt", "Prompt"},
    {"POST /api/sessions/{id}/cancel", "Cancel"},
    {"POST /api/sessions/{id}/stop", "Stop"},
    {"POST /api/sessions/{id}/archive", ""},
    {"POST /api/sessions/{id}/unarchive", ""},
    {"POST /api/sessions/{id}/repair", ""},
    {"POST /api/sessions/{id}/options", "Options"},
    {"POST /api/sessions/{id}/queue/release", ""},
    {"POST /api/sessions/{id}/fork", "Fork"},
    {"POST /api/sessions/{id}/resume", "Resume", "ResumeAnswer"},
    {"PATCH /api/sessions/{id}/queue/{item}", "QueueEdit"},
    {"DELETE /api/sessions/{id}/queue/{item}", ""},
    {"POST /api/permissions/{id}", "PermissionAnswer"},
    {"POST /api/waits/{token_id}", "WaitAnswer"},
    {"POST /api/rules", "Rule", "AnyObject"},
    {"POST /api/rules/test", "RuleTrial", "AnyObject"},
    {"GET /api/sessions/{id}", "", "SessionAnswer"},
});

Shapes shapes_of(const Route& route) {
  const std::string name = route.method + " " + route.pattern;
  const auto at = std::ranges::find(shapes, name, &Shapes::route);
  if (at != shapes.end()) return *at;
  const bool sends = route.method == "POST" || route.method == "PATCH" || route.method == "PUT";
  return {{}, sends ? std::string_view("AnyObject") : "", "AnyObject"};
}

void write_reference(JsonWriter& out, std::string_view kind, std::string_view name) {
  out.begin_object().key("$ref").string("#/components/" + std::string(kind) + "/" +
                                        std::string(name));
  out.end_object();
}

void write_json_content(JsonWriter& out, std::string_view schema) {
  out.key("content").begin_object().key("application/json").begin_object().key("schema");
  write_reference(out, "schemas", schema);
  out.end_object().end_object();
}

// The names within braces; "{path...}" becomes path.
std::vector<std::string> parameters_of(std::string_view pattern) {
  std::vector<std::string> names;
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    std::string name(pattern.substr(open + 1, pattern.find('}', open) - open - 1));
    if (name.ends_with("...")) name.resize(name.size() - 3);
    names.push_back(std::move(name));
  }
  return names;
}

std::string path_of(std::string pattern) {
  if (const auto dots = pattern.find("...}"); dots != std::string::npos) pattern.erase(dots, 3);
  return pattern;
}

// post_api_sessions_id_prompt: derived from the route, and therefore unique.
std::string operation_id(const Route& route) {
  std::string id;
  for (const char letter : route.method + route.pattern) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) {
      id += static_cast<char>(std::tolower(byte));
    } else if (!id.empty() && id.back() != '_') {
      id += '_';
    }
  }
  if (id.ends_with('_')) id.pop_back();
  return id;
}

// The first word after /api, or the first word: sessions, tasks, healthz.
std::string tag_of(std::string_view pattern) {
  pattern.remove_prefix(1);
  if (pattern.starts_with("api/")) pattern.remove_prefix(4);
  return std::string(pattern.substr(0, pattern.find('/')));
}

std::string_view access_text(Access access) {
  switch (access) {
    case Access::open: return "For everybody.";
    case Access::observe: return "Needs the scope observe.";
    case Access::operate: return "Needs the scope operate.";
    case Access::answer: return "Needs the scope operate; never from inside a hosted session.";
    case Access::admin: return "Needs the scope admin.";
  }
  return "";
}

struct RouteQuery {
  std::string_view method;
  std::string_view pattern;
  std::vector<std::string_view> names;  // `*` in front: required
};

// Query parameters of routes; docs/protocol/http.md describes each.
const std::vector<RouteQuery>& route_queries() {
  static const std::vector<RouteQuery> queries = {
      {"GET", "/api/sessions", {"archived", "status", "agent", "task_id", "q", "cursor", "limit"}},
      {"DELETE", "/api/sessions/{id}", {"confirm", "force"}},
      {"DELETE", "/api/v1/ops/sessions/{id}", {"confirm", "force"}},
      {"POST", "/api/sessions/{id}/repair", {"dry_run"}},
      {"GET",
       "/api/sessions/{id}/events",
       {"after", "before", "last", "limit", "kind", "run", "log_id", "follow"}},
      {"GET", "/api/sessions/{id}/history", {"before", "limit"}},
      {"GET", "/api/sessions/{id}/transcript", {"before", "limit"}},
      {"GET", "/api/sessions/{id}/rows", {"tail", "before", "around", "limit", "log_id"}},
      {"GET", "/api/sessions/{id}/at", {"*seq", "tail"}},
      {"GET", "/api/sessions/{id}/density", {"buckets"}},
      {"GET", "/api/executors", {"cursor"}},
      {"GET", "/api/audit", {"after", "before", "last", "since", "limit", "log_id", "follow"}},
      {"GET", "/api/search", {"*q", "limit", "kind", "agent", "task_id", "since", "until"}},
  };
  return queries;
}

void write_query(JsonWriter& out, const Route& route) {
  for (const RouteQuery& query : route_queries()) {
    if (query.method != route.method || query.pattern != route.pattern) continue;
    for (std::string_view name : query.names) {
      const bool required = name.starts_with('*');
      if (required) name.remove_prefix(1);
      out.begin_object().key("name").string(name).key("in").string("query");
      out.key("required").boolean(required);
      out.key("schema").begin_object().key("type").string("string").end_object().end_object();
    }
  }
}

void write_parameters(JsonWriter& out, const Route& route) {
  out.key("parameters").begin_array();
  for (const std::string& name : parameters_of(route.pattern)) {
    out.begin_object().key("name").string(name).key("in").string("path");
    out.key("required").boolean(true).key("schema").begin_object().key("type").string("string");
    out.end_object().end_object();
  }
  write_query(out, route);
  if (route.method == "POST") write_reference(out, "parameters", "IdempotencyKey");
  out.end_array();
}

void write_operation(JsonWriter& out, const Route& route) {
  const Shapes shape = shapes_of(route);
  out.begin_object().key("operationId").string(operation_id(route));
  out.key("summary").string(route.summary.empty() ? route.pattern : route.summary);
  out.key("description").string(access_text(route.access));
  out.key("tags").begin_array().string(tag_of(route.pattern)).end_array();
  if (route.access == Access::open) out.key("security").begin_array().end_array();
  write_parameters(out, route);
  if (!shape.body.empty()) {
    out.key("requestBody").begin_object();
    write_json_content(out, shape.body);
    out.end_object();
  }
  out.key("responses").begin_object().key("2XX").begin_object();
  out.key("description").string("Done, and durable.");
  write_json_content(out, shape.answer);
  out.end_object().key("4XX");
  write_reference(out, "responses", "Error");
  out.key("5XX");
  write_reference(out, "responses", "Error");
  out.end_object().end_object();
}

void write_paths(JsonWriter& out, const Router& router) {
  std::map<std::string, std::vector<const Route*>> paths;
  for (const auto& route : router.routes()) paths[path_of(route->pattern)].push_back(route.get());
  out.key("paths").begin_object();
  for (const auto& [path, routes] : paths) {
    out.key(path).begin_object();
    for (const Route* const route : routes) {
      std::string method = route->method;
      std::ranges::transform(method, method.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
      });
      out.key(method);
      write_operation(out, *route);
    }
    out.end_object();
  }
  out.end_object();
}

template <class T>
void write_named(JsonWriter& out, std::string_view name) {
  out.key(name);
  write_schema<T>(out);
}

// Schemas written by hand allow more members, because answers gain members over time.
void write_answer_schemas(JsonWriter& out) {
  out.key("AnyObject").raw(R"({"type":"object"})");
  out.key("Options").raw(R"({"type":"object","additionalProperties":{"type":"string"}})");
  out.key("Session").raw(
      R"({"type":"object","required":["id","status","state"],"properties":{)"
      R"("id":{"type":"string"},"task_id":{"type":["string","null"]},"title":{"type":"string"},)"
      R"("status":{"type":"string"},"state":{"type":"string"},)"
      R"("executor_status":{"type":"string"},"liveness":{"type":"string"},)"
      R"("needs_resume":{"type":"boolean"},"is_resumable":{"type":"boolean"}}})");
  out.key("SessionAnswer")
      .raw(R"({"type":"object","properties":{"session":{"$ref":"#/components/schemas/Session"},)"
           R"("seq":{"type":"integer"},"run_id":{"type":"string"},"message_id":{"type":"string"},)"
           R"("queue_position":{"type":"integer"},"placed":{"type":"string"},)"
           R"("nothing_to_do":{"type":"boolean"},"outcome":{"type":"string"},)"
           R"("option_id":{"type":"string"},"decided_by":{"type":"string"}}})");
  out.key("Receipt").raw(
      R"({"type":"object","properties":{"rung":{"type":"integer"},"rung_name":{"type":"string"},)"
      R"("how":{"type":["string","null"]},"agent_session_id":{"type":["string","null"]},)"
      R"("verified":{"type":"string"},"inject_armed":{"type":"boolean"},)"
      R"("injected":{"type":["object","null"]},)"
      R"("lost":{"type":"array","items":{"type":"string"}},"reason":{"type":"string"},)"
      R"("attempts":{"type":"array","items":{"type":"object"}},)"
      R"("already_running":{"type":"boolean"}}})");
  out.key("ResumeAnswer")
      .raw(R"({"type":"object","properties":{"session":{"$ref":"#/components/schemas/Session"},)"
           R"("receipt":{"anyOf":[{"$ref":"#/components/schemas/Receipt"},{"type":"null"}]},)"
           R"("pending":{"type":"boolean"},"already_running":{"type":"boolean"}}})");
  out.key("Error").raw(
      R"({"type":"object","required":["error"],"properties":{"error":{"type":"object",)"
      R"("required":["code","message","actions"],"properties":{"code":{"type":"string"},)"
      R"("message":{"type":"string"},"actions":{"type":"array","items":{"type":"string"}}}}}})");
}

void write_components(JsonWriter& out) {
  out.key("components").begin_object().key("schemas").begin_object();
  write_named<CreateBody>(out, "CreateSession");
  write_named<ChangeBody>(out, "ChangeSession");
  write_named<PromptBody>(out, "Prompt");
  write_named<QueueEditBody>(out, "QueueEdit");
  write_named<CancelBody>(out, "Cancel");
  write_named<StopBody>(out, "Stop");
  write_named<ForkBody>(out, "Fork");
  write_named<ResumeBody>(out, "Resume");
  write_named<AnswerBody>(out, "PermissionAnswer");
  write_named<WaitBody>(out, "WaitAnswer");
  write_named<RuleBody>(out, "Rule");
  write_named<RuleTrialBody>(out, "RuleTrial");
  write_answer_schemas(out);
  out.end_object();
  out.key("responses")
      .raw(R"({"Error":{"description":"Refused; nothing was changed.","content":)"
           R"({"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}}})");
  out.key("parameters")
      .raw(R"({"IdempotencyKey":{"name":"Idempotency-Key","in":"header","required":false,)"
           R"("description":"A repeat with an equal body gets the first answer.",)"
           R"("schema":{"type":"string"}}})");
  out.key("securitySchemes").raw(R"({"bearer":{"type":"http","scheme":"bearer"}})");
  out.end_object();
}

}  // namespace

std::string openapi_json(const Router& router, const std::string& version) {
  JsonWriter out;
  out.begin_object().key("openapi").string("3.1.0").key("info").begin_object();
  out.key("title").string("Perdure").key("version").string(version);
  out.key("description").string("Sessions of AI coding agents that outlive what runs them.");
  out.end_object().key("servers").raw(R"([{"url":"/"}])");
  out.key("security").raw(R"([{"bearer":[]}])");
  write_paths(out, router);
  write_components(out);
  out.end_object();
  return std::move(out).take();
}

void add_openapi_route(Router& router, std::string version) {
  router.add({.method = "GET",
              .pattern = "/openapi.json",
              .access = Access::observe,
              .summary = "This API as OpenAPI 3.1",
              .handler = [&router, version = std::move(version)](const Call& call) {
                call.answer(openapi_json(router, version));
              }});
}

}  // namespace perdure
