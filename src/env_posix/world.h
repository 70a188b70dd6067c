// The machine's clock, dice and folders as env/ wants them. Nothing is kept between calls but the
// name of the host boot: numbers buffered here would come twice after a fork.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/env.h"

namespace perdure {

class PosixClock final : public Clock {
 public:
  // Fails where the kernel does not tell its boot id.
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
