// Converts an agent's updates to frames: the frame of each variant, tools as upserts, each setting
// reported once, and nothing of the agent's data left out.
#include "agentctl/supervisor/agent/normalise.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace perdure {
namespace {

using Bodies = std::vector<FrameBody>;

Bodies told(Normaliser& normaliser, std::string_view json) {
  Bodies frames;
  normaliser.update(acp::parse_update(json), frames);
  return frames;
}

Bodies told(Normaliser& normaliser, acp::UpdateBody body) {
  Bodies frames;
  normaliser.update({"", std::move(body), {R"({"raw":true})"}}, frames);
  return frames;
}

Bodies options_told(Normaliser& normaliser, const std::vector<acp::OptionValue>& options) {
  Bodies frames;
  normaliser.options(options, {R"({"answer":1})"}, frames);
  return frames;
}

void expect_becomes(const std::string& json, const FrameBody& frame) {
  Normaliser normaliser;
  EXPECT_EQ(told(normaliser, json), Bodies{frame}) << json;
}

TEST(Normalise, messages) {
  const std::string agent = R"({"sessionUpdate":"agent_message_chunk","messageId":"m1",)"
                            R"("content":{"type":"text","text":"Hi"}})";
  expect_becomes(agent, MessageAgent{"m1", "Hi", {agent}});
  const std::string bare =
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}})";
  expect_becomes(bare, MessageAgent{"", "Hi", {bare}});
  const std::string thought =
      R"({"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm"}})";
  expect_becomes(thought, MessageThought{"", "Hm", {thought}});
  // Not text: nothing to extract; the whole update is kept.
  const std::string image = R"({"sessionUpdate":"agent_message_chunk",)"
                            R"("content":{"type":"image","mimeType":"image/png","data":"AA=="}})";
  expect_becomes(image, MessageAgent{"", "", {image}});
  // The journal already has the user's prompt; an agent's echo of it is not a second message.
  const std::string echo =
      R"({"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"do it"}})";
  expect_becomes(echo, AgentUpdate{{echo}});
}

TEST(Normalise, tools) {
  const std::string call =
      R"({"sessionUpdate":"tool_call","toolCallId":"t1","title":"Run tests","kind":"execute",)"
      R"("status":"pending","rawInput":{"command":"make test"},"content":)"
      R"([{"type":"content","content":{"type":"text","text":"12 passed"}}]})";
  expect_becomes(call, ToolCall{.tool_call_id = "t1",
                                .title = "Run tests",
                                .tool_kind = "execute",
                                .status = "pending",
                                .input = "make test",
                                .text = "12 passed",
                                .update = {call}});
  // Its first mention may be an update.
  const std::string update =
      R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"})";
  expect_becomes(update, ToolCall{.tool_call_id = "t1", .status = "completed", .update = {update}});
  // Without an id it is not treated as a tool.
  const std::string nameless = R"({"sessionUpdate":"tool_call","title":"?"})";
  expect_becomes(nameless, AgentUpdate{{nameless}});
}

TEST(Normalise, what_a_tool_shows_is_its_text_else_its_output_else_its_files) {
  const auto text_of = [](acp::ToolUpserted tool) {
    tool.tool_call_id = "t";
    Normaliser normaliser;
    const Bodies frames = told(normaliser, std::move(tool));
    return get<ToolCall>(frames.at(0)).text;
  };
  const acp::ToolContent diffs{.diffs = {{.path = "a.cc", .old_text = "x", .new_text = "y"},
                                         {.path = "b.cc", .new_text = "y"},
                                         {.path = "c.cc", .patch = "@@"}}};
  acp::ToolContent both = diffs;
  both.text = "shown";
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({.content = both, .output = "out"}), "shown");
  EXPECT_EQ(text_of({.content = diffs, .output = "out"}), "out");
  EXPECT_EQ(text_of({.output = "out"}), "out");
  EXPECT_EQ(text_of({.content = diffs}), "changed a.cc\nnew file b.cc\nchanged c.cc\n");
}

TEST(Normalise, plans) {
  const std::string plan = R"({"sessionUpdate":"plan","entries":)"
                           R"([{"content":"a","priority":"high","status":"completed"},)"
                           R"({"content":"b","priority":"low","status":"in_progress"},)"
                           R"({"content":"c","priority":"low","status":"pending"}]})";
  expect_becomes(plan, Plan{"[x] a\n[>] b\n[ ] c\n", {plan}});
  Normaliser normaliser;
  EXPECT_EQ(told(normaliser, acp::PlanShown{.text = "# Plan"}),
            (Bodies{Plan{"# Plan", {R"({"raw":true})"}}}));
  EXPECT_EQ(told(normaliser, acp::PlanRemoved{"p"}), (Bodies{Plan{"", {R"({"raw":true})"}}}));
}

TEST(Normalise, commands_usage_and_compaction) {
  const std::string commands =
      R"({"sessionUpdate":"available_commands_update","availableCommands":[]})";
  expect_becomes(commands, Commands{{commands}});
  const std::string usage = R"({"sessionUpdate":"usage_update","used":120,"size":200000})";
  expect_becomes(usage, Usage{120, 200000, {usage}});
  const RawJson raw{R"({"raw":true})"};
  Normaliser normaliser;
  EXPECT_EQ(told(normaliser, acp::CompactionShown{.status = "in_progress"}),
            (Bodies{AgentUpdate{raw}}));
  EXPECT_EQ(told(normaliser, acp::CompactionShown{.status = "completed"}),
            (Bodies{AgentUpdate{raw}, FrameContextChanged{BoundaryHow::compacted}}));
}

TEST(Normalise, X25_what_is_unknown_is_kept_as_it_came) {
  for (const std::string text : {R"({"sessionUpdate":"dreamt","of":[1, 2.50]})",
                                 R"({"sessionUpdate":7})", R"([1,2])", R"("text")", "null", R"({})",
                                 R"({"sessionUpdate":"session_info_update","title":"A title"})"}) {
    expect_becomes(text, AgentUpdate{{text}});
  }
}

template <std::size_t Index = 0>
void expect_every_variant_keeps_its_update() {
  if constexpr (Index < std::variant_size_v<acp::UpdateBody>) {
    for (const bool whole : {false, true}) {
      Normaliser normaliser;
      if (whole) normaliser.expect_whole_messages();
      acp::UpdateBody body{std::in_place_index<Index>};
      if (auto* options = std::get_if<acp::OptionsShown>(&body)) {
        options->options = {{.id = "o", .value = "v"}};
      }
      if (auto* mode = std::get_if<acp::ModeShown>(&body)) mode->mode = "ask";
      std::size_t kept = 0;
      for (const FrameBody& frame : told(normaliser, body)) {
        visit(
            [&](const auto& one) {
              if constexpr (requires { one.update; }) {
                kept += one.update.text == R"({"raw":true})" ? 1 : 0;
              }
            },
            frame);
      }
      EXPECT_EQ(kept, 1U) << Index;
    }
    expect_every_variant_keeps_its_update<Index + 1>();
  }
}

TEST(Normalise, X25_every_variant_keeps_the_whole_update_once) {
  expect_every_variant_keeps_its_update();
}

TEST(Normalise, the_first_mention_of_a_tool_is_its_call_and_all_others_are_updates) {
  Normaliser normaliser;
  const auto kind_of = [&](acp::ToolUpserted tool) {
    const Bodies frames = told(normaliser, std::move(tool));
    EXPECT_EQ(frames.size(), 1U);
    return holds_alternative<ToolCall>(frames[0]) ? "call" : "update";
  };
  EXPECT_STREQ(kind_of({.tool_call_id = "a", .status = "in_progress"}), "call");
  EXPECT_STREQ(kind_of({.tool_call_id = "a", .announced = true}), "update");
  EXPECT_STREQ(kind_of({.tool_call_id = "b"}), "call");
  EXPECT_STREQ(kind_of({.tool_call_id = "a", .status = "completed"}), "update");
  // A permission request may be its first mention.
  Bodies frames;
  normaliser.tool({.tool_call_id = "c", .title = "rm"}, {}, frames);
  EXPECT_EQ(frames, (Bodies{ToolCall{.tool_call_id = "c", .title = "rm"}}));
  EXPECT_STREQ(kind_of({.tool_call_id = "c"}), "update");
  // Agents may still update tools of an earlier turn.
  normaliser.end_turn();
  EXPECT_STREQ(kind_of({.tool_call_id = "a", .status = "failed"}), "update");
}

TEST(Normalise, P6_knows_which_tools_are_under_way) {
  Normaliser normaliser;
  const auto after = [&](const char* id, const char* status) {
    told(normaliser, acp::ToolUpserted{.tool_call_id = id, .status = status});
    return normaliser.tools_in_flight();
  };
  EXPECT_EQ(normaliser.tools_in_flight(), 0U);
  EXPECT_EQ(after("a", "pending"), 1U);
  EXPECT_EQ(after("a", "in_progress"), 1U);
  EXPECT_EQ(after("b", "in_progress"), 2U);
  EXPECT_EQ(after("a", "completed"), 1U);
  EXPECT_EQ(after("c", "completed"), 1U);
  EXPECT_EQ(after("b", "cancelled"), 0U);
  EXPECT_EQ(after("d", "failed"), 0U);
  EXPECT_EQ(after("e", "an agent's own word"), 1U);
  // A late status does not reopen an ended tool.
  EXPECT_EQ(after("a", "in_progress"), 1U);
  normaliser.end_turn();
  EXPECT_EQ(normaliser.tools_in_flight(), 0U);
}

TEST(Normalise, remembers_a_bounded_number_of_tools) {
  Normaliser normaliser;
  for (std::size_t i = 0; i < tools_open_max + 10; ++i) {
    told(normaliser, acp::ToolUpserted{.tool_call_id = "t" + std::to_string(i)});
  }
  EXPECT_EQ(normaliser.tools_in_flight(), tools_open_max);
  normaliser.end_turn();
  const Bodies again = told(normaliser, acp::ToolUpserted{.tool_call_id = "t1"});
  EXPECT_TRUE(holds_alternative<ToolCall>(again.at(0)));
}

TEST(Normalise, G8_a_long_title_is_cut_and_stands_whole_in_the_update) {
  Normaliser normaliser;
  const std::string title = std::string(title_bytes_max - 1, 't') + "ü and more";
  const Bodies frames = told(normaliser, acp::ToolUpserted{.tool_call_id = "t", .title = title});
  EXPECT_EQ(get<ToolCall>(frames.at(0)).title, std::string(title_bytes_max - 1, 't'));
  EXPECT_EQ(get<ToolCall>(frames.at(0)).update.text, R"({"raw":true})");
}

TEST(Normalise, G8_R9_a_setting_that_is_too_long_is_kept_as_it_came) {
  Normaliser normaliser;
  const RawJson answer{R"({"answer":1})"};
  const std::string name(option_name_bytes_max + 1, 'n');
  const std::string value(option_value_bytes_max + 1, 'v');
  EXPECT_EQ(options_told(normaliser, {{name, "on"}, {"mode", value}}), Bodies{AgentUpdate{answer}});
  EXPECT_EQ(options_told(normaliser, {{name, "on"}, {"mode", "ask"}}),
            (Bodies{Mode{"mode", "ask", answer}}));
}

TEST(Normalise, R9_a_setting_is_told_once_until_it_changes) {
  Normaliser normaliser;
  const RawJson answer{R"({"answer":1})"};
  EXPECT_EQ(options_told(normaliser, {{"mode", "ask"}, {"model", "big"}}),
            (Bodies{Mode{"mode", "ask", answer}, Mode{"model", "big", {}}}));
  EXPECT_EQ(options_told(normaliser, {{"mode", "ask"}, {"model", "big"}}), Bodies{});
  EXPECT_EQ(options_told(normaliser, {{"mode", "ask"}, {"model", "small"}}),
            (Bodies{Mode{"model", "small", answer}}));
  // The same through an update, by either of its names.
  const std::string mode = R"({"sessionUpdate":"current_mode_update","currentModeId":"auto"})";
  EXPECT_EQ(told(normaliser, mode), (Bodies{Mode{"mode", "auto", {mode}}}));
  EXPECT_EQ(told(normaliser, mode), Bodies{});
  const std::string config =
      R"({"sessionUpdate":"config_option_update","configOptions":[{"id":"m","name":"Mode",)"
      R"("category":"mode","type":"select","currentValue":"ask","options":[]},{"id":"web",)"
      R"("name":"Web","type":"boolean","currentValue":true}]})";
  EXPECT_EQ(told(normaliser, config),
            (Bodies{Mode{"mode", "ask", {config}}, Mode{"web", "true", {}}}));
  EXPECT_EQ(told(normaliser, config), Bodies{});
  // A new agent session: its settings are reported as if for the first time.
  normaliser.forget_options();
  EXPECT_EQ(told(normaliser, mode), (Bodies{Mode{"mode", "auto", {mode}}}));
}

TEST(Normalise, remembers_a_bounded_number_of_settings) {
  Normaliser normaliser;
  for (std::size_t i = 0; i < options_known_max; ++i) {
    ASSERT_EQ(options_told(normaliser, {{"o" + std::to_string(i), "v"}}).size(), 1U);
  }
  ASSERT_EQ(options_told(normaliser, {{"one more", "v"}}).size(), 1U);
  EXPECT_EQ(options_told(normaliser, {{"o1", "v"}}).size(), 1U);  // forgotten, so reported again
  EXPECT_EQ(options_told(normaliser, {{"o1", "v"}}).size(), 0U);
}

acp::MessageChunk chunk(std::string id, std::string text) {
  return {.message_id = std::move(id), .text = std::move(text)};
}
acp::MessageWhole whole(std::string id, std::string text) {
  return {.message_id = std::move(id), .text = std::move(text)};
}

// The text that a message's frames add up to.
class Shown {
 public:
  Shown() { normaliser_.expect_whole_messages(); }
  const std::string& operator()(acp::UpdateBody body) {
    for (const FrameBody& frame : told(normaliser_, std::move(body))) {
      if (const auto* message = get_if<MessageAgent>(&frame)) text_ += message->text;
      if (const auto* thought = get_if<MessageThought>(&frame)) text_ += "(" + thought->text + ")";
    }
    return text_;
  }
  Normaliser& normaliser() { return normaliser_; }

 private:
  Normaliser normaliser_;
  std::string text_;
};

TEST(NormaliseWhole, a_message_that_comes_whole_adds_only_what_was_not_shown) {
  Shown shown;
  EXPECT_EQ(shown(chunk("m", "Hel")), "Hel");
  EXPECT_EQ(shown(chunk("m", "lo")), "Hello");
  EXPECT_EQ(shown(whole("m", "Hello")), "Hello");
  EXPECT_EQ(shown(whole("m", "Hello, world")), "Hello, world");
  EXPECT_EQ(shown(whole("m", "Hello, world")), "Hello, world");
  EXPECT_EQ(shown(chunk("m", "!")), "Hello, world!");
  EXPECT_EQ(shown(whole("m", "Hello, world!")), "Hello, world!");
}

TEST(NormaliseWhole, each_message_is_counted_apart) {
  Shown shown;
  EXPECT_EQ(shown(whole("a", "One. ")), "One. ");
  EXPECT_EQ(shown(whole("b", "One. ")), "One. One. ");
  EXPECT_EQ(shown(whole("a", "One. More.")), "One. One. More.");
}

TEST(NormaliseWhole, thoughts_too_and_never_what_a_person_typed) {
  Shown shown;
  EXPECT_EQ(shown(acp::MessageWhole{acp::Speaker::thought, "t", "hm"}), "(hm)");
  EXPECT_EQ(shown(acp::MessageWhole{acp::Speaker::user, "u", "do it"}), "(hm)");
  EXPECT_EQ(shown(acp::MessageWhole{acp::Speaker::agent, "v", std::nullopt}), "(hm)");
}

// The journal is append-only: a changed message stays as it was shown, and the update that changed
// it is kept whole.
TEST(NormaliseWhole, a_changed_message_is_not_shown_twice) {
  Normaliser normaliser;
  normaliser.expect_whole_messages();
  told(normaliser, chunk("m", "Hello"));
  for (const char* text : {"Goodbye, everybody", "Hell", ""}) {
    EXPECT_EQ(told(normaliser, whole("m", text)), (Bodies{AgentUpdate{{R"({"raw":true})"}}}));
  }
}

TEST(NormaliseWhole, a_long_message_is_not_shown_twice) {
  Shown shown;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const std::string piece(10'000, static_cast<char>('a' + i % 26));
    text += piece;
    ASSERT_TRUE(shown(chunk("m", piece)) == text);
  }
  EXPECT_TRUE(shown(whole("m", text)) == text);
  text += "the end";
  EXPECT_TRUE(shown(whole("m", text)) == text);
  EXPECT_TRUE(shown(whole("m", text)) == text);
}

TEST(NormaliseWhole, the_next_turn_begins_anew) {
  Shown shown;
  EXPECT_EQ(shown(chunk("m", "Hello")), "Hello");
  shown.normaliser().end_turn();
  EXPECT_EQ(shown(whole("m", "Again")), "HelloAgain");
}

TEST(NormaliseWhole, remembers_a_bounded_number_of_messages) {
  Shown shown;
  for (std::size_t i = 0; i <= messages_known_max; ++i) shown(chunk(std::to_string(i), "x"));
  const std::string before = shown(chunk("last", "y"));
  EXPECT_EQ(shown(whole("last", "y")), before);
  EXPECT_EQ(shown(whole("1", "x")), before + "x");  // forgotten, so shown again
}

// The text that a tool's records add up to, computed like the transcript does.
class ToolOutput {
 public:
  ToolOutput& operator<<(std::string_view json) {
    for (const FrameBody& frame : told(normaliser_, json)) {
      if (const auto* call = get_if<ToolCall>(&frame)) text_ = call->text;
      if (const auto* update = get_if<ToolUpdate>(&frame)) {
        if (!update->text.empty()) text_ = update->text;
        text_ += update->added;
      }
      if (holds_alternative<AgentUpdate>(frame)) ++kept_;
    }
    return *this;
  }
  const std::string& text() const { return text_; }
  std::size_t kept() const { return kept_; }
  Normaliser& normaliser() { return normaliser_; }

 private:
  Normaliser normaliser_;
  std::string text_;
  std::size_t kept_ = 0;
};

TEST(NormaliseOutput, content_of_a_tool_that_comes_piece_by_piece_is_added) {
  ToolOutput tool;
  tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress"})"
       << R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":)"
          R"({"type":"content","content":{"type":"text","text":"one, "}}})"
       << R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":)"
          R"({"type":"content","content":{"type":"text","text":"two"}}})";
  EXPECT_EQ(tool.text(), "one, two");
  tool << R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":)"
          R"({"type":"diff","changes":[{"operation":"modify","path":"a.cc"}],)"
          R"("patch":{"text":"@"}}})";
  EXPECT_EQ(tool.text(), "one, twochanged a.cc\n");
  // The whole text, if it comes at the end, replaces the pieces.
  tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":)"
          R"([{"type":"content","content":{"type":"text","text":"one, two, three"}}]})";
  EXPECT_EQ(tool.text(), "one, two, three");
  EXPECT_EQ(tool.normaliser().tools_in_flight(), 0U);
}

TEST(NormaliseOutput, a_piece_may_be_the_first_mention_of_its_tool) {
  Normaliser normaliser;
  const Bodies frames =
      told(normaliser, R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":)"
                       R"({"type":"content","content":{"type":"text","text":"early"}}})");
  ASSERT_TRUE(holds_alternative<ToolCall>(frames.at(0)));
  EXPECT_EQ(get<ToolCall>(frames[0]).text, "early");
  EXPECT_EQ(normaliser.tools_in_flight(), 1U);
}

// As codex sends it in version 1: output next to the update, for clients with a terminal.
TEST(NormaliseOutput, deltas_beside_an_update_are_added) {
  ToolOutput tool;
  tool << R"({"sessionUpdate":"tool_call","toolCallId":"c1","title":"make","kind":"execute",)"
          R"("status":"in_progress","content":[{"type":"terminal","terminalId":"c1"}],)"
          R"("_meta":{"terminal_info":{"terminal_id":"c1","cwd":"/w"}}})"
       << R"({"sessionUpdate":"tool_call_update","toolCallId":"c1",)"
          R"("_meta":{"terminal_output_delta":{"data":"compiling\n","terminal_id":"c1"}}})"
       << R"({"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed",)"
          R"("_meta":{"terminal_output_delta":{"data":"linking\n","terminal_id":"c1"},)"
          R"("terminal_exit":{"exit_code":0,"signal":null,"terminal_id":"c1"}}})";
  EXPECT_EQ(tool.text(), "compiling\nlinking\n");
  // If an update has both, the whole counts.
  tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"c1",)"
          R"("rawOutput":{"formatted_output":"all of it"},)"
          R"("_meta":{"terminal_output_delta":{"data":"of it","terminal_id":"c1"}}})";
  EXPECT_EQ(tool.text(), "all of it");
}

// In version 2: a separate terminal, shown by a tool; bytes in base64.
TEST(NormaliseOutput, a_terminal_s_output_belongs_to_the_tool_that_shows_it) {
  ToolOutput tool;
  tool << R"({"sessionUpdate":"terminal_update","terminalId":"x","command":"make"})"
       << R"({"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress",)"
          R"("content":[{"type":"terminal","terminalId":"x"}]})"
       << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"b25lIA=="})"
       << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"dHdv"})";
  EXPECT_EQ(tool.text(), "one two");
  EXPECT_EQ(tool.kept(), 1U) << "what tells no output is kept as it came";
  tool << R"({"sessionUpdate":"terminal_update","terminalId":"x","output":{"data":"dGhyZWU="},)"
          R"("exitStatus":{"exitCode":0}})";
  EXPECT_EQ(tool.text(), "three");
  // Some agents give the terminal the id of its tool call and do not show it.
  tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"in_progress"})"
       << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"c2","data":"Zm91cg=="})";
  EXPECT_EQ(tool.text(), "four");
  // Belongs to no tool: kept but not shown.
  tool << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"y","data":"Zml2ZQ=="})";
  EXPECT_EQ(tool.text(), "four");
  EXPECT_EQ(tool.kept(), 2U);
}

TEST(NormaliseOutput, P8_a_character_that_is_cut_between_two_pieces_stays_whole) {
  ToolOutput tool;
  const auto piece = [](const char* base64) {
    return std::string(R"({"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":")") +
           base64 + "\"}";
  };
  tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"t"})" << piece("4oI=")
       << piece("rCE=");  // e2 82, ac 21
  EXPECT_EQ(tool.text(), "\u20ac!");
  tool << piece("/0E=");  // ff 41: not a valid character
  EXPECT_EQ(tool.text(), "\u20ac!\ufffdA");
}

TEST(NormaliseBounds, G8_ids_are_remembered_up_to_so_many_bytes) {
  Normaliser normaliser;
  const auto id = [](std::size_t i) { return std::to_string(i) + std::string(64UL << 10, 'i'); };
  const auto is_call = [&](std::size_t i) {
    return holds_alternative<ToolCall>(
        told(normaliser, acp::ToolUpserted{.tool_call_id = id(i)}).at(0));
  };
  for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(is_call(i));
  EXPECT_EQ(normaliser.tools_in_flight(), 7U);
  EXPECT_FALSE(is_call(1));
  EXPECT_TRUE(is_call(99)) << "there was no room to know it again";
  normaliser.end_turn();
  EXPECT_TRUE(is_call(1)) << "room for others";
}

TEST(NormaliseBounds, G8_P15_of_much_work_that_was_left_eight_are_named) {
  Normaliser normaliser;
  for (int i = 10; i < 30; ++i) {
    told(normaliser, R"({"sessionUpdate":"subagent_update","sessionId":"c)" + std::to_string(i) +
                         R"(","title":")" + std::string(200, 'x') + "\\n" +
                         R"(","state":{"state":"running"}})");
  }
  const std::string line = normaliser.work_left();
  EXPECT_TRUE(line.ends_with("; and 12 more")) << line;
  EXPECT_LT(line.size(), 8 * 82 + 20U);
  normaliser.forget_work();
  EXPECT_EQ(normaliser.work_left(), "");
}

TEST(NormaliseBounds, G8_settings_and_messages_are_remembered_up_to_so_many_bytes) {
  Normaliser normaliser;
  const auto tell = [&](std::size_t number) {
    return options_told(normaliser,
                        {{std::to_string(number), std::string(option_value_bytes_max, 'v')}})
        .size();
  };
  constexpr std::size_t room = agent_ids_bytes_max / option_value_bytes_max;  // without names
  for (std::size_t i = 1; i < room; ++i) EXPECT_EQ(tell(i), 1U);
  EXPECT_EQ(tell(1), 0U);
  EXPECT_EQ(tell(room), 1U);
  EXPECT_EQ(tell(1), 1U) << "forgotten, so told again";

  const std::string large(agent_ids_bytes_max / 2, 'v');
  Shown shown;
  const std::string first = "1" + large;
  EXPECT_EQ(shown(chunk(first, "x")), "x");
  EXPECT_EQ(shown(whole(first, "x")), "x");
  EXPECT_EQ(shown(chunk("2" + large, "y")), "xy");
  EXPECT_EQ(shown(whole(first, "x")), "xyx") << "forgotten, so shown again";
}

TEST(NormaliseBounds, G8_of_terminals_the_oldest_is_forgotten) {
  ToolOutput tool;
  for (std::size_t i = 0; i <= agent_terminals_known_max; ++i) {
    tool << R"({"sessionUpdate":"tool_call_update","toolCallId":"c","content":)"
            R"([{"type":"terminal","terminalId":"x)" +
                std::to_string(i) + R"("}]})";
  }
  tool << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"x1","data":"b25l"})";
  EXPECT_EQ(tool.text(), "one");
  tool << R"({"sessionUpdate":"terminal_output_chunk","terminalId":"x0","data":"dHdv"})";
  EXPECT_EQ(tool.text(), "one");
  EXPECT_EQ(tool.kept(), 1U);
}

}  // namespace
}  // namespace perdure
