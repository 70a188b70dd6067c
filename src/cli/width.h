// How wide text is on a terminal: by a table of our own, so that it does not depend on the locale.
// Widths count cells; text is well-formed UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::cli {

// Bytes of the first character; 1 for a byte that begins none. The text is not empty.
std::size_t character_bytes(std::string_view text);
// The code point of exactly one character; U+FFFD when it is none.
char32_t decode_character(std::string_view bytes);

// 0 (combining), 1 or 2.
std::size_t character_width(char32_t character);
// Of text that may hold our own colours (CSI … m), which have no width.
std::size_t text_width(std::string_view text);

// The longest beginning of at most this many cells.
std::string_view fit(std::string_view plain, std::size_t cells);
// The same with "…" where something was cut.
std::string shorten(std::string_view plain, std::size_t cells);
// Shortened, or filled with spaces, to exactly this many cells.
std::string pad(std::string_view plain, std::size_t cells);

// Breaks one line at spaces into lines of at most this many cells; a longer word is broken
// anywhere. Our own colours are kept and go on over the break. Tabs must be gone.
std::vector<std::string> wrap(std::string_view line, std::size_t cells);

// Tabs become spaces up to the next place that is a multiple of four.
std::string expand_tabs(std::string_view line);

}  // namespace perdure::cli
