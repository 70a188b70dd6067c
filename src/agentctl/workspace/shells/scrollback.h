// The last bytes of an endless output, numbered from its first byte. A reader that returns gives
// its offset and gets exactly the rest, or learns how much was overwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace perdure {

class Scrollback {
 public:
  // Allocates as it fills, at most twice this.
  explicit Scrollback(std::size_t bytes_max);

  void append(std::string_view bytes);

  std::uint64_t begin() const { return end_ - kept_.size(); }  // offset of the oldest kept byte
  std::uint64_t end() const { return end_; }                   // one past the newest

  // At most `bytes_max` from `offset`, which lies between begin() and end().
  std::string read(std::uint64_t offset, std::size_t bytes_max) const;

 private:
  std::size_t bytes_max_;
  std::string kept_;  // byte n stands at n modulo bytes_max_
  std::uint64_t end_ = 0;
};

}  // namespace perdure
