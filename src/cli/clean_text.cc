#include "cli/clean_text.h"

#include "base/text.h"
#include "cli/width.h"

namespace perdure::cli {
namespace {

// A sequence that is longer than this is none: what follows is shown again.
constexpr std::size_t sequence_chars_max = 4096;

// Marks that turn text around or hide it, and those that end a line where no other program does.
bool is_invisible(char32_t c) {
  return c == 0x061C || (c >= 0x200B && c <= 0x200C) || c == 0x200E || c == 0x200F ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF) || c == 0x00AD ||
         c == 0x180E || c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0;
}

bool begins_string(char32_t c) {
  // OSC, DCS, SOS, PM, APC behind an escape character.
  return c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_';
}

}  // namespace

std::string TextCleaner::add(std::string_view portion) {
  const std::string text = utf8_scrub(portion);
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t bytes = character_bytes(rest);
    take(decode_character(rest.substr(0, bytes)), rest.substr(0, bytes), out);
    rest.remove_prefix(bytes);
  }
  return out;
}

void TextCleaner::take(char32_t c, std::string_view bytes, std::string& out) {
  if (at_ == At::text) {
    take_text(c, bytes, out);
    return;
  }
  skipped_ += 1;
  // No sequence goes over the end of a line, whatever a terminal thinks: text is not lost so.
  if (c == '\n' || skipped_ > sequence_chars_max) {
    at_ = At::text;
    take_text(c, bytes, out);
    return;
  }
  switch (at_) {
    case At::escape:
      if (c == '[') {
        at_ = At::control;
      } else if (begins_string(c)) {
        at_ = At::string_body;
      } else if (c < 0x20 || c > 0x2F) {  // else more of a sequence of intermediate characters
        at_ = c == 0x1B ? At::escape : At::text;
      }
      break;
    case At::control:
      if (c >= 0x40 && c <= 0x7E) at_ = At::text;
      if (c == 0x1B) at_ = At::escape;
      break;
    case At::string_body:
      if (c == 0x07 || c == 0x9C) at_ = At::text;
      if (c == 0x1B) at_ = At::string_escape;
      break;
    case At::string_escape: at_ = c == '\\' ? At::text : At::string_body; break;
    case At::text: break;
  }
}

void TextCleaner::take_text(char32_t c, std::string_view bytes, std::string& out) {
  skipped_ = 0;
  if (c == 0x1B) {
    at_ = At::escape;
  } else if (c == 0x9B) {
    at_ = At::control;
  } else if (c == 0x90 || c == 0x98 || (c >= 0x9D && c <= 0x9F)) {
    at_ = At::string_body;
  } else if (c == '\n' || c == '\t' || c == 0x2028 || c == 0x2029) {
    out += c == '\t' ? '\t' : '\n';
  } else if (c >= 0x20 && (c < 0x7F || c > 0x9F) && !is_invisible(c)) {
    out += bytes;
  }
}

std::string clean_text(std::string_view text) { return TextCleaner().add(text); }

std::string clean_line(std::string_view text) {
  std::string out = clean_text(text);
  for (char& c : out) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return out;
}

}  // namespace perdure::cli
