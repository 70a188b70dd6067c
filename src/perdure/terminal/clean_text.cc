#include "perdure/terminal/clean_text.h"

#include "base/deceptive.h"
#include "base/text.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

// A longer sequence is not treated as one: the text after this limit is shown again.
constexpr std::size_t sequence_chars_max = 4096;

bool begins_string(char32_t c) {
  // OSC, DCS, SOS, PM, APC after an escape character.
  return c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_';
}

// As a JSON escape; a character beyond 16 bits takes two.
void append_escaped(std::string& out, char32_t c) {
  const auto append = [&](char32_t unit) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[unit >> shift & 15U];
  };
  if (c <= 0xFFFF) return append(c);
  append(0xD800 + ((c - 0x10000) >> 10U));
  append(0xDC00 + ((c - 0x10000) & 0x3FFU));
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
  // A sequence ends at a newline at the latest, even if terminals disagree, so that no text is
  // lost.
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
  } else if (c == '\n' || c == '\t') {
    out += bytes;
  } else if (c >= 0x20 && (c < 0x7F || c > 0x9F)) {
    const std::string marked = mark_deceptive(bytes, Care::prose);
    if (hidden_ == Hidden::marked || marked == bytes) out += marked;
  }
}

std::string json_for_terminal(std::string_view json) {
  const std::string text = utf8_scrub(json);
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t bytes = character_bytes(rest);
    const char32_t c = decode_character(rest.substr(0, bytes));
    const bool is_control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F);
    const std::string_view one = rest.substr(0, bytes);
    const bool deceives = mark_deceptive(one, Care::prose) != one;
    if (is_control || deceives || c == 0x2028 || c == 0x2029) {
      append_escaped(out, c);
    } else {
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return out;
}

std::string clean_text(std::string_view text) { return TextCleaner().add(text); }

std::string exact_text(std::string_view text) { return mark_deceptive(text, Care::command); }

std::string clean_typed(std::string_view text) {
  return TextCleaner(TextCleaner::Hidden::dropped).add(text);
}

std::string clean_line(std::string_view text) {
  std::string out = mark_deceptive(clean_text(text), Care::title);
  for (char& c : out) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return out;
}

}  // namespace perdure::cli
