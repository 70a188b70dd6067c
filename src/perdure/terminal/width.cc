#include "perdure/terminal/width.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace perdure::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr auto zero_width = std::to_array<Range>({
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},   {0x2060, 0x206F},
    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
});
constexpr auto double_width = std::to_array<Range>({
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26BD, 0x26BE},
    {0x26D4, 0x26D4},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
});

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t c) {
  const auto found = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return found != ranges.end() && c >= found->first;
}

// The length of one of our colour codes at the start; 0 if there is none.
std::size_t colour_bytes(std::string_view text) {
  if (!text.starts_with("\x1B[")) return 0;
  const std::size_t end = text.find('m', 2);
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::size_t character_bytes(std::string_view text) {
  return std::max<std::size_t>(1, utf8_prefix_chars(text, 1).size());
}

char32_t decode_character(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto low = [&](std::size_t i) { return char32_t(at(i) & 0x3F); };
  switch (bytes.size()) {
    case 1: return at(0) < 0x80 ? at(0) : U'\uFFFD';
    case 2: return char32_t(at(0) & 0x1F) << 6 | low(1);
    case 3: return char32_t(at(0) & 0x0F) << 12 | low(1) << 6 | low(2);
    case 4: return char32_t(at(0) & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3);
    default: return U'\uFFFD';
  }
}

std::size_t character_width(char32_t c) {
  if (c < 0x300) return c >= 0x20 ? 1 : 0;
  if (is_in(zero_width, c)) return 0;
  return is_in(double_width, c) ? 2 : 1;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (const std::size_t colour = colour_bytes(text)) {
      text.remove_prefix(colour);
      continue;
    }
    const std::size_t bytes = character_bytes(text);
    width += character_width(decode_character(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return width;
}

std::string_view fit(std::string_view plain, std::size_t cells) {
  std::size_t end = 0;
  for (std::size_t width = 0; end < plain.size();) {
    const std::size_t bytes = character_bytes(plain.substr(end));
    width += character_width(decode_character(plain.substr(end, bytes)));
    if (width > cells) break;
    end += bytes;
  }
  return plain.substr(0, end);
}

std::string shorten(std::string_view plain, std::size_t cells) {
  if (text_width(plain) <= cells) return std::string(plain);
  if (cells == 0) return {};
  return std::string(fit(plain, cells - 1)) + "…";
}

std::string pad(std::string_view plain, std::size_t cells) {
  std::string out = shorten(plain, cells);
  const std::size_t width = text_width(out);
  if (width < cells) out.append(cells - width, ' ');
  return out;
}

std::vector<std::string> wrap(std::string_view line, std::size_t cells) {
  cells = std::max<std::size_t>(cells, 1);
  std::vector<std::string> out;
  std::string row;
  std::size_t row_width = 0;
  std::size_t space_at = std::string::npos;  // where the row could be broken
  while (!line.empty()) {
    if (const std::size_t colour = colour_bytes(line)) {
      row += line.substr(0, colour);
      line.remove_prefix(colour);
      continue;
    }
    const std::size_t bytes = character_bytes(line);
    const std::size_t width = character_width(decode_character(line.substr(0, bytes)));
    if (row_width + width > cells && row_width > 0) {
      std::string next;
      if (line.front() == ' ') {
        line.remove_prefix(1);
        out.push_back(std::exchange(row, {}));
        row_width = 0;
        space_at = std::string::npos;
        continue;
      }
      if (space_at != std::string::npos) {
        next = row.substr(space_at + 1);
        row.resize(space_at);
      }
      out.push_back(std::exchange(row, std::move(next)));
      row_width = text_width(row);
      space_at = std::string::npos;
    }
    if (line.front() == ' ' && row_width > 0) space_at = row.size();
    row += line.substr(0, bytes);
    row_width += width;
    line.remove_prefix(bytes);
  }
  out.push_back(std::move(row));
  return out;
}

std::string expand_tabs(std::string_view line) {
  if (!line.contains('\t')) return std::string(line);
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out.append(4 - text_width(out) % 4, ' ');
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace perdure::cli
