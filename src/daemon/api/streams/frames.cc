#include "daemon/api/streams/frames.h"

#include <algorithm>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {

std::string encode_sse(const SseFrame& frame) {
  std::string out;
  out.reserve(frame.data.size() + 64);
  if (frame.id) out += "id: " + std::to_string(*frame.id) + "\n";
  if (!frame.event.empty()) {
    out += "event: ";
    out += frame.event;
    out += '\n';
  }
  std::string_view rest = frame.data;
  while (true) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    out += "data: ";
    out += rest.substr(0, end);
    out += '\n';
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  out += '\n';
  return out;
}

Result<SharedBytes> FrameCache::frame(const PlacedRecord& record) {
  const auto known = entries_.find(record.bytes.get());
  if (known != entries_.end() && known->second.source.lock() == record.bytes) {
    return known->second.frame;
  }
  const std::string served = TRY(encode_served(record.session, *record.bytes));
  auto made = std::make_shared<const std::string>(
      form_ == StreamForm::ndjson
          ? served + "\n"
          : encode_sse({.event = "record", .id = record.seq, .data = served}));
  make_room();
  entries_.insert_or_assign(record.bytes.get(), Entry{record.bytes, made});
  oldest_first_.push_back(record.bytes.get());
  return made;
}

void FrameCache::make_room() {
  while (oldest_first_.size() >= frames_cached_max) {
    entries_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
}

}  // namespace perdure
