// Server-sent events out of bytes that come in any portions. An event is told at its empty line;
// what the stream's end cuts off is no event.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure::client {

struct SseEvent {
  std::optional<std::string> id;
  std::string event;  // "message" when the stream names none
  std::string data;
  bool operator==(const SseEvent&) const = default;
};

class SseParser {
 public:
  // The events that these bytes complete. limit_reached for an event beyond sse_event_bytes_max:
  // the stream cannot be read on.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  void take_line(std::vector<SseEvent>& out);

  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // a '\n' now belongs to the '\r' before
  bool at_start_ = true;
};

}  // namespace perdure::client
