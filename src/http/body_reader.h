// The body of a message, taken out of its framing as the bytes come. It holds none of them itself,
// and a chunked body is read to the letter: a size in another form is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/head.h"

namespace perdure {

class BodyReader {
 public:
  BodyReader() = default;
  // A longer body is an error once it is seen to be longer.
  BodyReader(BodyFraming framing, std::size_t bytes_max);

  enum class State { more, done, too_long, broken };
  State state() const { return state_; }
  // Appends what belongs to the body and gives how many of the bytes were used; what is left behind
  // the body's end is not.
  std::size_t feed(std::string_view bytes, std::string& body);
  // The peer sends no more: right for a body without any framing, else it is broken.
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
  std::uint64_t left_ = 0;    // of the body or of the chunk
  std::size_t room_ = 0;      // until bytes_max
  std::size_t digits_ = 0;    // of the chunk's size
  std::size_t line_ = 0;      // bytes of this trailer
  std::size_t overhead_ = 0;  // bytes of extensions and trailers
};

}  // namespace perdure
