// Checks what offspring() and signal_each() of env/process.h guarantee, on a stage: real and
// simulated processes run the same checks.
#pragma once

#include <cstdint>

#include "env/process.h"

namespace perdure {

class FamilyStage {
 public:
  enum class Birth {
    below,  // a child of the root
    away,   // a child in its own session
    left    // a child whose parent has ended
  };
  virtual ~FamilyStage() = default;
  virtual Processes& processes() = 0;
  // With a root that has no children yet.
  virtual Family family() = 0;
  // Returns its number when it is alive.
  virtual std::int64_t bear(Birth how) = 0;
  // A process next to the root that is not in the family.
  virtual std::int64_t bear_stranger() = 0;
  virtual bool lives(std::int64_t pid) = 0;
  // Returns false if it does not end.
  virtual bool until_gone(std::int64_t pid) = 0;
};

// Fails the running test if a guarantee is violated.
void check_family(FamilyStage& stage);

}  // namespace perdure
