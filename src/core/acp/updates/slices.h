// The members of one JSON object as raw slices, found by key: one pass, no copies, no failures.
// Only for text that is known to be valid JSON and outlives it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"

namespace perdure::acp {

// A value that is not an object has no members. A null member counts as absent, the last of
// repeated keys counts, and keys are compared as written: names of the protocol are never escaped.
class Slices {
 public:
  explicit Slices(std::string_view object);

  // The raw value; empty if absent.
  std::string_view raw(std::string_view key) const;
  bool has(std::string_view key) const { return !raw(key).empty(); }
  // Empty if absent or not a string.
  std::string text(std::string_view key) const;
  std::optional<std::string> text_if(std::string_view key) const;
  std::optional<std::int64_t> number_if(std::string_view key) const;
  bool is_true(std::string_view key) const { return raw(key) == "true"; }
  RawJson json(std::string_view key) const { return {std::string(raw(key))}; }
  // The elements of an array; empty for anything else.
  std::vector<std::string_view> elements(std::string_view key) const;

 private:
  using Member = std::pair<std::string_view, std::string_view>;

  std::array<Member, 16> first_;  // more than nearly every message has
  std::size_t count_ = 0;
  std::vector<Member> rest_;
};

// The elements of a raw array; empty for anything else.
std::vector<std::string_view> array_elements(std::string_view raw);

}  // namespace perdure::acp
