// A store's required contents in the simplest form: maps, and no disk. Tests apply what was
// acknowledged and compare it with the store after every crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/store.h"

namespace perdure {

struct SessionModel {
  std::vector<std::string> records;
  std::optional<FrameCursor> cursor;
  std::map<std::uint64_t, std::string> outbox;
  std::uint64_t outbox_last = 0;
  std::set<std::string> refs;
  std::set<Hash> blobs;
  std::optional<StoredSnapshot> snapshot;
  std::optional<Listing> listing;
};

struct StoreModel {
  std::map<SessionId, SessionModel> sessions;
  std::map<std::string, StoredAnswer> answers;
  std::map<Hash, std::string> blobs;

  Seq head(SessionId session) const;
  // The code with which a store of this epoch must refuse the batch; absent if it must accept it.
  std::optional<Code> refusal(const Append& batch, std::uint64_t epoch) const;
  // Applies a batch that must be accepted.
  void apply(const Append& batch);
  // Also removes its blobs, unless another session has them.
  void remove(SessionId session);
};

// Adds a GoogleTest failure for every difference between the store's reads and the model: heads,
// records, outboxes, cursors, snapshots, listings, answers, refs, blobs.
void expect_store_equals(Store& store, const StoreModel& model);

}  // namespace perdure
