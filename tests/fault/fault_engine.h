// An engine over the fault disk, for the sweeps: opened for every run of the process, crashed, and
// checked afterwards. One per engine.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/engine.h"
#include "testing/store/fault_disk.h"

namespace perdure {

class FaultEngine {
 public:
  virtual ~FaultEngine() = default;
  virtual FaultDisk& disk() = 0;
  virtual void crash(CrashOutcome outcome) = 0;
  // With thresholds so small that all background work happens within a short workload.
  virtual Result<std::unique_ptr<StoreEngine>> open(std::function<void(const Error&)> on_fatal) = 0;
  // With production thresholds and this reserve.
  virtual Result<std::unique_ptr<StoreEngine>> open_plain(
      std::function<void(const Error&)> on_fatal, std::size_t reserve_bytes) = 0;
  // Call with no store open: adds a test failure for every error that the engine finds in its
  // files.
  virtual void check_integrity() = 0;
  virtual bool retry_space(StoreEngine& store) = 0;
};

enum class EngineKind { sqlite, files };
std::unique_ptr<FaultEngine> make_fault_engine(EngineKind kind, std::uint64_t seed);
const char* engine_name(EngineKind kind);

}  // namespace perdure
