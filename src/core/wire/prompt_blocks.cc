#include "core/wire/prompt_blocks.h"

#include <string_view>

#include "base/json/json.h"
#include "core/views/resume_context.h"

namespace perdure {
namespace {

void append_block(std::string& blocks, std::string_view block) {
  if (blocks.size() > 1) blocks += ',';
  blocks += block;
}

void append_text(std::string& blocks, std::string_view text) {
  JsonWriter json;
  json.begin_object().key("type").string("text").key("text").string(text).end_object();
  append_block(blocks, json.text());
}

}  // namespace

std::string prompt_blocks(const Prompt& prompt, const std::string& history) {
  const PromptSurrounds around = surrounds_of(history);
  std::string blocks = "[";
  if (!around.before.empty()) append_text(blocks, around.before);
  const auto given = json_elements(prompt.blocks.text);
  if (prompt.blocks.text.empty() || !given) {
    append_text(blocks, prompt.text);
  } else {
    for (const std::string_view block : *given) append_block(blocks, block);
  }
  if (!around.after.empty()) append_text(blocks, around.after);
  return blocks + "]";
}

}  // namespace perdure
