// A connection in memory, for fuzzers: the driver delivers the peer's bytes in portions, only while
// the reader wants them. It accepts writes a few bytes at a time, and sometimes makes the writer
// wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/byte_stream.h"

namespace perdure {

class MemoryStream final : public ByteStream {
 public:
  void set_events(ByteStreamEvents* events) override { events_ = events; }
  void start_reading() override { reads_ = true; }
  void stop_reading() override { reads_ = false; }
  Transferred write(std::span<const std::string_view> parts) override {
    CHECK(!is_closed);
    if (refuses_every != 0 && ++writes_ % refuses_every == 0) {
      wants_write_ = true;
      return {Transfer::would_wait};
    }
    // Accepts at most a few bytes at once: the writer must resume where it stopped.
    const std::size_t taken = std::min<std::size_t>(parts[0].size(), 7);
    written += parts[0].substr(0, taken);
    return {Transfer::some, taken};
  }
  void end_writing() override {}
  void close() override {
    events_ = nullptr;
    is_closed = true;
  }

  bool wants_bytes() const { return events_ != nullptr && reads_; }
  void give(std::string_view bytes) {
    if (wants_bytes()) events_->on_bytes(bytes);
  }
  void end() {
    if (events_ != nullptr) events_->on_end();
  }
  void make_writable() {
    if (!wants_write_) return;
    wants_write_ = false;
    if (events_ != nullptr) events_->on_writable();
  }

  std::size_t refuses_every = 0;
  std::string written;
  bool is_closed = false;

 private:
  ByteStreamEvents* events_ = nullptr;
  bool reads_ = false;
  bool wants_write_ = false;
  std::size_t writes_ = 0;
};

}  // namespace perdure
