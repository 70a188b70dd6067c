// The plain log that appends are held against: K records gathered into one buffer, one write, one
// fdatasync. A file that grows pays for new blocks and for its new size with every sync; one that
// was written before pays for neither, and is the best that a log can do.
#pragma once

#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure::bench {

class RawLog {
 public:
  // With prewritten bytes the log lies in them, and starts over where start_over() is called.
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

  // Before each round: what was prewritten has to last for one.
  void start_over() {
    if (is_prewritten_) at_ = 0;
  }

  // Appends what get(0) … get(count - 1) give.
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
