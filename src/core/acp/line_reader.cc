#include "core/acp/line_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/json/json.h"
#include "base/text.h"

namespace perdure::acp {
namespace {

constexpr std::size_t buffer_kept_bytes = 1UL << 20;  // a larger buffer is released after its line

enum class LineEnd { newline, stream };

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void report(std::string_view bytes, NoiseKind kind, LineSink& sink) {
  bytes = trim(bytes);
  if (!bytes.empty()) sink.on_noise(bytes.substr(0, acp_noise_bytes_max), kind);
}

bool is_object(std::string_view text) {
  return text.starts_with('{') && json_validate(text).has_value();
}

// Whether a valid object claims to be a message.
bool claims_rpc(std::string_view object) {
  for (JsonWalk walk(object); walk.next();) {
    if (walk.quoted_key() == R"("jsonrpc")") return true;
  }
  return false;
}

// The value of the four digits after `\u` at text[at], if there is such an escape.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + at + 6;
  const auto parsed = std::from_chars(text.data() + at + 2, end, value, 16);
  return parsed.ptr == end ? std::optional(value) : std::nullopt;
}

bool is_high_surrogate(unsigned value) { return value >= 0xd800 && value < 0xdc00; }
bool is_low_surrogate(unsigned value) { return value >= 0xdc00 && value < 0xe000; }

// U+FFFD for every unpaired surrogate, which JavaScript prints for a text cut inside a character.
// Returns whether there was one.
bool mend_surrogates(std::string& text) {
  bool mended = false;
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const auto value = escape_at(text, at);
    if (!value) {
      at += 2;
      continue;
    }
    const bool is_pair =
        is_high_surrogate(*value) && is_low_surrogate(escape_at(text, at + 6).value_or(0));
    if (!is_pair && (is_high_surrogate(*value) || is_low_surrogate(*value))) {
      text.replace(at + 2, 4, "fffd");
      mended = true;
    }
    at += is_pair ? 12 : 6;
  }
  return mended;
}

// The end of the object that starts at text[at], by its brackets alone; absent: it is not closed.
std::optional<std::size_t> object_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::nullopt;
}

bool starts_object(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && is_space(text[at]); ++at) {}
  return at < text.size() && text[at] == '"';
}

// Messages inside a line that is not one message: after a banner, before an escape sequence, two on
// one line. Returns whether there was one; the rest is reported as noise.
bool recover(std::string_view text, LineSink& sink) {
  if (text.find(R"("jsonrpc")") == std::string_view::npos) return false;
  // Each attempt reads to the end of its object at most twice: this keeps a hostile line linear.
  std::size_t budget_bytes = 4 * text.size() + acp_noise_bytes_max;
  std::size_t done = 0;
  bool found = false;
  for (std::size_t at = text.find('{'); at < text.size(); at = text.find('{', at)) {
    const auto end = starts_object(text, at) ? object_end(text, at) : std::nullopt;
    const std::size_t cost = end.value_or(text.size()) - at;
    const std::string_view object = text.substr(at, end ? cost : 0);
    if (starts_object(text, at)) {
      if (cost > budget_bytes) break;
      budget_bytes -= cost;
    }
    if (!is_object(object)) {
      ++at;
      continue;
    }
    if (claims_rpc(object)) {
      report(text.substr(done, at - done), NoiseKind::not_json, sink);
      sink.on_object(object);
      found = true;
      done = *end;
    }
    at = *end;
  }
  if (found) report(text.substr(done), NoiseKind::not_json, sink);
  return found;
}

// An array, or a line that starts like an array of objects, is never split.
bool is_batch(std::string_view line) {
  if (!line.starts_with('[')) return false;
  const std::string_view inside = trim(line.substr(1));
  return inside.starts_with('{') || inside.starts_with('[') || json_validate(line).has_value();
}

void read_damaged(std::string_view line, LineEnd ending, LineSink& sink) {
  if (is_batch(line)) return report(line, NoiseKind::batch, sink);
  std::string mended;
  bool is_mended = false;
  if (line.find(R"("jsonrpc")") != std::string_view::npos) {
    is_mended = !is_utf8(line);
    mended = is_mended ? utf8_scrub(line) : std::string(line);
    is_mended |= mend_surrogates(mended);
  }
  if (is_mended && is_object(mended)) {
    report(line, NoiseKind::repaired, sink);
    return sink.on_object(mended);
  }
  if (recover(is_mended ? mended : line, sink)) return;
  const bool is_json = json_validate(line).has_value();
  const NoiseKind broken =
      ending == LineEnd::stream && !is_json ? NoiseKind::unfinished : NoiseKind::not_json;
  report(line, is_json ? NoiseKind::not_message : broken, sink);
}

void read_line(std::string_view line, LineEnd ending, LineSink& sink) {
  line = trim(line);
  if (line.empty()) return;
  if (is_object(line)) return sink.on_object(line);
  read_damaged(line, ending, sink);
}

}  // namespace

std::string_view noise_text(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::not_json: return "output that is not JSON";
    case NoiseKind::not_message: return "JSON that is not a message of the protocol";
    case NoiseKind::batch: return "a batch of messages, which the protocol forbids";
    case NoiseKind::oversize: return "a line that is too long; it was skipped";
    case NoiseKind::unfinished: return "the output ended within a line";
    case NoiseKind::repaired: return "ill-formed text in a message was replaced";
  }
  return "";
}

Noise make_noise(std::string_view bytes, NoiseKind kind) {
  const std::string text = utf8_scrub(bytes.substr(0, acp_noise_bytes_max));
  return {std::string(utf8_prefix(text, acp_noise_bytes_max)), kind, std::string(noise_text(kind))};
}

LineReader::LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

void LineReader::feed(std::string_view bytes, LineSink& sink) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return hold(bytes, sink);
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (partial_.empty() && !skipping_ && line.size() <= line_bytes_max_) {
      read_line(line, LineEnd::newline, sink);
      continue;
    }
    hold(line, sink);
    if (!skipping_) read_line(partial_, LineEnd::newline, sink);
    skipping_ = false;
    partial_.clear();
    if (partial_.capacity() > buffer_kept_bytes) partial_ = {};
  }
}

void LineReader::feed_end(LineSink& sink) {
  if (!skipping_) read_line(partial_, LineEnd::stream, sink);
  skipping_ = false;
  partial_ = {};
}

void LineReader::hold(std::string_view bytes, LineSink& sink) {
  if (skipping_) return;
  if (bytes.size() <= line_bytes_max_ - partial_.size()) {
    partial_ += bytes;
    return;
  }
  if (partial_.size() < acp_noise_bytes_max) partial_ += bytes.substr(0, acp_noise_bytes_max);
  sink.on_noise(std::string_view(partial_).substr(0, acp_noise_bytes_max), NoiseKind::oversize);
  partial_ = {};
  skipping_ = true;
}

}  // namespace perdure::acp
