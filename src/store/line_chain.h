// The hash chain of a journal's records, followed over the bytes as they are stored: what a store
// can check of them without knowing what they mean (J2).
#pragma once

#include <optional>
#include <string_view>

#include "base/hash.h"

namespace perdure {

// Follows the hash chain over stored bytes without knowing what they mean.
class LineChain {
 public:
  // What a record says of the one before it.
  enum class Link {
    vouches,  // it holds that one's hash
    silent,   // neither of the two is linked: format 0, or no journal of ours
    broken    // it should hold the hash, and does not
  };
  Link add(std::string_view record);

 private:
  std::optional<Hash> before_;
  bool is_first_ = true;
};

}  // namespace perdure
