// Bytes to send, in order, without copying those that many connections share. Counts them exactly,
// including framing, and uses no memory while it is empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

class SendQueue {
 public:
  void add(std::string bytes);
  void add_shared(std::shared_ptr<const std::string> bytes);
  // One chunk of a chunked body. Ignores an empty one, which would end the body.
  void add_chunk(std::shared_ptr<const std::string> bytes);
  // Bytes that live as long as the program.
  void add_fixed(std::string_view bytes);
  void clear();

  bool empty() const { return unsent_bytes_ == 0; }
  std::size_t unsent_bytes() const { return unsent_bytes_; }
  // Fills in the next parts to send and returns their number.
  std::size_t gather(std::span<std::string_view> parts) const;
  void sent(std::size_t bytes);

 private:
  // A chunk is sent as its size, its bytes and a line end; anything else as its bytes alone.
  struct Piece {
    std::shared_ptr<const std::string> owner;
    std::string_view bytes;
    std::array<char, 10> size_line{};
    std::uint8_t size_line_bytes = 0;
    std::array<std::string_view, 3> parts() const;
    std::size_t total() const;
  };

  void push(Piece piece);

  std::vector<Piece> pieces_;
  std::size_t first_ = 0;       // pieces before it are sent
  std::size_t first_sent_ = 0;  // bytes of it that are sent
  std::size_t unsent_bytes_ = 0;
};

}  // namespace perdure
