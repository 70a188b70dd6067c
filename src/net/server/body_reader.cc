#include "net/server/body_reader.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure {

BodyReader::BodyReader(BodyFraming framing, std::size_t bytes_max)
    : kind_(framing.kind), state_(State::more), left_(framing.bytes), room_(bytes_max) {
  if (kind_ == BodyKind::none || (kind_ == BodyKind::length && left_ == 0)) state_ = State::done;
  if (kind_ == BodyKind::length && left_ > bytes_max) state_ = State::too_long;
  if (kind_ == BodyKind::chunked) left_ = 0;
}

std::size_t BodyReader::feed(std::string_view bytes, std::string& body) {
  if (state_ != State::more || bytes.empty()) return 0;
  if (kind_ == BodyKind::chunked) return feed_chunked(bytes, body);
  if (kind_ == BodyKind::until_end) {
    take(bytes, body);
    return bytes.size();
  }
  const std::string_view part = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
  take(part, body);
  left_ -= part.size();
  if (left_ == 0 && state_ == State::more) state_ = State::done;
  return part.size();
}

void BodyReader::end() {
  if (state_ == State::more) state_ = kind_ == BodyKind::until_end ? State::done : State::broken;
}

void BodyReader::take(std::string_view bytes, std::string& body) {
  if (bytes.size() > room_) {
    state_ = State::too_long;
    return;
  }
  room_ -= bytes.size();
  body.append(bytes);
}

std::size_t BodyReader::feed_chunked(std::string_view bytes, std::string& body) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::more) {
    if (part_ == Part::content) {
      const std::string_view part = bytes.substr(
          used, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
      take(part, body);
      used += part.size();
      left_ -= part.size();
      if (left_ == 0) part_ = Part::content_end;
      continue;
    }
    const char c = bytes[used++];
    switch (part_) {
      case Part::size:
      case Part::extension:
      case Part::size_end: take_size_char(c); break;
      case Part::content_end:
        if (c != '\r') state_ = State::broken;
        part_ = Part::content_end_lf;
        break;
      case Part::content_end_lf:
        if (c != '\n') state_ = State::broken;
        part_ = Part::size;
        digits_ = 0;
        break;
      default: take_trailer_char(c); break;
    }
  }
  return used;
}

void BodyReader::take_size_char(char c) {
  if (part_ == Part::size_end) {
    if (c != '\n') {
      state_ = State::broken;
    } else {
      begin_chunk();
    }
    return;
  }
  if (c == '\r') {
    if (digits_ == 0) state_ = State::broken;
    part_ = Part::size_end;
    return;
  }
  if (part_ == Part::extension) {
    // Extensions have no meaning here; they are skipped, up to a limit.
    const auto byte = static_cast<unsigned char>(c);
    const bool allowed = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    if (!allowed || ++overhead_ > http_chunk_overhead_bytes_max) state_ = State::broken;
    return;
  }
  if (c == ';' && digits_ > 0) {
    part_ = Part::extension;
    return;
  }
  unsigned digit = 0;
  if (c >= '0' && c <= '9') {
    digit = static_cast<unsigned>(c - '0');
  } else if (c >= 'a' && c <= 'f') {
    digit = static_cast<unsigned>(c - 'a' + 10);
  } else if (c >= 'A' && c <= 'F') {
    digit = static_cast<unsigned>(c - 'A' + 10);
  } else {
    state_ = State::broken;
    return;
  }
  if (++digits_ > 15) state_ = State::broken;
  left_ = left_ * 16 + digit;
}

void BodyReader::begin_chunk() {
  line_ = 0;
  if (left_ == 0) {
    part_ = Part::trailer;
  } else if (left_ > room_) {
    state_ = State::too_long;
  } else {
    part_ = Part::content;
  }
}

// Trailers are skipped up to the empty line, because nothing here could trust them.
void BodyReader::take_trailer_char(char c) {
  if (++overhead_ > http_chunk_overhead_bytes_max || c == '\0') {
    state_ = State::broken;
  } else if (part_ == Part::trailer_end) {
    if (c != '\n') {
      state_ = State::broken;
    } else if (line_ == 0) {
      state_ = State::done;
    }
    line_ = 0;
    part_ = Part::trailer;
  } else if (c == '\r') {
    part_ = Part::trailer_end;
  } else if (c == '\n') {
    state_ = State::broken;
  } else {
    ++line_;
  }
}

}  // namespace perdure
