// Counting and cutting text without ever splitting a character. All functions accept any bytes: a
// byte outside every well-formed character counts as a separate character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure {

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view bytes);

// The longest prefix of at most max_bytes that splits no character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes);

// The longest prefix of at most max_chars characters (code points).
std::string_view utf8_prefix_chars(std::string_view text, std::size_t max_chars);

// The number of code points.
std::size_t utf8_length(std::string_view text);

// The same bytes with U+FFFD for each byte outside every well-formed character.
std::string utf8_scrub(std::string_view bytes);

}  // namespace perdure
