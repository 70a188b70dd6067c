// The bytes of a stream, made once for each record and shared by everybody who reads it.
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
  std::optional<std::uint64_t> id;  // only records have one: it is a cursor
  std::string_view data;            // each line of it becomes a data: line
};
std::string encode_sse(const SseFrame& frame);

enum class StreamForm { sse, ndjson };

using SharedBytes = std::shared_ptr<const std::string>;

// A record at its place, as the runtime hands it to all readers alike.
struct PlacedRecord {
  SessionId session;
  std::uint64_t seq = 0;
  SharedBytes bytes;
};

// Remembers the frames of the records handed out last. A frame belongs to the very bytes that it
// was made from, so that a record that was redacted meanwhile is encoded anew.
class FrameCache {
 public:
  explicit FrameCache(StreamForm form) : form_(form) {}
  // The error is that of encode_served().
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
