// Newline-delimited JSON from an agent's bytes, split anywhere. The one rule: everything passed on
// as an object is one valid JSON object of well-formed UTF-8, and everything else in the stream is
// reported as noise and never stops the reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"

namespace perdure::acp {

enum class NoiseKind : std::uint8_t {
  not_json,     // a line, or the part of it around an object, that is not JSON
  not_message,  // valid JSON that is not a message of the protocol
  batch,        // a JSON-RPC batch, which is not allowed
  oversize,     // longer than the limit; skipped up to its newline
  unfinished,   // the stream ended inside it
  repaired,     // ill-formed text was replaced by U+FFFD; the object was passed on
};

// One sentence for a person.
std::string_view noise_text(NoiseKind kind);

// Output that is not a message, shortened for people. The connection continues.
struct Noise {
  std::string text;  // well-formed UTF-8
  NoiseKind kind = NoiseKind::not_json;
  std::string why;
};
Noise make_noise(std::string_view bytes, NoiseKind kind);

// Receives the results in the order of the stream. The views are valid only during the call.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void on_object(std::string_view json) = 0;
  // The first acp_noise_bytes_max bytes of it, unchanged: any bytes.
  virtual void on_noise(std::string_view bytes, NoiseKind kind) = 0;
};

// Memory stays below twice the limit for any input; time is linear in its length.
class LineReader {
 public:
  explicit LineReader(std::size_t line_bytes_max = acp_line_bytes_max);

  // Passes on each line that ends within these bytes. CRLF is a newline, too, and an empty line is
  // ignored.
  void feed(std::string_view bytes, LineSink& sink);
  // The stream ended: the rest counts as a line, too. The reader can then be used again.
  void feed_end(LineSink& sink);

  // Bytes of the incomplete line.
  std::size_t buffered_bytes() const { return partial_.size(); }

 private:
  void hold(std::string_view bytes, LineSink& sink);

  std::size_t line_bytes_max_;
  std::string partial_;
  bool skipping_ = false;  // inside an oversize line that was reported
};

}  // namespace perdure::acp
