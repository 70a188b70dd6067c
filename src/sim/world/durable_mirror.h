// The required contents of an engine's disk: everything that it acknowledged and, of the batches in
// flight at a crash, each one whole or not at all. Kept next to the engine, independent of its
// caches, and after every crash compared with a store newly opened on the disk's contents.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/judges/verdict.h"
#include "testing/store/store_model.h"

namespace perdure::sim {

class DurableMirror {
 public:
  using BatchNumber = std::uint64_t;

  explicit DurableMirror(Verdict& verdict) : verdict_(verdict) {}

  // A batch is submitted to the engine; it is in flight until it is answered or a crash decides.
  BatchNumber begin(Append batch);
  void answered(BatchNumber number, const Result<>& result);
  void remove(SessionId session);
  std::size_t under_way() const { return under_way_.size(); }

  // After a crash: determines which batches in flight were stored, and fails the run if the store
  // contains anything else than it must. Returns how many were stored.
  std::size_t settle(Store& fresh);

  // We have damaged this session: the store's data about it is no longer compared with the mirror.
  void set_damaged(SessionId session) { damaged_.insert(session); }
  // The same for the snapshots that contain these bytes.
  void set_snapshots_damaged(std::string_view text);

  const StoreModel& model() const { return model_; }
  const SessionModel* find(SessionId session) const;
  // How many stored texts, except snapshots, contain these bytes.
  std::size_t texts_with(std::string_view bytes) const;

 private:
  struct UnderWay {
    BatchNumber number = 0;
    Append batch;
  };

  SessionModel read_session(Store& fresh, const ListedSession& listed);
  // The part in which they differ; empty: none.
  std::string difference(SessionId session, const SessionModel& found,
                         const SessionModel& wanted) const;
  // Chooses the batches that turn the session into what was found. Returns false if none do.
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
