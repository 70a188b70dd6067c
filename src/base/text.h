// Text helpers that never cut a character in two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure {

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view bytes);

// The longest prefix of at most max_bytes that ends on a character boundary. Takes any bytes.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes);

// The longest prefix of at most max_chars characters (code points).
std::string_view utf8_prefix_chars(std::string_view text, std::size_t max_chars);

// The number of code points.
std::size_t utf8_length(std::string_view text);

// The same bytes with every ill-formed sequence replaced by U+FFFD.
std::string utf8_scrub(std::string_view bytes);

}  // namespace perdure
