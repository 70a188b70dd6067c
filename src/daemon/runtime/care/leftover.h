// A place where redacted text still is, and what ends that, in words.
#pragma once

#include <string>

namespace perdure {

struct Leftover {
  std::string where;
  std::string until;
  bool operator==(const Leftover&) const = default;
};

}  // namespace perdure
