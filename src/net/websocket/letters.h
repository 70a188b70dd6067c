// The character sets of RFC 9110 and comparison without regard to case: ASCII only, in any locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace perdure {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

constexpr bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

// A character of a token, such as a method or a header name.
constexpr bool is_token_char(char c) {
  return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

// Without the blanks at both ends.
constexpr std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether a header's list like "gzip, br;q=0.5" contains the word, with any parameters.
constexpr bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    item = trim_blanks(item.substr(0, item.find(';')));
    if (equal_ignoring_case(item, word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace perdure
