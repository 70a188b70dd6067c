// A look into JSON that was validated: members and elements by name and place, nothing copied. What
// is absent or of another type reads as empty, so that an answer of another version can be shown.
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
  // Any bytes: nothing when they are no JSON.
  static std::optional<JsonView> read(std::string_view text);

  // The member; absent when there is none, or when this is no object.
  JsonView operator[](std::string_view key) const;
  // The elements; none when this is no array.
  std::vector<JsonView> items() const;

  bool is_there() const { return !raw_.empty() && raw_ != "null"; }
  bool is_object() const { return raw_.starts_with('{'); }
  bool is_array() const { return raw_.starts_with('['); }
  bool is_string() const { return raw_.starts_with('"'); }

  std::string text() const;            // of a string; else empty
  std::uint64_t number() const;        // 0 for everything but a whole number
  std::int64_t signed_number() const;  // the same
  bool flag() const { return raw_ == "true"; }
  std::string_view raw() const { return raw_; }

 private:
  std::string_view raw_;
};

}  // namespace perdure
