// The blocks sent to an agent for a prompt, with and without a history.
#include "core/wire/prompt_blocks.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr const char* image = R"({"type":"image","data":"aGk=","mimeType":"image/png"})";

TEST(PromptBlocks, without_history_a_prompt_stands_alone) {
  EXPECT_EQ(prompt_blocks({.text = "do \"it\""}, ""), R"([{"type":"text","text":"do \"it\""}])");
  EXPECT_EQ(prompt_blocks({.blocks = RawJson{"[" + std::string(image) + "]"}}, ""),
            "[" + std::string(image) + "]");
}

TEST(PromptBlocks, K30_history_request_and_instructions_reach_the_agent_in_this_order) {
  const std::string sent =
      prompt_blocks({.blocks = RawJson{"[" + std::string(image) + "]"}}, "HISTORY");
  const std::size_t history = sent.find("HISTORY");
  const std::size_t request = sent.find("=== CURRENT REQUEST ===");
  const std::size_t typed = sent.find(image);
  const std::size_t instructions = sent.find("=== INSTRUCTIONS ===");
  ASSERT_NE(instructions, std::string::npos) << sent;
  EXPECT_LT(history, request);
  EXPECT_LT(request, typed);
  EXPECT_LT(typed, instructions);
}

}  // namespace
}  // namespace perdure
