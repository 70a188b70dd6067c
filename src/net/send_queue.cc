#include "net/send_queue.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"

namespace perdure {

std::array<std::string_view, 3> SendQueue::Piece::parts() const {
  const std::string_view line(size_line.data(), size_line_bytes);
  return {line, bytes, line.empty() ? std::string_view() : "\r\n"};
}

std::size_t SendQueue::Piece::total() const {
  return bytes.size() + (size_line_bytes == 0 ? 0 : size_line_bytes + 2UL);
}

void SendQueue::push(Piece piece) {
  unsent_bytes_ += piece.total();
  pieces_.push_back(std::move(piece));
}

void SendQueue::add(std::string bytes) {
  add_shared(std::make_shared<const std::string>(std::move(bytes)));
}

void SendQueue::add_shared(std::shared_ptr<const std::string> bytes) {
  if (bytes->empty()) return;
  const std::string_view view = *bytes;
  push({.owner = std::move(bytes), .bytes = view});
}

void SendQueue::add_chunk(std::shared_ptr<const std::string> bytes) {
  if (bytes->empty()) return;
  CHECK(bytes->size() <= std::numeric_limits<std::uint32_t>::max());
  const std::string_view view = *bytes;
  Piece piece{.owner = std::move(bytes), .bytes = view};
  char* const begin = piece.size_line.data();
  char* end = std::to_chars(begin, begin + 8, view.size(), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  piece.size_line_bytes = static_cast<std::uint8_t>(end - begin);
  push(std::move(piece));
}

void SendQueue::add_fixed(std::string_view bytes) {
  if (!bytes.empty()) push({.bytes = bytes});
}

void SendQueue::clear() {
  pieces_ = {};
  first_ = first_sent_ = unsent_bytes_ = 0;
}

std::size_t SendQueue::gather(std::span<std::string_view> parts) const {
  std::size_t count = 0;
  std::size_t skip = first_sent_;
  for (std::size_t i = first_; i < pieces_.size(); ++i) {
    for (std::string_view part : pieces_[i].parts()) {
      const std::size_t passed = std::min(skip, part.size());
      part.remove_prefix(passed);
      skip -= passed;
      if (part.empty()) continue;
      if (count == parts.size()) return count;
      parts[count++] = part;
    }
  }
  return count;
}

void SendQueue::sent(std::size_t bytes) {
  CHECK(bytes <= unsent_bytes_);
  unsent_bytes_ -= bytes;
  if (unsent_bytes_ == 0) return clear();
  first_sent_ += bytes;
  while (first_sent_ >= pieces_[first_].total()) {
    first_sent_ -= pieces_[first_].total();
    pieces_[first_] = {};
    ++first_;
  }
  // Erases in bulk after most pieces are sent, so that a stream that is never empty stays small.
  if (first_ > 64 && first_ > pieces_.size() / 2) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace perdure
