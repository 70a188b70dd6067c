// Any JSON as a message, an update and an error: parse, print and parse again agree; and any bytes
// given to both halves of a connection, with calls open, cause no failure.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json/json.h"
#include "base/text.h"
#include "core/acp/agent/agent.h"
#include "core/acp/classify.h"
#include "core/acp/client/client.h"

namespace perdure::acp {
namespace {

void check_message(std::string_view object) {
  const auto message = parse_rpc(object);
  if (!message) return;
  std::string printed;
  switch (message->kind) {
    case RpcMessage::Kind::request:
      append_request(printed, message->id, {message->method, message->params});
      break;
    case RpcMessage::Kind::notification:
      append_notification(printed, {message->method, message->params});
      break;
    case RpcMessage::Kind::result: append_result(printed, message->id, message->result); break;
    case RpcMessage::Kind::error:
      append_error(printed, message->id, parse_rpc_error(message->error));
      break;
  }
  CHECK(printed.ends_with('\n') && printed.find('\n') + 1 == printed.size());
  printed.pop_back();
  CHECK(json_validate(printed).has_value());
  const auto again = parse_rpc(printed);
  CHECK(again && again->kind == message->kind && again->id == message->id);
  CHECK(again->method == message->method);
  CHECK(parse_rpc_error(again->error) == parse_rpc_error(message->error));
}

// Printing normalises other dialects and omitted fields; after that nothing changes.
void check_update(std::string_view raw) {
  const SessionUpdate update = parse_update(raw);
  CHECK(update.raw.text == raw);
  for (const Dialect dialect : {Dialect::v1, Dialect::v2}) {
    const std::string printed = print_update(update.body, dialect);
    CHECK(json_validate(printed).has_value());
    if (std::holds_alternative<UnknownUpdate>(update.body)) continue;
    const SessionUpdate again = parse_update(printed);
    CHECK(print_update(again.body, dialect) == printed);
  }
}

void check_error(std::string_view raw) {
  const RpcError error = parse_rpc_error(raw);
  CHECK(parse_rpc_error(print_rpc_error(error)) == error);
  for (unsigned call = 0; call <= static_cast<unsigned>(Call::other); ++call) {
    const Verdict verdict = classify(static_cast<Call>(call), error);
    CHECK(!failure_name(verdict.failure).empty());
    CHECK(verdict.failure == Failure::rate_limited ||
          (!verdict.reset_at && !verdict.retry_after_ms));
  }
}

void check_halves(std::string_view bytes) {
  Client client({.protocol_version = bytes.size() % 2 == 0 ? 1 : 2});
  std::string out;
  client.initialize(out);
  client.open_new(out, {.cwd = "/w"});
  client.prompt(out, "s", "[]");
  client.load(out, "s", {.cwd = "/w"});
  std::vector<Event> events;
  client.feed(bytes, events);
  client.feed_end(events);
  for (const Event& event : events) {
    if (const auto* noise = std::get_if<Noise>(&event)) CHECK(is_utf8(noise->text));
  }
  client.set_option(out, "s", {"mode", "a"});
  Agent agent({.name = "a", .version = "1", .versions = Versions::v1_and_v2});
  std::vector<AgentEvent> asked;
  agent.ask_permission(out, "s", {});
  agent.feed(bytes, asked);
  agent.feed_end(asked);
}

}  // namespace
}  // namespace perdure::acp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace perdure;
  const std::string_view all(reinterpret_cast<const char*>(bytes), size);
  acp::check_halves(all);
  // Printing puts everything on one line, so line breaks between tokens would differ.
  if (all.find_first_of("\n\r") != std::string_view::npos || !json_validate(all)) return 0;
  acp::check_message(all);
  acp::check_update(all);
  acp::check_error(all);
  return 0;
}
