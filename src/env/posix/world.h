// The machine's clock, random numbers and folders as env/ needs them. Only the host boot id is kept
// between calls: buffered random numbers would repeat after a fork.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/env.h"

namespace perdure {

class PosixClock final : public Clock {
 public:
  // Fails if the kernel does not show its boot id.
  static Result<std::unique_ptr<PosixClock>> create();
  Moment now() override;

 private:
  explicit PosixClock(std::string host_boot) : host_boot_(std::move(host_boot)) {}
  std::string host_boot_;
};

// The kernel's generator; blocks only before it is seeded, in the first moments of a machine.
class PosixRandom final : public Random {
 public:
  std::uint64_t next() override;
};

class PosixFiles final : public Files {
 public:
  bool folder_exists(const std::string& path) override;
};

}  // namespace perdure
