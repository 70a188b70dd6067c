#include "daemon/api/streams/stream_slots.h"

namespace perdure {

Result<StreamSlots::Slot> StreamSlots::take(const Principal& principal) {
  std::size_t& count = (*counts_)[principal.id];
  if (count >= max_) {
    return fail(Code::limit_reached,
                "this caller has " + std::to_string(max_) + " streams open already");
  }
  ++count;
  return Slot(nullptr, [counts = counts_, id = principal.id](void*) {
    const auto at = counts->find(id);
    if (--at->second == 0) counts->erase(at);
  });
}

std::size_t StreamSlots::open() const {
  std::size_t total = 0;
  for (const auto& [id, count] : *counts_) total += count;
  return total;
}

}  // namespace perdure
