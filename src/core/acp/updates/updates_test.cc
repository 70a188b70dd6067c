// Every variant of session/update reads into its own type and reads back after printing; unknown
// content is kept unchanged; agents' different spellings give the same result.
#include "core/acp/updates/updates.h"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/text.h"
#include "core/acp/samples_for_test.h"

namespace perdure::acp {
namespace {

template <class Body>
Body parse_as(std::string_view text) {
  const SessionUpdate update = parse_update(text);
  EXPECT_EQ(update.raw.text, text);
  const Body* body = std::get_if<Body>(&update.body);
  EXPECT_NE(body, nullptr) << text;
  return body == nullptr ? Body{} : *body;
}

TEST(Updates, X25_what_is_unknown_is_kept_raw) {
  for (const std::string_view text :
       {R"({"sessionUpdate":"dance_update","steps":[1.50,{"a":null}]})", R"({"no":"kind"})",
        R"({"sessionUpdate":7})", "17", "null", "[]"}) {
    const SessionUpdate update = parse_update(text);
    EXPECT_TRUE(std::holds_alternative<UnknownUpdate>(update.body)) << text;
    EXPECT_EQ(update.raw.text, text);
  }
  EXPECT_EQ(parse_update(R"({"sessionUpdate":"dance_update"})").kind, "dance_update");
}

TEST(Updates, X25_members_of_strange_types_leave_the_typed_part_empty) {
  EXPECT_EQ(parse_as<MessageChunk>(
                R"({"sessionUpdate":"agent_message_chunk","content":"plain","messageId":5})"),
            (MessageChunk{.block = ""}));
  EXPECT_EQ(parse_as<ToolUpserted>(
                R"({"sessionUpdate":"tool_call_update","toolCallId":null,"content":{"type":"?"},)"
                R"("locations":"x","status":3,"rawInput":[1],"_meta":"m"})"),
            (ToolUpserted{.content = ToolContent{},
                          .locations = std::vector<ToolLocation>{},
                          .input = "[1]",
                          .raw_input = {"[1]"}}));
  EXPECT_EQ(parse_as<UsageShown>(R"({"sessionUpdate":"usage_update","used":"x","size":1e99})"),
            UsageShown{});
  EXPECT_EQ(parse_as<PlanShown>(R"({"sessionUpdate":"plan","entries":[7]})"),
            (PlanShown{.entries = {{}}}));
}

void expect_reads_back(const std::vector<UpdateSample>& samples, Dialect dialect) {
  for (const UpdateSample& sample : samples) {
    const std::string printed = print_update(sample.body, dialect);
    ASSERT_TRUE(json_validate(printed).has_value()) << printed;
    EXPECT_EQ(parse_update(printed).body, sample.body) << printed;
  }
}

TEST(Updates, what_is_printed_reads_back_in_v1) { expect_reads_back(v1_samples(), Dialect::v1); }
TEST(Updates, what_is_printed_reads_back_in_v2) { expect_reads_back(v2_samples(), Dialect::v2); }

TEST(Updates, the_samples_have_every_variant) {
  std::set<std::size_t> kinds;
  for (const UpdateSample& sample : v1_samples()) kinds.insert(sample.body.index());
  for (const UpdateSample& sample : v2_samples()) kinds.insert(sample.body.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<UpdateBody> - 1);  // all but the unknown
}

TEST(Updates, chunks_of_other_blocks_tell_their_kind) {
  const auto image = parse_as<MessageChunk>(
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA=="}})");
  EXPECT_EQ(image.block, "image");
  EXPECT_EQ(image.text, "");
  const auto resource = parse_as<MessageChunk>(
      R"({"sessionUpdate":"user_message_chunk","content":)"
      R"({"type":"resource","resource":{"uri":"file:///a","text":"inside"}}})");
  EXPECT_EQ(resource.block, "resource");
  EXPECT_EQ(resource.text, "inside");
}

TEST(Updates, order_of_members_does_not_matter) {
  const auto tool = parse_as<ToolUpserted>(
      R"({"toolCallId":"t","status":"completed","sessionUpdate":"tool_call_update"})");
  EXPECT_EQ(tool.tool_call_id, "t");
  EXPECT_EQ(tool.status, "completed");
  EXPECT_FALSE(tool.announced);
}

TEST(Updates, an_update_with_many_members_is_read_whole) {
  std::string text = R"({"sessionUpdate":"agent_message_chunk",)";
  for (int i = 0; i < 40; ++i) text += "\"x" + std::to_string(i) + "\":1,";
  text += R"("content":{"type":"text","text":"a"},"messageId":"m"})";
  EXPECT_EQ(parse_as<MessageChunk>(text), (MessageChunk{.message_id = "m", .text = "a"}));
}

TEST(Updates, a_mode_is_found_under_both_of_its_names) {
  EXPECT_EQ(
      parse_as<ModeShown>(R"({"sessionUpdate":"current_mode_update","currentModeId":"a"})").mode,
      "a");
  EXPECT_EQ(parse_as<ModeShown>(R"({"sessionUpdate":"current_mode_update","modeId":"b"})").mode,
            "b");
}

std::string input_of(std::string_view raw_input) {
  return parse_tool(R"({"rawInput":)" + std::string(raw_input) + "}").input;
}

TEST(Updates, input_of_a_tool_is_what_a_person_wants_to_read) {
  EXPECT_EQ(input_of(R"({"description":"d","command":"make"})"), "make");
  EXPECT_EQ(input_of(R"({"command":["bash","-lc","make"]})"), "bash -lc make");
  EXPECT_EQ(input_of(R"({"file_path":"/w/a","content":"c"})"), "/w/a");
  EXPECT_EQ(input_of(R"({"a":{"b":1}})"), R"({"a":{"b":1}})");
  EXPECT_EQ(input_of("\"text\""), "text");
  EXPECT_EQ(input_of("{}"), "");
  EXPECT_EQ(input_of("null"), "");
  std::string long_text;
  while (long_text.size() < 3000) long_text += "é";
  const std::string cut = input_of("{\"command\":\"x" + long_text + "\"}");
  EXPECT_TRUE(is_utf8(cut));
  EXPECT_EQ(cut.size(), acp_tool_input_bytes_max - 1);
}

TEST(Updates, output_of_a_tool_is_found_where_agents_put_it) {
  EXPECT_EQ(parse_tool(R"({"rawOutput":"a"})").output, "a");
  EXPECT_EQ(parse_tool(R"({"rawOutput":{"output":"b","metadata":{}}})").output, "b");
  EXPECT_EQ(parse_tool(R"({"rawOutput":{"stdout":"c"}})").output, "c");
  EXPECT_EQ(parse_tool(R"({"rawOutput":{"content":"d"}})").output, "d");
  EXPECT_EQ(parse_tool(R"({"rawOutput":{"x":1}})").output, std::nullopt);
  EXPECT_EQ(parse_tool(R"({"_meta":{"terminal_output_delta":{"data":"e"}}})").output_added, "e");
  EXPECT_EQ(parse_tool(R"({"_meta":{"terminal_output":{"data":"f"}}})").output_added, "f");
}

TEST(Updates, null_members_of_an_upsert_change_nothing) {
  const ToolUpserted tool = parse_tool(
      R"({"toolCallId":"t","title":null,"content":null,"locations":null,"rawOutput":null})");
  EXPECT_EQ(tool, (ToolUpserted{.tool_call_id = "t"}));
}

TEST(Updates, options_are_named_by_what_they_are) {
  const auto options = parse_options(
      R"([{"id":"m1","category":"model","type":"select","currentValue":"big","options":)"
      R"([{"group":"g","name":"G","options":[{"value":"big","name":"Big"}]},)"
      R"({"value":"s","name":"S"}]},)"
      R"({"configId":"approval","category":"mode","currentValue":"ask"},)"
      R"({"id":"m2","category":"model","currentValue":"small"},)"
      R"({"id":"web","type":"boolean","currentValue":false}])");
  ASSERT_EQ(options.size(), 4U);
  EXPECT_EQ(options[0].choices, (std::vector<OptionChoice>{{"big", "Big"}, {"s", "S"}}));
  EXPECT_EQ(option_values(options),
            (std::vector<OptionValue>{
                {"model", "big"}, {"mode", "ask"}, {"m2", "small"}, {"web", "false"}}));
}

TEST(Updates, bytes_of_a_terminal_come_with_and_without_padding) {
  const auto bytes_of = [](const std::string& data) {
    const std::string raw =
        R"({"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":")" + data + "\"}";
    return std::get<TerminalOutput>(parse_update(raw).body).bytes;
  };
  EXPECT_EQ(bytes_of("YQ=="), "a");
  EXPECT_EQ(bytes_of("YQ"), "a");
  EXPECT_EQ(bytes_of("Y"), "");
  EXPECT_EQ(bytes_of("Y Q="), "");
}

TEST(Updates, X14_what_options_can_be_set_to_goes_from_an_answer_into_an_update_and_back) {
  const RawJson options = options_update(
      R"({"sessionId":"s","configOptions":[{"id":"m","name":"M","category":"mode","type":)"
      R"("select","currentValue":"a","options":[{"value":"a","name":"A"}]}]})");
  EXPECT_EQ(parse_update(options.text).kind, "config_option_update");
  ASSERT_EQ(parse_options_update(options.text).size(), 1U);
  const RawJson modes = options_update(
      R"({"modes":{"currentModeId":"b","availableModes":[{"id":"a","name":"A"},{"id":"b","name":)"
      R"("B"}]}})");
  EXPECT_EQ(parse_update(modes.text).kind, "current_mode_update");
  const std::vector<ConfigOption> parsed = parse_options_update(modes.text);
  ASSERT_EQ(parsed.size(), 1U);
  EXPECT_EQ(parsed[0].value, "b");
  EXPECT_EQ(parsed[0].choices.size(), 2U);
  EXPECT_EQ(options_update(R"({"sessionId":"s"})").text, "");
  EXPECT_EQ(options_update("null").text, "");
  EXPECT_TRUE(parse_options_update(R"({"sessionUpdate":"current_mode_update"})").empty());
}

}  // namespace
}  // namespace perdure::acp
