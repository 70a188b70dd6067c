// The plain log with which appends are compared: K records gathered into one buffer, one write, one
// fdatasync. A growing file pays for new blocks and its new size with every sync; a prewritten one
// pays for neither, and is the best that a log can do.
#pragma once

#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure::bench {

class RawLog {
 public:
  // If bytes are prewritten, the log overwrites them; start_over() returns to their beginning.
  RawLog(const std::string& path, std::size_t prewritten_bytes)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
        is_prewritten_(prewritten_bytes > 0) {
    CHECK(file_ >= 0);
    const std::string zeros(1UL << 20, '\0');
    for (std::size_t at = 0; at < prewritten_bytes; at += zeros.size()) {
      CHECK(::pwrite(file_, zeros.data(), zeros.size(), static_cast<off_t>(at)) > 0);
    }
    CHECK(::fsync(file_) == 0);
  }
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;
  ~RawLog() { ::close(file_); }

  // Call before each round: the prewritten bytes must last for a round.
  void start_over() {
    if (is_prewritten_) at_ = 0;
  }

  // Appends the results of get(0) … get(count - 1).
  template <class Get>
  void write(std::size_t count, Get&& get) {
    buffer_.clear();
    for (std::size_t i = 0; i < count; ++i) buffer_ += get(i);
    CHECK(::pwrite(file_, buffer_.data(), buffer_.size(), at_) ==
          static_cast<ssize_t>(buffer_.size()));
    CHECK(::fdatasync(file_) == 0);
    at_ += static_cast<off_t>(buffer_.size());
  }

 private:
  int file_;
  bool is_prewritten_;
  off_t at_ = 0;
  std::string buffer_;
};

}  // namespace perdure::bench
