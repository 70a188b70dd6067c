#include "core/acp/updates/content.h"

#include "core/acp/updates/slices.h"

namespace perdure::acp {

BlockShown read_block(std::string_view raw) {
  const Slices block(raw);
  BlockShown shown{.kind = block.text("type"), .text = block.text("text")};
  if (shown.kind == "resource") shown.text = Slices(block.raw("resource")).text("text");
  return shown;
}

std::string blocks_text(std::string_view raw) {
  std::string text;
  for (const std::string_view block : array_elements(raw)) {
    append_paragraph(text, read_block(block).text);
  }
  return text;
}

std::string print_text_block(std::string_view text) {
  std::string out = R"({"type":"text","text":)";
  json_append_string(out, text);
  out += '}';
  return out;
}

std::string print_text_blocks(std::string_view text) {
  return text.empty() ? "[]" : '[' + print_text_block(text) + ']';
}

void append_paragraph(std::string& to, std::string_view text) {
  if (text.empty()) return;
  if (!to.empty()) to += '\n';
  to += text;
}

}  // namespace perdure::acp
