// One run of the disk-fault sweep: a workload of 200 records over five sessions on an engine over
// the fault disk, with one planned fault, every restart it causes, and the checks after each.
// Acknowledged data exists, failed data does not, and data in doubt exists completely or not at
// all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fault_engine.h"
#include "testing/store/store_model.h"

namespace perdure {

class FaultRun {
 public:
  // `after_fatal` decides the fate of unsynced writes whenever the run must restart.
  FaultRun(EngineKind kind, std::uint64_t seed, CrashOutcome after_fatal);
  ~FaultRun();

  // Runs everything. False if the planned operation was never reached: the sweep is over.
  bool go(FaultPlan plan);

  // For the whole run.
  int fatals() const { return fatals_; }
  int restarts() const { return restarts_; }
  const std::map<Code, int>& refusals() const { return refusals_; }

 private:
  struct Pending {
    std::uint64_t number = 0;
    Append batch;
  };

  bool open();
  void work(int round);
  void queue_batch(int round, int place);
  void answered(std::uint64_t number, const Result<>& result);
  void step();
  // Ends this process, cleanly or not, and starts the next one without faults.
  void restart(CrashOutcome outcome);
  void end_life();
  void resolve_pending();

  std::unique_ptr<FaultEngine> engine_;
  CrashOutcome after_fatal_;
  std::unique_ptr<StoreEngine> store_;
  StoreModel model_;
  std::vector<Pending> pending_;
  std::uint64_t batches_ = 0;
  int life_fatals_ = 0;
  int fatals_ = 0;
  int restarts_ = 0;
  bool hit_ = false;
  bool was_open_ = false;  // in this or an earlier process
  std::string open_error_;
  std::map<Code, int> refusals_;
};

}  // namespace perdure
