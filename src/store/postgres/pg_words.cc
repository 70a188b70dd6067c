#include "store/postgres/pg_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t around_bytes = 60;  // around a match, in a snippet

// The length of a non-word character at the beginning; 0: a letter.
std::size_t gap_at(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned first = byte(0);
  const bool is_alnum = (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
                        (first >= 'A' && first <= 'Z');
  if (first < 0x80U) return is_alnum ? 0 : 1;
  // Latin punctuation, general punctuation, and Chinese and Japanese punctuation.
  if (first == 0xc2U && byte(1) >= 0xa0U && byte(1) <= 0xbfU) return 2;
  if (first == 0xe2U && (byte(1) == 0x80U || byte(1) == 0x81U) && byte(2) != 0) return 3;
  if (first == 0xe3U && byte(1) == 0x80U && byte(2) != 0) return 3;
  return 0;
}

// The first place of the phrase; absent if it does not occur.
std::optional<std::pair<std::size_t, std::size_t>> find_phrase(
    const std::vector<FoundWord>& words, const std::vector<std::string>& phrase) {
  const auto found = std::ranges::search(words, phrase, {}, &FoundWord::word);
  if (found.empty()) return std::nullopt;
  return std::pair(found.front().begin, found.back().end);
}

}  // namespace

std::vector<FoundWord> words_of(std::string_view text) {
  std::vector<FoundWord> out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (const std::size_t gap = gap_at(text.substr(at)); gap > 0) {
      at += gap;
      continue;
    }
    FoundWord& found = out.emplace_back();
    found.begin = at;
    while (at < text.size() && gap_at(text.substr(at, 3)) == 0) {
      const char c = text[at++];
      if (found.word.size() < word_bytes_max) {
        found.word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      }
    }
    found.end = at;
  }
  return out;
}

std::vector<std::string> word_set(std::string_view text) {
  std::set<std::string> words;
  for (FoundWord& found : words_of(text)) words.insert(std::move(found.word));
  return {words.begin(), words.end()};
}

Phrases phrases_of(std::string_view query) {
  Phrases out;
  std::string term;
  bool is_quoted = false;
  const auto end_term = [&] {
    std::vector<std::string> phrase;
    for (FoundWord& found : words_of(std::exchange(term, {}))) {
      phrase.push_back(std::move(found.word));
    }
    if (!phrase.empty()) out.push_back(std::move(phrase));
  };
  for (const char c : query) {
    if (c == '"') {
      end_term();
      is_quoted = !is_quoted;
    } else if (!is_quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      end_term();
    } else {
      term += c;
    }
  }
  end_term();
  return out;
}

std::optional<std::string> snippet_of(std::string_view text, const Phrases& phrases) {
  const std::vector<FoundWord> words = words_of(text);
  std::optional<std::pair<std::size_t, std::size_t>> shown;
  for (const std::vector<std::string>& phrase : phrases) {
    const auto found = find_phrase(words, phrase);
    if (!found) return std::nullopt;
    if (!shown) shown = found;
  }
  if (!shown) return std::nullopt;
  const auto [begin, end] = *shown;
  std::size_t from = begin > around_bytes ? begin - around_bytes : 0;
  while (from < begin && (static_cast<unsigned char>(text[from]) & 0xc0U) == 0x80U) ++from;
  std::string out(text.substr(from, begin - from));
  out += '\x02';
  out += text.substr(begin, end - begin);
  out += '\x03';
  out += utf8_prefix(text.substr(end), around_bytes);
  return out;
}

}  // namespace perdure
