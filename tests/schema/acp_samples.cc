// One line for every output of our ACP printers, in each protocol version, for the check against
// the published schema: {"schema":…,"answers":method,"message":…}. `answers` names the request that
// a result belongs to.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/acp/agent/agent.h"
#include "core/acp/client/client.h"
#include "core/acp/samples_for_test.h"

namespace perdure::acp {
namespace {

constexpr std::string_view servers =
    R"([{"name":"files","command":"/bin/files","args":["-v"],"env":[{"name":"A","value":"b"}]},)"
    R"({"type":"http","name":"web","url":"http://localhost/mcp","headers":[]}])";
constexpr std::string_view prompt_blocks = R"([{"type":"text","text":"Say \"hello\"."}])";

struct Label {
  std::string schema;
  std::string_view answers;
};

// Prints the lines of `out` and empties it.
void print(std::string& out, const Label& label) {
  std::size_t from = 0;
  while (from < out.size()) {
    const std::size_t end = out.find('\n', from);
    JsonWriter writer;
    writer.begin_object().key("schema").string(label.schema);
    if (!label.answers.empty()) writer.key("answers").string(label.answers);
    writer.key("message").raw(std::string_view(out).substr(from, end - from)).end_object();
    std::printf("%s\n", writer.text().c_str());
    from = end + 1;
  }
  out.clear();
}

std::string schema_of(Dialect dialect, Published published = Published::stable) {
  const std::string version = dialect == Dialect::v1 ? "v1" : "v2";
  return published == Published::stable ? version : version + ".unstable";
}

void print_client_calls(Dialect dialect) {
  Client client({.protocol_version = dialect == Dialect::v1 ? 1 : 2, .client_version = "1.0.0"});
  const SessionSetup setup{
      .cwd = "/w", .mcp_servers = {std::string(servers)}, .additional_directories = {"/x"}};
  std::string out;
  client.initialize(out);
  client.authenticate(out, "key");
  client.open_new(out, setup);
  client.open_new(out, {.cwd = "/w"});
  client.load(out, "s", setup);
  client.resume(out, "s", setup);
  client.prompt(out, "s", prompt_blocks);
  client.cancel(out, "s");
  client.close_session(out, "s");
  client.remove_session(out, "s");
  client.list(out, "");
  client.list(out, "next");
  print(out, {schema_of(dialect)});
  client.answer_permission(out, RpcId::number(0), "allow");
  client.answer_permission_cancelled(out, {R"("u-1")"});
  print(out, {schema_of(dialect), "session/request_permission"});
  client.give_error(out, RpcId::number(0),
                    {rpc_code::method_not_found, "no such method", {R"({"method":"x"})"}});
  print(out, {schema_of(dialect), "error"});
}

// Setting an option requires a session that has announced some.
void print_client_options(Dialect dialect) {
  Client client({.protocol_version = dialect == Dialect::v1 ? 1 : 2});
  std::string out;
  std::vector<Event> events;
  client.open_new(out, {.cwd = "/w"});
  out.clear();
  append_result(out, RpcId::number(1),
                R"({"sessionId":"s","configOptions":)" +
                    print_options({mode_option(), flag_option()}, dialect) + "}");
  client.feed(out, events);
  out.clear();
  CHECK(client.set_option(out, "s", {"mode", "auto"}));
  CHECK(client.set_option(out, "s", {"web", "false"}));
  if (dialect == Dialect::v1) {
    Client old({});
    old.load(out, "s", {.cwd = "/w"});
    print(out, {schema_of(dialect)});
    old.feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"modes\":{}}}\n", events);
    CHECK(old.set_option(out, "s", {"mode", "auto"}));
  }
  print(out, {schema_of(dialect)});
}

void print_agent_answers(Agent& agent, Dialect dialect) {
  const std::string schema = schema_of(dialect);
  const RpcId id = RpcId::number(7);
  std::string out;
  agent.answer_initialize(out, id, "");
  print(out, {schema, "initialize"});
  const SessionAnswer answer{.session_id = "s",
                             .options = {mode_option(), flag_option()},
                             .modes = {{"ask", "Ask first"}},
                             .mode = "ask"};
  for (const std::string_view method : {"session/new", "session/load", "session/resume"}) {
    if (dialect == Dialect::v2 && method == "session/load") continue;
    agent.answer_session(out, id, answer);
    print(out, {schema, method});
  }
  agent.answer_list(out, id, {{{"s", "/w", "T", "2026-11-15T12:00:00.000Z"}}, "next"});
  print(out, {schema, "session/list"});
  agent.answer_options(out, {.id = id}, {mode_option(), flag_option()});
  print(out, {schema, "session/set_config_option"});
  const std::string_view login = dialect == Dialect::v1 ? "authenticate" : "auth/login";
  for (const std::string_view method :
       {std::string_view("session/close"), std::string_view("session/delete"), login}) {
    agent.answer_empty(out, id);
    print(out, {schema, method});
  }
  agent.give_error(out, id, {rpc_code::not_found, "no such session", {}});
  print(out, {schema, "error"});
}

void print_agent_turn(Agent& agent, Dialect dialect) {
  const PromptAsked prompt{.id = RpcId::number(8), .session_id = "s"};
  std::string out;
  agent.begin_turn(out, prompt, "m1");
  print(out, {schema_of(dialect), "session/prompt"});
  agent.end_turn(out, prompt, {.usage = {R"({"totalTokens":3,"inputTokens":2,"outputTokens":1})"}});
  print(out, {schema_of(dialect, Published::unstable), "session/prompt"});
  agent.ask_permission(out, "s", {"Run it?", tool_sample(), {{"y", "Yes", "allow_once"}}});
  print(out, {schema_of(dialect)});
  const auto& samples = dialect == Dialect::v1 ? v1_samples() : v2_samples();
  for (const UpdateSample& sample : samples) {
    agent.update(out, "s", sample.body);
    print(out, {schema_of(dialect, sample.published)});
  }
}

void print_all(Dialect dialect) {
  print_client_calls(dialect);
  print_client_options(dialect);
  Agent agent({.name = "perdure-demo",
               .title = "Demo",
               .version = "1.0.0",
               .abilities = {true, true, true, true, true, true, true, true, true},
               .versions = Versions::v1_and_v2});
  std::vector<AgentEvent> events;
  agent.feed(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":)" +
                 std::string(dialect == Dialect::v1 ? "1" : "2") + "}}\n",
             events);
  CHECK(agent.dialect() == dialect);
  print_agent_answers(agent, dialect);
  print_agent_turn(agent, dialect);
}

}  // namespace
}  // namespace perdure::acp

int main() {
  perdure::acp::print_all(perdure::acp::Dialect::v1);
  perdure::acp::print_all(perdure::acp::Dialect::v2);
  return 0;
}
