// The store's in-memory state per session: head, cursor and the positions of records since the last
// flush. A session with unflushed records is "dirty" and always here; clean ones are a bounded
// cache of the tables `heads` and `extents`, so memory and boot time do not grow with stored
// sessions.
//
// Threads: only the writer changes states; readers look under the lock. A state's address is stable
// while it is dirty or pinned.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/sqlite/index/block.h"
#include "store/store.h"

namespace perdure {

struct IndexedSession {
  SessionId id;
  std::uint64_t sid = 0;
  Seq head = 0;
  std::optional<FrameCursor> cursor;
  std::optional<Seq> good;  // damaged: only records 1…good may be served
  bool good_saved = true;   // `good` is in the table `heads`

  Seq flushed = 0;               // records 1…flushed are in the extents
  std::vector<EntryRef> tail;    // the entries after them, in order
  std::uint64_t dirty_from = 0;  // dirty: the first row of the first unflushed block
  bool dirty = false;

  bool stored = true;       // false: created by a group that is not yet committed
  std::int32_t draft = -1;  // used by the writer: index among the current group's drafts
};

class SessionIndex {
 public:
  explicit SessionIndex(std::size_t clean_max) : clean_max_(clean_max) {}

  // Calls look(const IndexedSession&) under the lock; false if the session is not in memory.
  template <class Look>
  bool visit(SessionId id, Look&& look) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || !found->second->stored) return false;
    touch(found->second);
    std::forward<Look>(look)(std::as_const(*found->second));
    return true;
  }

  // Grows whenever a clean state in memory may have become older than the tables.
  std::uint64_t generation();
  // A reader offers what it loaded while `generation` was current; false if that has changed, so
  // that the reader must look again.
  bool offer(IndexedSession state, std::uint64_t generation);
  // Reports damage found by the caller: records after `good` are no longer served. Returns how many
  // may be served, possibly fewer than `good`.
  Seq mark_damaged(SessionId id, Seq good);

  // For the writer. A state with a draft is pinned: its address stays valid.
  struct Pinned {
    IndexedSession* state = nullptr;  // null: not in memory
    bool damaged = false;
  };
  // Assigns the number `draft` to the state unless it has one.
  Pinned pin(SessionId id, std::int32_t draft);
  // Like pin(), for a session that had to be loaded: pins the state that a reader has offered
  // since, otherwise this one.
  Pinned pin_or_insert(IndexedSession loaded, std::int32_t draft);
  void unpin(SessionId id);
  // For the scan of an open or a rebuild, during which nothing else inserts.
  IndexedSession* insert(IndexedSession state);
  void erase(SessionId id);

  struct Change {
    IndexedSession* state = nullptr;
    Seq head = 0;
    std::optional<FrameCursor> cursor;
    bool has_entries = false;  // it has entries in the block: it becomes dirty
  };
  // A new entry and its session's index among the changes. One flat list per group: a vector per
  // session would cost one allocation per record.
  struct NewEntry {
    std::int32_t draft = 0;
    EntryRef ref;
  };
  struct Group {
    std::vector<Change> changes;
    std::vector<NewEntry> entries;
    std::uint64_t block_pos = 0;  // first row of its block
  };
  // Makes a committed group visible all at once. A session without a number has no row and is
  // dropped.
  void publish(const Group& group);
  // Drops a group that was rolled back.
  void discard(const std::vector<Change>& changes);

  // Dirty sessions with unflushed rows before `before`, longest dirty first, at most `limit`.
  std::vector<IndexedSession*> oldest_dirty(std::uint64_t before, std::size_t limit);
  // The first row that is unflushed after flushing these; `next_pos` if nothing else is dirty.
  std::uint64_t watermark_without(std::size_t count, std::uint64_t next_pos);
  // Call when the flush has committed: marks them clean.
  void flushed(const std::vector<IndexedSession*>& states);
  std::size_t dirty_count();
  // Sessions whose damage is not in the tables yet; flushed() also marks the dirty ones.
  std::vector<std::pair<std::uint64_t, Seq>> unsaved_damage();
  void damage_saved(const std::vector<std::pair<std::uint64_t, Seq>>& saved);
  void clear_damage(SessionId id);
  void clear();

 private:
  using States = std::list<IndexedSession>;
  struct IdHash {
    std::size_t operator()(const SessionId& id) const {
      return static_cast<std::size_t>((id.ulid().high ^ id.ulid().low) * 0x9e3779b97f4a7c15ULL);
    }
  };

  Pinned pin_at(States::iterator at, std::int32_t draft);
  void touch(States::iterator at) {
    if (!at->dirty) clean_.splice(clean_.begin(), clean_, at);
  }
  // For a session that is not stored.
  void forget(SessionId id);
  void evict();

  const std::size_t clean_max_;
  std::mutex mutex_;
  States clean_;  // most recently used first
  States dirty_;  // longest dirty first
  std::unordered_map<SessionId, States::iterator, IdHash> by_id_;
  std::vector<SessionId> damaged_;
  std::uint64_t generation_ = 0;
};

}  // namespace perdure
