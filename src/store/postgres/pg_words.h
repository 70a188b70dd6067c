// The words of texts and of queries. A word is letters and digits; ASCII letters match regardless
// of case, and every other character except punctuation is a letter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

// Longer words are cut to this.
inline constexpr std::size_t word_bytes_max = 200;

struct FoundWord {
  std::string word;       // in the form that is compared
  std::size_t begin = 0;  // its offset in the text
  std::size_t end = 0;
};
std::vector<FoundWord> words_of(std::string_view text);

// The distinct words of a text, sorted.
std::vector<std::string> word_set(std::string_view text);

// A query: each phrase is one or more words that must be adjacent.
using Phrases = std::vector<std::vector<std::string>>;
Phrases phrases_of(std::string_view query);

// The text around the first phrase, with the match marked; absent if the text lacks one of them.
std::optional<std::string> snippet_of(std::string_view text, const Phrases& phrases);

}  // namespace perdure
