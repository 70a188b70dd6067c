#include "base/deceptive.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace perdure {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t c) {
  const auto found = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return found != ranges.end() && c >= found->first;
}

// Hidden, control or direction-changing in any position.
constexpr auto always = std::to_array<Range>({
    {0x00, 0x08},
    {0x0B, 0x0C},
    {0x0E, 0x1F},
    {0x7F, 0x9F},
    {0xAD, 0xAD},
    {0x34F, 0x34F},
    {0x61C, 0x61C},
    {0x115F, 0x1160},
    {0x180E, 0x180E},
    {0x200B, 0x200B},
    {0x200E, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0x3164, 0x3164},
    {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB},
    {0xE0000, 0xE0FFF},
});
// Persian, Indic scripts and emoji need these; a command does not.
constexpr auto in_commands = std::to_array<Range>({
    {0x0D, 0x0D},
    {0xA0, 0xA0},
    {0x2000, 0x200A},
    {0x200C, 0x200D},
    {0x202F, 0x202F},
    {0x205F, 0x205F},
    {0x3000, 0x3000},
    {0xFE00, 0xFE0F},
});
// Scripts with letters that look Latin.
constexpr auto look_alikes = std::to_array<Range>({
    {0x370, 0x3FF},
    {0x400, 0x52F},
    {0x531, 0x58F},
    {0x13A0, 0x13FF},
    {0xFF01, 0xFF5E},
    {0x1D400, 0x1D7FF},
});
// Of these, the ones marked in any word: in a command, and in a title, where full-width letters may
// be Japanese.
constexpr auto alien = std::to_array<Range>({{0xFF01, 0xFF5E}, {0x1D400, 0x1D7FF}});
constexpr auto alien_in_titles = std::to_array<Range>({{0x1D400, 0x1D7FF}});
// Word characters beyond ASCII: scripts with letters, and combining marks.
constexpr auto letters = std::to_array<Range>({
    {0xAA, 0xAA},       {0xB5, 0xB5},       {0xBA, 0xBA},       {0xC0, 0xD6},
    {0xD8, 0xF6},       {0xF8, 0x2C1},      {0x370, 0x374},     {0x376, 0x37D},
    {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x3F5},     {0x3F7, 0x481},
    {0x48A, 0x556},     {0x560, 0x588},     {0x5D0, 0x5EA},     {0x620, 0x64A},
    {0x66E, 0x1FFF},    {0x2C00, 0x2DFF},   {0x3041, 0xD7FF},   {0xF900, 0xFDFF},
    {0xFF10, 0xFF19},   {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0xFF66, 0xFFDC},
    {0x10000, 0x1CFFF}, {0x1D400, 0x1D7FF}, {0x1E000, 0x1EFFF}, {0x20000, 0x3FFFD},
});

bool is_latin(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_word(char32_t c) {
  return is_latin(c) || (c >= '0' && c <= '9') || (c >= 0x80 && is_in(letters, c));
}

struct Character {
  char32_t code = 0;
  std::string_view bytes;
};

// The code point of well-formed UTF-8.
char32_t decode(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto low = [&](std::size_t i) { return char32_t(at(i) & 0x3FU); };
  switch (bytes.size()) {
    case 1: return at(0);
    case 2: return char32_t(at(0) & 0x1FU) << 6 | low(1);
    case 3: return char32_t(at(0) & 0x0FU) << 12 | low(1) << 6 | low(2);
    default: return char32_t(at(0) & 0x07U) << 18 | low(1) << 12 | low(2) << 6 | low(3);
  }
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view bytes = utf8_prefix_chars(text, 1);
    out.push_back({decode(bytes), bytes});
    text.remove_prefix(bytes.size());
  }
  return out;
}

// Marks the look-alike letters of each word that also has Latin letters.
void find_look_alikes(const std::vector<Character>& characters, Care care,
                      std::vector<bool>& is_marked) {
  for (std::size_t begin = 0; begin < characters.size();) {
    if (!is_word(characters[begin].code)) {
      ++begin;
      continue;
    }
    bool is_odd = false;
    bool has_look_alike = false;
    bool has_latin = false;
    std::size_t end = begin;
    for (; end < characters.size() && is_word(characters[end].code); ++end) {
      const char32_t c = characters[end].code;
      has_latin = has_latin || is_latin(c);
      has_look_alike = has_look_alike || is_in(look_alikes, c);
      is_odd = is_odd || (care == Care::command ? is_in(alien, c) : is_in(alien_in_titles, c));
    }
    is_odd = is_odd || (has_latin && has_look_alike);
    for (std::size_t i = begin; is_odd && i < end; ++i) {
      is_marked[i] = is_in(look_alikes, characters[i].code);
    }
    begin = end;
  }
}

std::string mark_of(const Character& character, bool is_look_alike) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string hex;
  for (char32_t rest = character.code; rest != 0 || hex.size() < 4; rest >>= 4) {
    hex.insert(hex.begin(), digits[rest & 15U]);
  }
  return (is_look_alike ? std::string(character.bytes) : "") + "<U+" + hex + ">";
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t'; });
}

}  // namespace

void split_deceptive(std::string_view text, Care care, const TakePart& take) {
  if (text.empty()) return;
  if (is_plain(text)) return take(text, false);
  const std::string clean = utf8_scrub(text);
  const std::vector<Character> characters = characters_of(clean);
  std::vector<bool> is_look_alike(characters.size(), false);
  if (care != Care::prose) find_look_alikes(characters, care, is_look_alike);
  std::string plain;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i].code;
    const bool is_hidden = is_in(always, c) || (care == Care::command && is_in(in_commands, c));
    if (!is_hidden && !is_look_alike[i]) {
      plain += characters[i].bytes;
      continue;
    }
    if (!plain.empty()) take(plain, false);
    plain.clear();
    take(mark_of(characters[i], is_look_alike[i]), true);
  }
  if (!plain.empty()) take(plain, false);
}

std::string mark_deceptive(std::string_view text, Care care) {
  std::string out;
  split_deceptive(text, care, [&](std::string_view part, bool) { out += part; });
  return out;
}

std::size_t count_deceptive(std::string_view text, Care care) {
  std::size_t count = 0;
  split_deceptive(text, care, [&](std::string_view, bool is_mark) { count += is_mark ? 1 : 0; });
  return count;
}

}  // namespace perdure
