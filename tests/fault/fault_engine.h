// An engine over the fault disk, as the sweeps need it: opened anew for every life of the process,
// crashed, and looked at afterwards. One for each engine.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/engine.h"
#include "testing/fault_disk.h"

namespace perdure {

class FaultEngine {
 public:
  virtual ~FaultEngine() = default;
  virtual FaultDisk& disk() = 0;
  virtual void crash(CrashOutcome outcome) = 0;
  // With thresholds so small that everything that happens in the background is part of a short
  // workload.
  virtual Result<std::unique_ptr<StoreEngine>> open(std::function<void(const Error&)> on_fatal) = 0;
  // With the thresholds of a product, and that reserve.
  virtual Result<std::unique_ptr<StoreEngine>> open_plain(
      std::function<void(const Error&)> on_fatal, std::size_t reserve_bytes) = 0;
  // With no store open: adds a failure for what the engine itself finds wrong with its files.
  virtual void check_integrity() = 0;
  virtual bool retry_space(StoreEngine& store) = 0;
};

enum class EngineKind { sqlite, files };
std::unique_ptr<FaultEngine> make_fault_engine(EngineKind kind, std::uint64_t seed);
const char* engine_name(EngineKind kind);

}  // namespace perdure
