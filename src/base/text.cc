// One function, sequence_length(), defines UTF-8. An ill-formed byte is a separate character
// everywhere here, so that counting and cutting agree with scrubbing.
#include "base/text.h"

#include <algorithm>

namespace perdure {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// The length of the well-formed sequence at the start of `bytes`, or 0.
std::size_t sequence_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(bytes[i])) return 0;
  }
  const unsigned char second = byte(1);
  if (lead == 0xe0 && second < 0xa0) return 0;
  if (lead == 0xed && second > 0x9f) return 0;
  if (lead == 0xf0 && second < 0x90) return 0;
  if (lead == 0xf4 && second > 0x8f) return 0;
  return length;
}

// The bytes of the next character; an ill-formed byte counts as one.
std::size_t step_length(std::string_view bytes) {
  return std::max<std::size_t>(sequence_length(bytes), 1);
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  // A character that crosses the limit starts at most three bytes before it.
  for (std::size_t back = 1; back <= 3 && back <= max_bytes; ++back) {
    const std::size_t length = sequence_length(text.substr(max_bytes - back));
    if (length > back) return text.substr(0, max_bytes - back);
  }
  return text.substr(0, max_bytes);
}

std::string_view utf8_prefix_chars(std::string_view text, std::size_t max_chars) {
  std::size_t end = 0;
  for (std::size_t chars = 0; chars < max_chars && end < text.size(); ++chars) {
    end += step_length(text.substr(end));
  }
  return text.substr(0, end);
}

std::size_t utf8_length(std::string_view text) {
  std::size_t chars = 0;
  for (; !text.empty(); ++chars) text.remove_prefix(step_length(text));
  return chars;
}

std::string utf8_scrub(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      bytes.remove_prefix(1);
    } else {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace perdure
