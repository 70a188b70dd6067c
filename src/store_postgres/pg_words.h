// Words of texts and of what people look for. A word is letters and digits; ASCII letters count
// without their case, and every other character that is no punctuation is a letter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

// Longer words are known by their beginning.
inline constexpr std::size_t word_bytes_max = 200;

struct FoundWord {
  std::string word;       // as it is compared
  std::size_t begin = 0;  // where it stands in the text
  std::size_t end = 0;
};
std::vector<FoundWord> words_of(std::string_view text);

// The different words of a text, sorted.
std::vector<std::string> word_set(std::string_view text);

// What a person typed: each phrase is one or more words that must stand together.
using Phrases = std::vector<std::vector<std::string>>;
Phrases phrases_of(std::string_view query);

// The words around the first phrase, between marks; nothing when the text lacks one of them.
std::optional<std::string> snippet_of(std::string_view text, const Phrases& phrases);

}  // namespace perdure
