// The width of text on a terminal, by our own table, so that it does not depend on the locale.
// Widths count cells; text is well-formed UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::cli {

// Bytes of the first character; 1 for an invalid byte. The text must not be empty.
std::size_t character_bytes(std::string_view text);
// The code point of exactly one character; U+FFFD if it is invalid.
char32_t decode_character(std::string_view bytes);

// 0 (combining), 1 or 2.
std::size_t character_width(char32_t character);
// For text that may contain our own colours (CSI … m), which have no width.
std::size_t text_width(std::string_view text);

// The longest prefix of at most this many cells.
std::string_view fit(std::string_view plain, std::size_t cells);
// The same, with "…" if it was cut.
std::string shorten(std::string_view plain, std::size_t cells);
// Shortened or padded with spaces to exactly this many cells.
std::string pad(std::string_view plain, std::size_t cells);

// Breaks one line at spaces into lines of at most this many cells; a longer word is broken
// anywhere. Our own colours continue after the break. Tabs must be expanded first.
std::vector<std::string> wrap(std::string_view line, std::size_t cells);

// Expands tabs with spaces to the next multiple of four.
std::string expand_tabs(std::string_view line);

}  // namespace perdure::cli
