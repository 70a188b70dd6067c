// How many streams a principal has open. A stream holds a slot for as long as it lives; without one
// it is not opened.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "auth/principal.h"
#include "base/limits.h"
#include "base/result.h"

namespace perdure {

class StreamSlots {
 public:
  explicit StreamSlots(std::size_t per_principal_max = streams_per_principal_max)
      : max_(per_principal_max) {}

  // Given back when the last copy is dropped; may outlive the slots.
  using Slot = std::shared_ptr<void>;
  // limit_reached when the principal has all of its streams open.
  Result<Slot> take(const Principal& principal);
  std::size_t open() const;

 private:
  using Counts = std::map<std::string, std::size_t>;

  std::size_t max_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace perdure
