// Derives from each record the named events (L30) for pages that use those, with the ids of the
// transcript's messages. Remembers only what is open.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/events.h"

namespace perdure {

struct NamedEvent {
  std::string_view action;
  std::string members;  // of the payload, after session_id and task_id: ,"seq":7,…
};

class EventNamer {
 public:
  // The events of the next record, in order.
  std::vector<NamedEvent> add(const Record& record);

 private:
  void add_chunk(const Record& record, const std::string& text);
  void add_tool(const Record& record);
  NamedEvent message(std::string_view action, const Record& record, std::uint64_t id) const;

  std::vector<NamedEvent> found_;
  std::string_view role_;
  std::string text_;
  std::uint64_t streaming_ = 0;                 // first record of the message that is streaming
  std::map<std::string, std::uint64_t> tools_;  // open calls: id -> first record
};

}  // namespace perdure
