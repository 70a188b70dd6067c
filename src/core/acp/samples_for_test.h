// One update of every variant, for tests that must cover all: reading back printed updates, and the
// check against the protocol's published schema.
#pragma once

#include <string>
#include <vector>

#include "core/acp/updates/updates.h"

namespace perdure::acp {

// The narrowest published schema that has the variant.
enum class Published { stable, unstable };

struct UpdateSample {
  UpdateBody body;
  Published published = Published::stable;
};

inline ConfigOption mode_option() {
  return {.id = "m",
          .name = "Mode",
          .category = "mode",
          .type = "select",
          .value = "ask",
          .choices = {{"ask", "Ask first"}, {"auto", "Do it"}}};
}

inline ConfigOption flag_option() {
  return {.id = "web", .name = "Web", .type = "boolean", .value = "true"};
}

inline ToolUpserted tool_sample() {
  return {.tool_call_id = "t1",
          .title = "Run tests",
          .tool_name = "shell",
          .kind = "execute",
          .status = "in_progress",
          .content = ToolContent{.text = "12 passed\n\"é\"", .terminals = {"term1"}},
          .locations = std::vector<ToolLocation>{{"/w/a.cc", 12}, {"/w/b.cc", {}}},
          .input = "make test",
          .output = "done",
          .output_added = "more",
          .raw_input = {R"({"command":"make test"})"},
          .raw_output = {R"({"output":"done"})"}};
}

// The samples that have the same meaning in both versions.
inline std::vector<UpdateSample> shared_samples() {
  return {
      {MessageChunk{Speaker::user, "m1", "text", "do \"it\""}},
      {MessageChunk{Speaker::agent, "m2", "text", "I will\n"}},
      {MessageChunk{Speaker::thought, "m3", "text", "hm"}},
      {tool_sample()},
      {ToolUpserted{.tool_call_id = "t1", .status = "completed"}},
      {CommandsOffered{{{"plan", "Make a plan", "what for"}, {"clear", "Forget all", ""}}}},
      {OptionsShown{{mode_option(), flag_option()}}},
      {TitleShown{"A title", "2026-11-15T12:00:00.000Z"}},
      {UsageShown{.used = 120, .size = 200000, .cost = "0.0016", .currency = "USD"}},
      {UsageShown{.used = 1, .size = 2}},
      {NoticeShown{"warning", "Slow", "The model is slow."}},
      {CompactionShown{"c1", "completed", "We did things.", ""}},
      {CompactionShown{"c1", "failed", "", "no room"}},
      {CompactionChunk{"c1", "We did"}},
      {PlanRemoved{"p1"}, Published::unstable},
      {PlanShown{.plan_id = "p1", .text = "# Plan"}, Published::unstable},
      {PlanShown{.plan_id = "p1", .uri = "file:///w/plan.md"}, Published::unstable},
      {SubagentShown{"s2", "Searcher", "looks around", "running"}, Published::unstable},
      {SessionMessage{"m4", "s1", "s2", "go"}, Published::unstable},
      {SessionMessageChunk{"m4", "go"}, Published::unstable},
  };
}

inline std::vector<UpdateSample> v1_samples() {
  std::vector<UpdateSample> samples = shared_samples();
  ToolUpserted edit{.tool_call_id = "t2",
                    .title = "Edit a.cc",
                    .kind = "edit",
                    .status = "pending",
                    .content = ToolContent{.diffs = {{"/w/a.cc", "old", "new", ""},
                                                     {"/w/b.cc", {}, "created", ""}}},
                    .announced = true};
  samples.push_back({edit});
  samples.push_back(
      {PlanShown{.entries = {{"Look", "high", "completed"}, {"Do", "low", "pending"}}}});
  samples.push_back({PlanShown{.plan_id = "p1", .entries = {{"Look", "high", "in_progress"}}},
                     Published::unstable});
  samples.push_back({ModeShown{"auto"}});
  return samples;
}

inline std::vector<UpdateSample> v2_samples() {
  std::vector<UpdateSample> samples = shared_samples();
  const ToolContent patch{.diffs = {{"/w/a.cc", {}, "", "--- a/a.cc\n+++ b/a.cc\n", "modify", ""},
                                    {"/w/c.cc", {}, "", "", "move", "/w/b.cc"}}};
  for (const UpdateBody& body : std::vector<UpdateBody>{
           MessageWhole{Speaker::user, "m1", "do it"},
           MessageWhole{Speaker::agent, "m2", ""},
           MessageWhole{Speaker::thought, "m3", {}},
           ToolUpserted{.tool_call_id = "t2", .kind = "edit", .content = patch},
           ToolContentAdded{"t1", {.text = "one more line"}},
           PlanShown{.plan_id = "p1", .entries = {{"Look", "high", "cancelled"}}},
           StateShown{.state = "running"},
           StateShown{.state = "requires_action"},
           StateShown{.state = "idle",
                      .stop_reason = "end_turn",
                      .usage = {R"({"totalTokens":3,"inputTokens":2,"outputTokens":1})"}},
           StateShown{.state = "idle",
                      .stop_reason = "error",
                      .error = RpcError{-32603, "it broke", {R"({"details":"x"})"}}},
           TerminalShown{.terminal_id = "term1", .command = "make", .cwd = "/w"},
           TerminalShown{.terminal_id = "term1",
                         .output = std::string("a\0\xff", 3),
                         .exit_code = 2,
                         .ended = true},
           TerminalShown{.terminal_id = "term1", .signal = "SIGKILL", .ended = true},
           TerminalOutput{"term1", "more\n"},
       }) {
    samples.push_back({body});
  }
  return samples;
}

}  // namespace perdure::acp
