#include "base/json/json_view.h"

#include "base/json/json.h"

namespace perdure {

std::optional<JsonView> JsonView::read(std::string_view text) {
  if (!json_validate(text)) return std::nullopt;
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n' || text.front() == '\t' ||
                           text.front() == '\r')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t' ||
                           text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return JsonView(text);
}

JsonView JsonView::operator[](std::string_view key) const {
  if (!is_object()) return {};
  for (JsonWalk walk(raw_); walk.next();) {
    const std::string_view quoted = walk.quoted_key();
    if (quoted.size() == key.size() + 2 && quoted.substr(1, key.size()) == key) {
      return JsonView(walk.value());
    }
  }
  return {};
}

std::vector<JsonView> JsonView::items() const {
  std::vector<JsonView> out;
  if (!is_array()) return out;
  const auto elements = json_elements(raw_);
  if (!elements) return out;
  out.reserve(elements->size());
  for (const std::string_view element : *elements) out.emplace_back(element);
  return out;
}

std::string JsonView::text() const {
  if (!is_string()) return {};
  return json_string(raw_).value_or("");
}

std::uint64_t JsonView::number() const { return is_there() ? json_uint(raw_).value_or(0) : 0; }

std::int64_t JsonView::signed_number() const { return is_there() ? json_int(raw_).value_or(0) : 0; }

}  // namespace perdure
