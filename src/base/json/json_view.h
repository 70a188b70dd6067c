// A read-only view of validated JSON: members by name and elements in order, without copying.
// Anything absent or of another type reads as empty, so that answers of other versions can be
// shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

class JsonView {
 public:
  JsonView() = default;
  // The text is valid JSON and outlives the view.
  explicit JsonView(std::string_view raw) : raw_(raw) {}
  // Any bytes: absent if they are not JSON.
  static std::optional<JsonView> read(std::string_view text);

  // The member; absent if there is none, or if this is not an object.
  JsonView operator[](std::string_view key) const;
  // The elements; empty if this is not an array.
  std::vector<JsonView> items() const;

  bool is_there() const { return !raw_.empty() && raw_ != "null"; }
  bool is_object() const { return raw_.starts_with('{'); }
  bool is_array() const { return raw_.starts_with('['); }
  bool is_string() const { return raw_.starts_with('"'); }

  std::string text() const;            // of a string; otherwise empty
  std::uint64_t number() const;        // 0 for anything but a whole number
  std::int64_t signed_number() const;  // the same
  bool flag() const { return raw_ == "true"; }
  std::string_view raw() const { return raw_; }

 private:
  std::string_view raw_;
};

}  // namespace perdure
