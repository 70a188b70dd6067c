#include "store/sqlite/index/session_index.h"

#include <algorithm>

#include "base/check.h"

namespace perdure {

std::uint64_t SessionIndex::generation() {
  const std::scoped_lock lock(mutex_);
  return generation_;
}

bool SessionIndex::offer(IndexedSession state, std::uint64_t generation) {
  const std::scoped_lock lock(mutex_);
  if (generation != generation_) return false;
  if (by_id_.contains(state.id)) return true;
  const SessionId id = state.id;
  clean_.push_front(std::move(state));
  by_id_.emplace(id, clean_.begin());
  evict();
  return true;
}

Seq SessionIndex::mark_damaged(SessionId id, Seq good) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return good;
  IndexedSession& state = *found->second;
  if (state.good && *state.good <= good) return *state.good;
  state.good = good;
  state.good_saved = false;
  damaged_.push_back(id);
  return good;
}

SessionIndex::Pinned SessionIndex::pin(SessionId id, std::int32_t draft) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? Pinned{} : pin_at(found->second, draft);
}

SessionIndex::Pinned SessionIndex::pin_or_insert(IndexedSession loaded, std::int32_t draft) {
  const std::scoped_lock lock(mutex_);
  const auto [found, is_new] = by_id_.try_emplace(loaded.id);
  if (is_new) found->second = clean_.insert(clean_.begin(), std::move(loaded));
  return pin_at(found->second, draft);
}

SessionIndex::Pinned SessionIndex::pin_at(States::iterator at, std::int32_t draft) {
  if (at->draft < 0) {
    touch(at);
    at->draft = draft;
  }
  return {.state = &*at, .damaged = at->good.has_value()};
}

void SessionIndex::unpin(SessionId id) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = by_id_.find(id); found != by_id_.end()) found->second->draft = -1;
}

IndexedSession* SessionIndex::insert(IndexedSession state) {
  const std::scoped_lock lock(mutex_);
  const SessionId id = state.id;
  States& list = state.dirty ? dirty_ : clean_;
  const auto at = list.insert(state.dirty ? list.end() : list.begin(), std::move(state));
  CHECK(by_id_.emplace(id, at).second);
  return &*at;
}

void SessionIndex::erase(SessionId id) {
  const std::scoped_lock lock(mutex_);
  generation_ += 1;
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  (found->second->dirty ? dirty_ : clean_).erase(found->second);
  by_id_.erase(found);
}

void SessionIndex::publish(const Group& group) {
  const std::scoped_lock lock(mutex_);
  for (const NewEntry& entry : group.entries) {
    group.changes[static_cast<std::size_t>(entry.draft)].state->tail.push_back(entry.ref);
  }
  for (const Change& change : group.changes) {
    IndexedSession& state = *change.state;
    state.draft = -1;
    if (state.sid == 0) {
      forget(state.id);
      continue;
    }
    state.stored = true;
    state.head = change.head;
    state.cursor = change.cursor;
    if (!change.has_entries || state.dirty) continue;
    state.dirty = true;
    state.dirty_from = group.block_pos;
    dirty_.splice(dirty_.end(), clean_, by_id_.find(state.id)->second);
  }
  evict();
}

void SessionIndex::discard(const std::vector<Change>& changes) {
  const std::scoped_lock lock(mutex_);
  for (const Change& change : changes) {
    change.state->draft = -1;
    if (!change.state->stored) forget(change.state->id);
  }
}

void SessionIndex::forget(SessionId id) {
  const auto found = by_id_.find(id);
  clean_.erase(found->second);
  by_id_.erase(found);
}

std::vector<IndexedSession*> SessionIndex::oldest_dirty(std::uint64_t before, std::size_t limit) {
  const std::scoped_lock lock(mutex_);
  std::vector<IndexedSession*> out;
  for (IndexedSession& state : dirty_) {
    if (out.size() == limit || state.dirty_from >= before) break;
    out.push_back(&state);
  }
  return out;
}

std::uint64_t SessionIndex::watermark_without(std::size_t count, std::uint64_t next_pos) {
  const std::scoped_lock lock(mutex_);
  CHECK(count <= dirty_.size());
  const auto next = std::next(dirty_.begin(), static_cast<std::ptrdiff_t>(count));
  return next == dirty_.end() ? next_pos : next->dirty_from;
}

void SessionIndex::flushed(const std::vector<IndexedSession*>& states) {
  const std::scoped_lock lock(mutex_);
  generation_ += 1;
  for (IndexedSession* state : states) {
    state->tail = {};
    state->flushed = state->head;
    state->dirty = false;
    clean_.splice(clean_.begin(), dirty_, by_id_.find(state->id)->second);
  }
  evict();
}

std::size_t SessionIndex::dirty_count() {
  const std::scoped_lock lock(mutex_);
  return dirty_.size();
}

std::vector<std::pair<std::uint64_t, Seq>> SessionIndex::unsaved_damage() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::pair<std::uint64_t, Seq>> out;
  for (const SessionId& id : damaged_) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || found->second->good_saved) continue;
    out.emplace_back(found->second->sid, *found->second->good);
  }
  return out;
}

void SessionIndex::damage_saved(const std::vector<std::pair<std::uint64_t, Seq>>& saved) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(damaged_, [&](const SessionId& id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return true;
    IndexedSession& state = *found->second;
    const std::pair<std::uint64_t, Seq> now(state.sid, state.good.value_or(0));
    if (std::ranges::find(saved, now) == saved.end()) return false;
    state.good_saved = true;
    return true;
  });
}

void SessionIndex::clear_damage(SessionId id) {
  const std::scoped_lock lock(mutex_);
  generation_ += 1;
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  found->second->good.reset();
  found->second->good_saved = true;
}

void SessionIndex::clear() {
  const std::scoped_lock lock(mutex_);
  generation_ += 1;
  by_id_.clear();
  clean_.clear();
  dirty_.clear();
  damaged_.clear();
}

void SessionIndex::evict() {
  auto at = clean_.end();
  std::size_t looks = 64;  // bounds the walk past pinned states at the end
  while (clean_.size() > clean_max_ && at != clean_.begin() && looks-- > 0) {
    --at;
    if (at->draft >= 0 || !at->stored || !at->good_saved) continue;
    by_id_.erase(at->id);
    at = clean_.erase(at);
  }
}

}  // namespace perdure
