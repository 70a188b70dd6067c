// What an engine's disk must hold: everything it has acknowledged, and of what was under way at a
// crash each batch whole or not at all. Kept beside the engine, past all of its caches, and held
// after every crash against a store that was opened anew on what the disk then has.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/verdict.h"
#include "testing/store_model.h"

namespace perdure::sim {

class DurableMirror {
 public:
  using BatchNumber = std::uint64_t;

  explicit DurableMirror(Verdict& verdict) : verdict_(verdict) {}

  // A batch goes to the engine; it is under way until it is answered, or a crash decides.
  BatchNumber begin(Append batch);
  void answered(BatchNumber number, const Result<>& result);
  void remove(SessionId session);
  std::size_t under_way() const { return under_way_.size(); }

  // After a crash: finds out what of the batches under way is there, and fails the run if the store
  // holds anything else than it must. Returns how many of them are.
  std::size_t settle(Store& fresh);

  // We have damaged it: what the store says of it from now on is not held against the mirror.
  void set_damaged(SessionId session) { damaged_.insert(session); }
  // The same for the snapshots with these bytes in them.
  void set_snapshots_damaged(std::string_view text);

  const StoreModel& model() const { return model_; }
  const SessionModel* find(SessionId session) const;
  // How many of the texts that are stored, but for snapshots, have these bytes in them.
  std::size_t texts_with(std::string_view bytes) const;

 private:
  struct UnderWay {
    BatchNumber number = 0;
    Append batch;
  };

  SessionModel read_session(Store& fresh, const ListedSession& listed);
  // The part in which they are not the same; empty: none.
  std::string difference(SessionId session, const SessionModel& found,
                         const SessionModel& wanted) const;
  // Chooses those of the batches that make the session what was found. False when none do.
  bool choose(SessionId session, const SessionModel& found, const StoreModel& before,
              std::span<const UnderWay* const> rest, std::set<BatchNumber>& there) const;
  void choose_damaged(Seq head, std::span<const UnderWay* const> rest,
                      std::set<BatchNumber>& there);
  void settle_session(Store& fresh, const ListedSession& listed, std::set<BatchNumber>& there);
  void check_keys(Store& fresh);
  void apply(const Append& batch);

  Verdict& verdict_;
  StoreModel model_;
  std::vector<UnderWay> under_way_;
  BatchNumber last_number_ = 0;
  std::set<SessionId> damaged_;
  std::set<SessionId> snapshots_damaged_;
};

}  // namespace perdure::sim
