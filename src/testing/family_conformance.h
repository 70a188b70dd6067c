// What offspring() and signal_each() of env/process.h promise, checked against a stage: the real
// processes and the simulated ones play the same piece.
#pragma once

#include <cstdint>

#include "env/process.h"

namespace perdure {

class FamilyStage {
 public:
  enum class Birth {
    below,  // a child of the root
    away,   // the same, in a session of its own
    left    // one whose parent has ended
  };
  virtual ~FamilyStage() = default;
  virtual Processes& processes() = 0;
  // Of a root that has nobody yet.
  virtual Family family() = 0;
  // Gives its number once it lives.
  virtual std::int64_t bear(Birth how) = 0;
  // A process beside the root that is not of the family.
  virtual std::int64_t bear_stranger() = 0;
  virtual bool lives(std::int64_t pid) = 0;
  // False: it does not go.
  virtual bool until_gone(std::int64_t pid) = 0;
};

// Fails the running test where something does not hold.
void check_family(FamilyStage& stage);

}  // namespace perdure
