// What stands between method and version: a path with its query, or a whole URL. Nothing is
// resolved here: a path that would need resolving (`..`, an encoded slash) is refused.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perdure {

struct Refusal;

struct RequestTarget {
  std::string authority;                                   // of a whole URL; else empty
  std::string path;                                        // percent-decoded
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded; '+' is a space
};

std::expected<RequestTarget, Refusal> parse_target(std::string_view target);

}  // namespace perdure
