// Limits the open streams per principal. A stream holds a slot for its lifetime and cannot be
// opened without one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "core/auth/principal.h"

namespace perdure {

class StreamSlots {
 public:
  explicit StreamSlots(std::size_t per_principal_max = streams_per_principal_max)
      : max_(per_principal_max) {}

  // Released when the last copy is destroyed; may outlive the StreamSlots.
  using Slot = std::shared_ptr<void>;
  // limit_reached if all of the principal's slots are taken.
  Result<Slot> take(const Principal& principal);
  std::size_t open() const;

 private:
  using Counts = std::map<std::string, std::size_t>;

  std::size_t max_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace perdure
