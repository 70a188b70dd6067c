// Content blocks as text, for a client that shows no pictures.
#pragma once

#include <string>
#include <string_view>

namespace perdure::acp {

struct BlockShown {
  std::string kind;  // text, image, audio, resource, resource_link …
  std::string text;  // of a text block, or of a resource that has text
};

// Accepts any raw value that is part of valid JSON.
BlockShown read_block(std::string_view raw);
// The texts of an array of blocks, separated by newlines.
std::string blocks_text(std::string_view raw);

// A text block as JSON.
std::string print_text_block(std::string_view text);
// The same as the only element of an array; an empty text gives an empty array.
std::string print_text_blocks(std::string_view text);

// Appends the text after a newline, unless it or `to` is empty.
void append_paragraph(std::string& to, std::string_view text);

}  // namespace perdure::acp
