// Extracts the body of a message from its framing as bytes arrive, without storing them. Chunked
// bodies are parsed strictly: a size in another form is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/head.h"

namespace perdure {

class BodyReader {
 public:
  BodyReader() = default;
  // A longer body is an error as soon as it exceeds bytes_max.
  BodyReader(BodyFraming framing, std::size_t bytes_max);

  enum class State { more, done, too_long, broken };
  State state() const { return state_; }
  // Appends the bytes of the body and returns how many bytes were used. Bytes after the body's end
  // are not used.
  std::size_t feed(std::string_view bytes, std::string& body);
  // The peer sends no more: a normal end for a body without framing, an error otherwise.
  void end();

 private:
  enum class Part {
    size,
    extension,
    size_end,
    content,
    content_end,
    content_end_lf,
    trailer,
    trailer_end
  };

  std::size_t feed_chunked(std::string_view bytes, std::string& body);
  void take_size_char(char c);
  void take_trailer_char(char c);
  void begin_chunk();
  void take(std::string_view bytes, std::string& body);

  BodyKind kind_ = BodyKind::none;
  State state_ = State::done;
  Part part_ = Part::size;
  std::uint64_t left_ = 0;    // bytes left of the body or chunk
  std::size_t room_ = 0;      // bytes left until bytes_max
  std::size_t digits_ = 0;    // digits of the chunk's size so far
  std::size_t line_ = 0;      // bytes of this trailer
  std::size_t overhead_ = 0;  // bytes of extensions and trailers
};

}  // namespace perdure
