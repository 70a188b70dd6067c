#include "client/sse.h"

#include <utility>

#include "base/limits.h"

namespace perdure::client {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> out;
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') {
      after_return_ = false;
      bytes.remove_prefix(1);
      continue;
    }
    after_return_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > sse_event_bytes_max) {
      return fail(Code::limit_reached, "an event of the stream is too long");
    }
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(out);
  }
  return out;
}

void SseParser::take_line(std::vector<SseEvent>& out) {
  std::string line = std::exchange(line_, {});
  if (std::exchange(at_start_, false) && line.starts_with(byte_order_mark)) {
    line.erase(0, byte_order_mark.size());
  }
  if (line.empty()) {
    // An event without data is dropped, with its name and id.
    SseEvent event = std::exchange(event_, {});
    if (!std::exchange(has_data_, false)) return;
    if (event.event.empty()) event.event = "message";
    out.push_back(std::move(event));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) return;  // a comment
  const std::string_view name = std::string_view(line).substr(0, colon);
  std::string_view value;
  if (colon != std::string::npos) value = std::string_view(line).substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = std::string(value);
  }
}

}  // namespace perdure::client
