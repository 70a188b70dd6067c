// Checks the hash chain over a journal's stored bytes, which a store can do without understanding
// the records (J2).
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes/hash.h"

namespace perdure {

class LineChain {
 public:
  // How a record relates to the one before it.
  enum class Link {
    vouches,  // it holds the previous record's hash
    silent,   // neither is linked: format 0, or not our journal
    broken    // its hash of the previous record is missing or wrong
  };
  Link add(std::string_view record);

 private:
  std::optional<Hash> before_;
  bool is_first_ = true;
};

}  // namespace perdure
