// The bytes of a stream, encoded once per record and shared by all its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/result.h"

namespace perdure {

struct SseFrame {
  std::string_view event;
  std::optional<std::uint64_t> id;  // only for records, whose id is a cursor
  std::string_view data;            // each of its lines becomes a data: line
};
std::string encode_sse(const SseFrame& frame);

enum class StreamForm { sse, ndjson };

using SharedBytes = std::shared_ptr<const std::string>;

// A record with its position, as the runtime gives it to all readers.
struct PlacedRecord {
  SessionId session;
  std::uint64_t seq = 0;
  SharedBytes bytes;
};

// Remembers the frames of the most recent records. A frame is tied to the bytes that it was made
// from, so a record that has been redacted since is encoded again.
class FrameCache {
 public:
  explicit FrameCache(StreamForm form) : form_(form) {}
  // Fails only if encode_served() does.
  Result<SharedBytes> frame(const PlacedRecord& record);

 private:
  struct Entry {
    std::weak_ptr<const std::string> source;
    SharedBytes frame;
  };
  void make_room();

  StreamForm form_;
  std::map<const std::string*, Entry> entries_;
  std::deque<const std::string*> oldest_first_;
};

}  // namespace perdure
