// Newline-delimited JSON out of an agent's bytes, cut anywhere. The one rule: what is handed on as
// an object is one valid JSON object of well-formed UTF-8, and everything else on the stream is
// reported as noise and never stops the reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"

namespace perdure::acp {

enum class NoiseKind : std::uint8_t {
  not_json,     // a line, or the part of it around an object, that is no JSON
  not_message,  // valid JSON that is no message of the protocol
  batch,        // a JSON-RPC batch: nobody may send one
  oversize,     // longer than the limit; skipped up to its newline
  unfinished,   // the stream ended inside of it
  repaired,     // ill-formed text was replaced by U+FFFD; the object was handed on
};

// One sentence for a person.
std::string_view noise_text(NoiseKind kind);

// What was no message, for a person; kept short. The connection goes on.
struct Noise {
  std::string text;  // well-formed UTF-8
  NoiseKind kind = NoiseKind::not_json;
  std::string why;
};
Noise make_noise(std::string_view bytes, NoiseKind kind);

// Who takes what was read, in the order of the stream. The views are good during the call only.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void on_object(std::string_view json) = 0;
  // The first acp_noise_bytes_max bytes of it, as they came: any bytes.
  virtual void on_noise(std::string_view bytes, NoiseKind kind) = 0;
};

// Memory stays below twice the limit, whatever is fed; time is linear in what is fed.
class LineReader {
 public:
  explicit LineReader(std::size_t line_bytes_max = acp_line_bytes_max);

  // Hands on each line that ends within these bytes. CRLF is a newline too, and an empty line is
  // nothing.
  void feed(std::string_view bytes, LineSink& sink);
  // The stream ended: a last line without its newline is a line too. The reader is as new after it.
  void feed_end(LineSink& sink);

  // Bytes of the line that is not finished yet.
  std::size_t buffered_bytes() const { return partial_.size(); }

 private:
  void hold(std::string_view bytes, LineSink& sink);

  std::size_t line_bytes_max_;
  std::string partial_;
  bool skipping_ = false;  // inside of an oversize line that was reported
};

}  // namespace perdure::acp
