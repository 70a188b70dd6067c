// Parses server-sent events from bytes in any portions. An empty line completes an event; an event
// cut off by the end of the stream is dropped.
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
  std::string event;  // "message" if the stream names none
  std::string data;
  bool operator==(const SseEvent&) const = default;
};

class SseParser {
 public:
  // The events completed by these bytes. limit_reached for an event beyond sse_event_bytes_max: the
  // stream cannot continue.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  void take_line(std::vector<SseEvent>& out);

  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // a '\n' now belongs to the previous '\r'
  bool at_start_ = true;
};

}  // namespace perdure::client
