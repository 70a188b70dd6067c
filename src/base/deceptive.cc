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

// The tables are written by hand, after Unicode 16: Default_Ignorable_Code_Point, Cc, Cf, Zs, Zl,
// Zp, Co, noncharacters, and of confusables.txt what looks like ASCII. Hidden, control or
// direction-changing wherever they stand.
constexpr auto always = std::to_array<Range>({
    {0x00, 0x08},       {0x0B, 0x0C},       {0x0E, 0x1F},       {0x7F, 0x9F},
    {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180E, 0x180E},   {0x200B, 0x200B},   {0x200E, 0x200F},
    {0x2028, 0x202E},   {0x2060, 0x206F},   {0x2800, 0x2800},   {0x3164, 0x3164},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFC},
    {0xFFFE, 0xFFFF},   {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A},
    {0x1FFFE, 0x1FFFF}, {0x2FFFE, 0x2FFFF}, {0x3FFFE, 0x3FFFF}, {0x4FFFE, 0x4FFFF},
    {0x5FFFE, 0x5FFFF}, {0x6FFFE, 0x6FFFF}, {0x7FFFE, 0x7FFFF}, {0x8FFFE, 0x8FFFF},
    {0x9FFFE, 0x9FFFF}, {0xAFFFE, 0xAFFFF}, {0xBFFFE, 0xBFFFF}, {0xCFFFE, 0xCFFFF},
    {0xDFFFE, 0xE0FFF}, {0xEFFFE, 0xEFFFF}, {0xFFFFE, 0xFFFFF}, {0x10FFFE, 0x10FFFF},
});
// Persian, Indic scripts and emoji need these, or fonts show something; a command has no use for
// them.
constexpr auto in_commands = std::to_array<Range>({
    {0x0D, 0x0D},       {0xA0, 0xA0},         {0x335, 0x338},     {0x600, 0x605},
    {0x6DD, 0x6DD},     {0x70F, 0x70F},       {0x890, 0x891},     {0x8E2, 0x8E2},
    {0x1680, 0x1680},   {0x180B, 0x180D},     {0x180F, 0x180F},   {0x2000, 0x200A},
    {0x200C, 0x200D},   {0x202F, 0x202F},     {0x205F, 0x205F},   {0x20D2, 0x20D3},
    {0x20D8, 0x20DA},   {0x20E5, 0x20EB},     {0x3000, 0x3000},   {0xE000, 0xF8FF},
    {0xFE00, 0xFE0F},   {0x110BD, 0x110BD},   {0x110CD, 0x110CD}, {0x13430, 0x1343F},
    {0xF0000, 0xFFFFD}, {0x100000, 0x10FFFD},
});
// What looks like a letter, a digit or a sign of a shell. Languages need much of it; in a command
// each is marked, beside its shape.
constexpr auto fakes = std::to_array<Range>({
    {0xAA, 0xAA},       {0xB2, 0xB4},       {0xB9, 0xBA},       {0x132, 0x133},
    {0x1C7, 0x1CC},     {0x1F1, 0x1F3},     {0x2B9, 0x2BC},     {0x2C2, 0x2C3},
    {0x2C8, 0x2C8},     {0x2CB, 0x2CB},     {0x2D0, 0x2D0},     {0x2DC, 0x2DC},
    {0x2E1, 0x2E3},     {0x2F8, 0x2F8},     {0x37E, 0x37E},     {0x387, 0x387},
    {0x55A, 0x55A},     {0x589, 0x58A},     {0x5BE, 0x5BE},     {0x5C0, 0x5C0},
    {0x5C3, 0x5C3},     {0x5F3, 0x5F4},     {0x66A, 0x66A},     {0x66D, 0x66D},
    {0x6D4, 0x6D4},     {0x700, 0x704},     {0x1735, 0x1735},   {0x1802, 0x1803},
    {0x1806, 0x1806},   {0x1FBD, 0x1FBD},   {0x1FBF, 0x1FBF},   {0x1FEF, 0x1FEF},
    {0x1FFD, 0x1FFE},   {0x2010, 0x2021},   {0x2024, 0x2025},   {0x2027, 0x2027},
    {0x2032, 0x203A},   {0x203C, 0x203C},   {0x2043, 0x2044},   {0x2047, 0x2049},
    {0x204E, 0x204E},   {0x2052, 0x2053},   {0x2070, 0x2071},   {0x2074, 0x207A},
    {0x207C, 0x208A},   {0x208C, 0x208E},   {0x2090, 0x2093},   {0x2095, 0x209C},
    {0x20A8, 0x20A8},   {0x2100, 0x214F},   {0x2160, 0x2188},   {0x2212, 0x2212},
    {0x2215, 0x2217},   {0x2219, 0x2219},   {0x2223, 0x2223},   {0x2225, 0x2225},
    {0x2236, 0x2236},   {0x223C, 0x223C},   {0x22C5, 0x22C5},   {0x2329, 0x232A},
    {0x2460, 0x24FF},   {0x2571, 0x2573},   {0x2758, 0x2758},   {0x275B, 0x275E},
    {0x2768, 0x2775},   {0x2796, 0x2796},   {0x27CB, 0x27CB},   {0x27E8, 0x27E9},
    {0x29F5, 0x29F9},   {0x2A74, 0x2A76},   {0x2E3A, 0x2E3B},   {0x2E40, 0x2E40},
    {0x3002, 0x3002},   {0x3008, 0x3009},   {0x3014, 0x3015},   {0x3033, 0x3033},
    {0x3250, 0x325F},   {0x32B1, 0x32BF},   {0x32CC, 0x32CF},   {0x3371, 0x337A},
    {0x3380, 0x3381},   {0x3383, 0x338B},   {0x338E, 0x3394},   {0x3396, 0x339A},
    {0x339C, 0x33A6},   {0x33A9, 0x33AD},   {0x33B0, 0x33B1},   {0x33B3, 0x33B5},
    {0x33B7, 0x33BB},   {0x33BD, 0x33BF},   {0x33C2, 0x33C5},   {0x33C7, 0x33DD},
    {0x33FF, 0x33FF},   {0xA4F8, 0xA4FF},   {0xA60E, 0xA60E},   {0xA789, 0xA78A},
    {0xFB00, 0xFB06},   {0xFB29, 0xFB29},   {0xFE10, 0xFE19},   {0xFE30, 0xFE52},
    {0xFE54, 0xFE66},   {0xFE68, 0xFE6B},   {0xFF01, 0xFF5E},   {0xFF61, 0xFF61},
    {0x107A5, 0x107A5}, {0x1CCD6, 0x1CCF9}, {0x1D400, 0x1D7FF}, {0x1F100, 0x1F10A},
    {0x1F110, 0x1F16C}, {0x1F190, 0x1F190}, {0x1FBF0, 0x1FBF9},
});
// Scripts with letters that look Latin: marked in a word that has Latin ones.
constexpr auto look_alikes = std::to_array<Range>({
    {0x370, 0x52F},     {0x531, 0x58F},     {0x13A0, 0x167F},   {0x1C80, 0x1C8F},
    {0x1F00, 0x1FFF},   {0x2100, 0x2115},   {0x2117, 0x211F},   {0x2123, 0x214F},
    {0x2160, 0x2188},   {0x2C80, 0x2CFF},   {0x2D30, 0x2D7F},   {0xA4D0, 0xA4FF},
    {0xA640, 0xA69F},   {0xAB70, 0xABBF},   {0xFF01, 0xFF5E},   {0x10280, 0x102DF},
    {0x10300, 0x1034F}, {0x10400, 0x1044F}, {0x104B0, 0x104FF}, {0x118A0, 0x118FF},
    {0x1D400, 0x1D7FF},
});
// Latin letters that look like ASCII ones. Languages need them, so only in commands.
constexpr auto odd_latin = std::to_array<Range>({
    {0x131, 0x131},
    {0x17F, 0x17F},
    {0x1C0, 0x1C3},
    {0x237, 0x237},
    {0x250, 0x2B8},
    {0x1D00, 0x1DBF},
    {0x2C60, 0x2C7F},
    {0xA720, 0xA788},
    {0xA78B, 0xA7FF},
    {0xAB30, 0xAB6F},
});
// Marked in titles in any word.
constexpr auto alien_in_titles = std::to_array<Range>({{0x1D400, 0x1D7FF}});
// Word characters beyond ASCII: scripts with letters, and combining marks.
constexpr auto letters = std::to_array<Range>({
    {0xAA, 0xAA},       {0xB5, 0xB5},       {0xBA, 0xBA},       {0xC0, 0xD6},
    {0xD8, 0xF6},       {0xF8, 0x2C1},      {0x370, 0x374},     {0x376, 0x37D},
    {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x3F5},     {0x3F7, 0x481},
    {0x48A, 0x556},     {0x560, 0x588},     {0x5D0, 0x5EA},     {0x620, 0x64A},
    {0x66E, 0x6D3},     {0x6D5, 0x6DC},     {0x6E5, 0x6FF},     {0x710, 0x115E},
    {0x1161, 0x17B3},   {0x17B6, 0x180D},   {0x180F, 0x1FFF},   {0x2071, 0x2071},
    {0x207F, 0x207F},   {0x2090, 0x209C},   {0x2100, 0x2115},   {0x2117, 0x211F},
    {0x2123, 0x214F},   {0x2160, 0x2188},   {0x2C00, 0x2DFF},   {0x3041, 0x3163},
    {0x3165, 0xD7FF},   {0xF900, 0xFDCF},   {0xFDF0, 0xFDFF},   {0xFF10, 0xFF19},
    {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0xFF66, 0xFF9F},   {0xFFA1, 0xFFDC},
    {0x10000, 0x1BC9F}, {0x1BCA4, 0x1CFFF}, {0x1D400, 0x1D7FF}, {0x1E000, 0x1EFFF},
    {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
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

bool is_look_alike(char32_t c, Care care) {
  return is_in(look_alikes, c) || (care == Care::command && is_in(odd_latin, c));
}

// Marks the look-alike letters of each word that also has Latin ones.
void find_look_alikes(const std::vector<Character>& characters, Care care,
                      std::vector<bool>& is_marked) {
  for (std::size_t begin = 0; begin < characters.size();) {
    if (!is_word(characters[begin].code)) {
      ++begin;
      continue;
    }
    bool is_odd = false;
    bool has_latin = false;
    std::size_t end = begin;
    for (; end < characters.size() && is_word(characters[end].code); ++end) {
      const char32_t c = characters[end].code;
      has_latin = has_latin || is_latin(c);
      is_odd = is_odd || (care == Care::title && is_in(alien_in_titles, c));
    }
    for (std::size_t i = begin; (has_latin || is_odd) && i < end; ++i) {
      is_marked[i] = is_look_alike(characters[i].code, care);
    }
    begin = end;
  }
}

std::string mark_of(const Character& character, bool has_shape) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string hex;
  for (char32_t rest = character.code; rest != 0 || hex.size() < 4; rest >>= 4) {
    hex.insert(hex.begin(), digits[rest & 15U]);
  }
  return (has_shape ? std::string(character.bytes) : "") + "<U+" + hex + ">";
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
  std::vector<bool> is_odd_letter(characters.size(), false);
  if (care != Care::prose) find_look_alikes(characters, care, is_odd_letter);
  std::string plain;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i].code;
    const bool is_hidden = is_in(always, c) || (care == Care::command && is_in(in_commands, c));
    const bool is_fake = is_odd_letter[i] || (care == Care::command && is_in(fakes, c));
    if (!is_hidden && !is_fake) {
      plain += characters[i].bytes;
      continue;
    }
    if (!plain.empty()) take(plain, false);
    plain.clear();
    take(mark_of(characters[i], !is_hidden), true);
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
