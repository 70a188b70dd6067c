// The members of one JSON object as raw slices, found by key: one pass, no copies, no failures.
// Only for text that is known to be valid JSON and that outlives it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace perdure::acp {

// What is no object has no members. A member that is null counts as absent, a key that is there
// twice as its last, and keys are compared as written: nobody escapes a name of the protocol.
class Slices {
 public:
  explicit Slices(std::string_view object);

  // The raw value; empty when it is absent.
  std::string_view raw(std::string_view key) const;
  bool has(std::string_view key) const { return !raw(key).empty(); }
  // Empty when it is absent or no string.
  std::string text(std::string_view key) const;
  std::optional<std::string> text_if(std::string_view key) const;
  std::optional<std::int64_t> number_if(std::string_view key) const;
  bool is_true(std::string_view key) const { return raw(key) == "true"; }
  RawJson json(std::string_view key) const { return {std::string(raw(key))}; }
  // The elements of an array; none when it is something else.
  std::vector<std::string_view> elements(std::string_view key) const;

 private:
  using Member = std::pair<std::string_view, std::string_view>;

  std::array<Member, 16> first_;  // more than nearly every message has
  std::size_t count_ = 0;
  std::vector<Member> rest_;
};

// The elements of a raw array; none when it is something else.
std::vector<std::string_view> array_elements(std::string_view raw);

}  // namespace perdure::acp
