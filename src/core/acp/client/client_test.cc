// The client's half with typical agents: each call and its answer, permissions, requests for
// services that we did not offer, unexpected answers, and noise in between.
#include "core/acp/client/client.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

std::vector<Event> feed(Client& client, std::string_view bytes) {
  std::vector<Event> events;
  client.feed(bytes, events);
  return events;
}

// The only event of a line, of the expected type.
template <class Expected>
Expected only(const std::vector<Event>& events) {
  EXPECT_EQ(events.size(), 1U);
  const Expected* event = events.empty() ? nullptr : std::get_if<Expected>(&events[0]);
  EXPECT_NE(event, nullptr) << (events.empty() ? -1 : static_cast<int>(events[0].index()));
  return event == nullptr ? Expected{} : *event;
}
template <class Expected>
Expected answer(Client& client, int id, std::string_view result) {
  return only<Expected>(feed(client, R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                                         R"(,"result":)" + std::string(result) + "}\n"));
}

constexpr std::string_view session_with_options =
    R"({"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[]},)"
    R"("configOptions":[{"id":"mdl","category":"model","type":"select","currentValue":"big"},)"
    R"({"id":"web","type":"boolean","currentValue":true}]})";

TEST(Client, initialize_tells_abilities_and_advertises_no_files) {
  Client client({.client_version = "1"});
  std::string out;
  client.initialize(out);
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,)"
                 R"("clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},)"
                 R"("terminal":false,"session":{"configOptions":{"boolean":{}},"notices":{},)"
                 R"("compaction":{}}},"clientInfo":{"name":"perdure","version":"1"}}})"
                 "\n");
  const auto told = answer<Initialized>(
      client, 1,
      R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":)"
      R"({"image":true,"audio":false},"sessionCapabilities":{"resume":{},"delete":{}}},)"
      R"("agentInfo":{"name":"a","version":"2"}})");
  EXPECT_EQ(told.protocol_version, 1);
  EXPECT_EQ(told.agent_name, "a");
  EXPECT_EQ(told.agent_version, "2");
  EXPECT_TRUE(told.abilities.load && told.abilities.resume && told.abilities.remove);
  EXPECT_TRUE(told.abilities.image);
  EXPECT_FALSE(told.abilities.audio || told.abilities.list || told.abilities.close);
}

TEST(Client, an_agent_of_another_version_fails_initialize) {
  Client client({});
  std::string out;
  client.initialize(out);
  const auto failed = answer<CallFailed>(client, 1, R"({"protocolVersion":99})");
  EXPECT_EQ(failed.call, Call::initialize);
  EXPECT_EQ(failed.failure, Failure::version);
}

TEST(Client, new_session_tells_its_options) {
  Client client({});
  std::string out;
  client.open_new(out, {.cwd = "/w", .additional_directories = {"/x"}});
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w",)"
                 R"("mcpServers":[],"additionalDirectories":["/x"]}})"
                 "\n");
  const auto opened = answer<SessionOpened>(client, 1, session_with_options);
  EXPECT_EQ(opened.call, Call::open_new);
  EXPECT_EQ(opened.session_id, "s");
  EXPECT_EQ(opened.options,
            (std::vector<OptionValue>{{"model", "big"}, {"web", "true"}, {"mode", "ask"}}));
}

TEST(Client, R1_load_answers_of_every_shape_are_taken) {
  for (const std::string_view result : {"null", "{}", R"({"sessionId":"other"})"}) {
    Client client({});
    std::string out;
    client.load(out, "s", {.cwd = "/w"});
    const auto opened = answer<SessionOpened>(client, 1, result);
    EXPECT_EQ(opened.call, Call::load);
    EXPECT_EQ(opened.asked_session_id, "s");
    EXPECT_EQ(opened.session_id, result.starts_with(R"({"s)") ? "other" : "");
    EXPECT_EQ(opened.result.text, result);
  }
}

TEST(Client, R1_error_of_a_load_is_classified_and_its_data_kept) {
  Client client({});
  std::string out;
  client.load(out, "s", {.cwd = "/w"});
  const auto failed = only<CallFailed>(
      feed(client, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error",)"
                   R"("data":{"details":"no rollout found for thread id 7"}}})"
                   "\n"));
  EXPECT_EQ(failed.call, Call::load);
  EXPECT_EQ(failed.failure, Failure::session_unknown);
  EXPECT_EQ(failed.session_id, "s");
  EXPECT_EQ(failed.error.data.text, R"({"details":"no rollout found for thread id 7"})");
}

TEST(Client, a_turn_of_v1_ends_with_the_answer_to_its_prompt) {
  Client client({});
  std::string out;
  client.prompt(out, "s", R"([{"type":"text","text":"hi"}])");
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":1,"method":"session/prompt","params":)"
                 R"({"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}})"
                 "\n");
  const auto updated = only<Updated>(
      feed(client, R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",)"
                   R"("update":{"sessionUpdate":"agent_message_chunk",)"
                   R"("content":{"type":"text","text":"ho"}}}})"
                   "\n"));
  EXPECT_EQ(updated.session_id, "s");
  EXPECT_EQ(std::get<MessageChunk>(updated.update.body).text, "ho");
  const auto ended =
      answer<TurnEnded>(client, 1, R"({"stopReason":"max_tokens","usage":{"totalTokens":3}})");
  EXPECT_EQ(ended.stop_reason, "max_tokens");
  EXPECT_EQ(ended.usage.text, R"({"totalTokens":3})");
  EXPECT_EQ(ended.session_id, "s");
}

TEST(Client, P13_rate_limit_of_a_prompt_has_its_time) {
  Client client({});
  std::string out;
  client.prompt(out, "s", "[]");
  const auto failed =
      only<CallFailed>(feed(client, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,)"
                                    R"("message":"Claude AI usage limit reached|1794744000"}})"
                                    "\n"));
  EXPECT_EQ(failed.failure, Failure::rate_limited);
  EXPECT_EQ(failed.reset_at, Timestamp{1794744000000});
}

TEST(Client, an_answer_counts_once) {
  Client client({});
  std::string out;
  client.prompt(out, "s", "[]");
  answer<TurnEnded>(client, 1, R"({"stopReason":"end_turn"})");
  EXPECT_TRUE(feed(client, R"({"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}})"
                           "\n")
                  .empty());
  EXPECT_TRUE(feed(client, R"({"jsonrpc":"2.0","id":77,"result":{}})"
                           "\n")
                  .empty());
  EXPECT_EQ(client.lines_dropped(), 2U);
}

TEST(Client, an_id_given_back_as_text_is_ours) {
  Client client({});
  std::string out;
  client.prompt(out, "s", "[]");
  EXPECT_EQ(
      only<TurnEnded>(feed(client, R"({"jsonrpc":"2.0","id":"1","result":{"stopReason":"refusal"}})"
                                   "\n"))
          .stop_reason,
      "refusal");
}

TEST(Client, errors_that_answer_nothing_are_noise) {
  Client client({});
  const auto noise = only<Noise>(
      feed(client, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}})"
                   "\n"));
  EXPECT_EQ(noise.kind, NoiseKind::not_message);
}

TEST(Client, permission_shows_tool_and_choices_and_takes_an_answer) {
  Client client({});
  const auto asked = only<PermissionAsked>(
      feed(client, R"({"jsonrpc":"2.0","id":"u-1","method":"session/request_permission","params":)"
                   R"({"sessionId":"s","toolCall":{"toolCallId":"t","title":"Run it",)"
                   R"("rawInput":{"command":"rm a"}},"options":[{"optionId":"y","name":"Yes",)"
                   R"("kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}})"
                   "\n"));
  EXPECT_EQ(asked.session_id, "s");
  EXPECT_EQ(asked.tool_call_id, "t");
  EXPECT_EQ(asked.title, "Run it");
  ASSERT_TRUE(asked.tool);
  EXPECT_EQ(asked.tool->input, "rm a");
  EXPECT_EQ(asked.choices, (std::vector<PermissionChoice>{{"y", "Yes", "allow_once"},
                                                          {"n", "No", "reject_once"}}));
  std::string out;
  client.answer_permission(out, asked.id, "y");
  client.answer_permission_cancelled(out, asked.id);
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":"u-1","result":{"outcome":{"outcome":"selected",)"
                 R"("optionId":"y"}}})"
                 "\n"
                 R"({"jsonrpc":"2.0","id":"u-1","result":{"outcome":{"outcome":"cancelled"}}})"
                 "\n");
}

TEST(Client, permission_may_concern_no_tool) {
  Client client({});
  const auto asked = only<PermissionAsked>(
      feed(client, R"({"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{}})"
                   "\n"));
  EXPECT_EQ(asked.tool_call_id, "");
  EXPECT_FALSE(asked.tool);
  EXPECT_TRUE(asked.choices.empty());
}

TEST(Client, requests_that_nobody_offered_want_an_answer_too) {
  Client client({});
  const auto asked = only<Asked>(
      feed(client, R"({"jsonrpc":"2.0","id":4,"method":"craft/drainMidTurnQueue","params":)"
                   R"({"sessionId":"s"}})"
                   "\n"));
  EXPECT_EQ(asked.method, "craft/drainMidTurnQueue");
  EXPECT_EQ(asked.session_id, "s");
  std::string out;
  client.give_error(out, asked.id, {.code = rpc_code::method_not_found, .message = "no"});
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}})"
                 "\n");
}

TEST(Client, a_request_taken_back_names_itself) {
  Client client({});
  EXPECT_EQ(
      only<AskedNoMore>(feed(client, R"({"jsonrpc":"2.0","method":"$/cancel_request","params":)"
                                     R"({"requestId":"u-1"}})"
                                     "\n"))
          .id.text,
      R"("u-1")");
}

TEST(Client, unknown_notifications_are_handed_on) {
  Client client({});
  const auto notified = only<Notified>(
      feed(client, R"({"jsonrpc":"2.0","method":"_auth/status_update","params":{"a":1.0}})"
                   "\n"));
  EXPECT_EQ(notified.method, "_auth/status_update");
  EXPECT_EQ(notified.params.text, R"({"a":1.0})");
}

TEST(Client, X25_an_update_without_sense_is_kept_raw) {
  Client client({});
  const auto updated = only<Updated>(
      feed(client, R"({"jsonrpc":"2.0","method":"session/update","params":{"update":7}})"
                   "\n"));
  EXPECT_EQ(updated.session_id, "");
  EXPECT_EQ(updated.update.raw.text, "7");
}

TEST(Client, R9_options_are_set_by_the_way_that_the_agent_has) {
  Client client({});
  std::string out;
  client.open_new(out, {.cwd = "/w"});
  answer<SessionOpened>(client, 1, session_with_options);
  out.clear();
  EXPECT_TRUE(client.set_option(out, "s", {"model", "small"}));
  EXPECT_TRUE(client.set_option(out, "s", {"web", "false"}));
  EXPECT_TRUE(client.set_option(out, "s", {"mode", "auto"}));
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":2,"method":"session/set_config_option","params":)"
                 R"({"sessionId":"s","configId":"mdl","value":"small"}})"
                 "\n"
                 R"({"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":)"
                 R"({"sessionId":"s","configId":"web","type":"boolean","value":false}})"
                 "\n"
                 R"({"jsonrpc":"2.0","id":4,"method":"session/set_mode","params":)"
                 R"({"sessionId":"s","modeId":"auto"}})"
                 "\n");
  out.clear();
  EXPECT_FALSE(client.set_option(out, "s", {"thought_level", "high"}));
  EXPECT_FALSE(client.set_option(out, "unknown", {"mode", "auto"}));
  EXPECT_EQ(out, "");
  // set_mode has an empty answer: the event names the value that was set.
  EXPECT_EQ(answer<OptionSet>(client, 4, "{}").options,
            (std::vector<OptionValue>{{"mode", "auto"}}));
  EXPECT_EQ(answer<OptionSet>(client, 2,
                              R"({"configOptions":[{"id":"mdl","category":"model",)"
                              R"("currentValue":"medium"}]})")
                .options,
            (std::vector<OptionValue>{{"model", "medium"}}));
}

TEST(Client, R9_options_of_an_update_can_be_set) {
  Client client({});
  feed(client, R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)"
               R"({"sessionUpdate":"config_option_update","configOptions":[{"id":"deep",)"
               R"("type":"select","currentValue":"a"}]}}})"
               "\n");
  std::string out;
  EXPECT_TRUE(client.set_option(out, "s", {"deep", "b"}));
}

TEST(Client, the_old_list_of_models_is_a_way_to_set_one) {
  Client client({});
  std::string out;
  client.open_new(out, {.cwd = "/w"});
  const auto opened = answer<SessionOpened>(
      client, 1, R"({"sessionId":"s","models":{"currentModelId":"big","availableModels":[]}})");
  EXPECT_EQ(opened.options, (std::vector<OptionValue>{{"model", "big"}}));
  out.clear();
  EXPECT_TRUE(client.set_option(out, "s", {"model", "small"}));
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","id":2,"method":"session/set_model","params":)"
                 R"({"sessionId":"s","modelId":"small"}})"
                 "\n");
}

TEST(Client, other_calls_are_answered_by_name) {
  Client client({});
  std::string out;
  client.close_session(out, "s");
  client.list(out, "next");
  client.call(out, "session/fork", R"({"sessionId":"s","cwd":"/w"})");
  client.authenticate(out, "key");
  EXPECT_EQ(answer<Answered>(client, 1, "{}").call, Call::close);
  EXPECT_EQ(answer<Answered>(client, 2, R"({"sessions":[]})").result.text, R"({"sessions":[]})");
  const auto fork = answer<Answered>(client, 3, "{}");
  EXPECT_EQ(fork.call, Call::fork);
  EXPECT_EQ(fork.method, "session/fork");
  EXPECT_EQ(fork.session_id, "s");
  EXPECT_EQ(answer<Answered>(client, 4, "{}").method, "authenticate");
}

TEST(Client, cancel_is_a_notification) {
  Client client({});
  std::string out;
  client.cancel(out, "s");
  EXPECT_EQ(out, R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})"
                 "\n");
}

TEST(Client, P8_noise_between_messages_costs_none) {
  Client client({});
  const auto events = feed(
      client, "banner\n\x1b[0m{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\r\n[{}]\n{\"level\":30}\n");
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(std::get<Noise>(events[0]).text, "banner");
  EXPECT_EQ(std::get<Noise>(events[1]).text, "\x1b[0m");
  EXPECT_EQ(std::get<Notified>(events[2]).method, "a");
  EXPECT_EQ(std::get<Noise>(events[3]).kind, NoiseKind::batch);
  EXPECT_EQ(std::get<Noise>(events[4]).kind, NoiseKind::not_message);
}

TEST(Client, P8_a_last_line_without_newline_counts) {
  Client client({});
  std::vector<Event> events;
  client.feed(R"({"jsonrpc":"2.0","method":"a"})", events);
  EXPECT_TRUE(events.empty());
  EXPECT_GT(client.buffered_bytes(), 0U);
  client.feed_end(events);
  EXPECT_EQ(only<Notified>(events).method, "a");
  EXPECT_EQ(client.buffered_bytes(), 0U);
}

TEST(Client, calls_without_an_answer_are_bounded) {
  Client client({});
  std::string out;
  for (std::size_t i = 0; i <= acp_calls_open_max; ++i) client.list(out, "");
  EXPECT_TRUE(feed(client, R"({"jsonrpc":"2.0","id":1,"result":{}})"
                           "\n")
                  .empty());
  EXPECT_EQ(answer<Answered>(client, 2, "{}").call, Call::list);
}

TEST(Client, known_sessions_are_bounded) {
  Client client({});
  std::string out;
  for (std::size_t i = 0; i <= acp_sessions_known_max; ++i) {
    client.load(out, "s" + std::to_string(i), {.cwd = "/w"});
    answer<SessionOpened>(client, static_cast<int>(i) + 1,
                          R"({"modes":{"currentModeId":"a","availableModes":[]}})");
  }
  EXPECT_FALSE(client.set_option(out, "s0", {"mode", "b"}));
  EXPECT_TRUE(client.set_option(out, "s1", {"mode", "b"}));
}

}  // namespace
}  // namespace perdure::acp
