// The target of a request line: a path with its query, or a whole URL. Paths that would have to be
// resolved (`..`, an encoded slash) are refused.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perdure {

struct Refusal;

struct RequestTarget {
  std::string authority;                                   // from a whole URL; otherwise empty
  std::string path;                                        // percent-decoded
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded; '+' is a space
};

std::expected<RequestTarget, Refusal> parse_target(std::string_view target);

}  // namespace perdure
