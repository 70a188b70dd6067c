#include "daemon/runtime/reads/readers.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure {

void Readers::add(SubscriptionId id, Seq after, RecordSink& sink) {
  readers_[id] = Reader{.sink = &sink, .cursor = after};
}

void Readers::publish(Seq first, const std::vector<std::shared_ptr<const std::string>>& records) {
  if (records.empty()) return;
  if (readers_.empty()) {  // no readers: the store has everything
    forget_recent();
    return;
  }
  if (recent_.empty() || recent_first_ + recent_.size() != first) {
    forget_recent();
    recent_first_ = first;
  }
  for (const auto& record : records) {
    recent_bytes_ += record->size();
    recent_.push_back(record);
  }
  while (recent_.size() > recent_records_max ||
         (recent_.size() > 1 && recent_bytes_ > recent_bytes_max)) {
    forget_oldest();
  }
  pump_all(first + records.size() - 1);
  forget_passed();
}

void Readers::pump_all(Seq head) {
  std::vector<SubscriptionId> ids;
  for (const auto& [id, reader] : readers_) ids.push_back(id);
  for (const SubscriptionId id : ids) pump(id, head);
}

// Recent records are kept only for readers that need them; new readers use the store. Otherwise
// every session with a reader would keep hundreds of unneeded records.
void Readers::forget_passed() {
  Seq passed = recent_first_ + recent_.size() - 1;
  for (const auto& [id, reader] : readers_) passed = std::min(passed, reader.cursor);
  while (!recent_.empty() && recent_first_ <= passed) forget_oldest();
}

void Readers::forget_oldest() {
  recent_bytes_ -= recent_.front()->size();
  recent_.pop_front();
  recent_first_ += 1;
}

void Readers::forget_recent() {
  recent_.clear();
  recent_bytes_ = 0;
}

std::vector<std::shared_ptr<const std::string>> Readers::portion(Seq after, std::size_t limit) {
  std::vector<std::shared_ptr<const std::string>> out;
  if (!recent_.empty() && after + 1 >= recent_first_ &&
      after + 1 < recent_first_ + recent_.size()) {
    const auto begin = recent_.begin() + static_cast<std::ptrdiff_t>(after + 1 - recent_first_);
    const auto count = std::min(limit, static_cast<std::size_t>(recent_.end() - begin));
    out.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return out;
  }
  Result<RecordPage> page = shared_.world.store.read(session_, {.after = after, .limit = limit});
  if (!page) return out;  // damaged from here on: the reader is disconnected below
  for (std::string& bytes : page->records) {
    out.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  return out;
}

bool Readers::give_some(SubscriptionId id, Seq head) {
  const auto at = readers_.find(id);
  if (at == readers_.end()) return false;
  Reader& reader = at->second;
  if (reader.cursor >= head) {
    reader.live = true;
    return false;
  }
  const std::size_t room = reader.sink->room();
  if (room == 0) {
    if (reader.live && head - reader.cursor > subscriber_records_max) { cut(id); }
    return false;
  }
  // No further than the session's own head, or a reader could return with a cursor beyond it.
  const auto records =
      portion(reader.cursor, std::min({room, portion_records_max, head - reader.cursor}));
  if (records.empty()) {  // damaged from here on
    cut(id);
    return false;
  }
  const Seq first = reader.cursor + 1;
  reader.cursor += records.size();
  reader.sink->on_records(first, records);  // may unsubscribe: do not use `reader` after this
  return true;
}

void Readers::pump(SubscriptionId id, Seq head) {
  while (give_some(id, head)) {}
}

void Readers::cut_all() {
  while (!readers_.empty()) cut(readers_.begin()->first);
}

void Readers::cut(SubscriptionId id) {
  const Reader reader = readers_.at(id);
  readers_.erase(id);
  shared_.on_reader_cut(id);
  reader.sink->on_cut(reader.cursor);
}

}  // namespace perdure
