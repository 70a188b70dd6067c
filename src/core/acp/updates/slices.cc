#include "core/acp/updates/slices.h"

#include <algorithm>
#include <ranges>

namespace perdure::acp {

Slices::Slices(std::string_view object) {
  for (JsonWalk walk(object); walk.next();) {
    const std::string_view key = walk.quoted_key();
    const Member member(key.substr(1, key.size() - 2), walk.value());
    if (count_ < first_.size()) {
      first_[count_++] = member;
    } else {
      rest_.push_back(member);
    }
  }
}

std::string_view Slices::raw(std::string_view key) const {
  const auto value_of = [](const Member& member) {
    return json_is_null(member.second) ? std::string_view() : member.second;
  };
  for (const Member& member : rest_ | std::views::reverse) {
    if (member.first == key) return value_of(member);
  }
  for (std::size_t i = count_; i > 0; --i) {
    if (first_[i - 1].first == key) return value_of(first_[i - 1]);
  }
  return {};
}

std::string Slices::text(std::string_view key) const {
  return json_string(raw(key)).value_or(std::string());
}

std::optional<std::string> Slices::text_if(std::string_view key) const {
  const std::string_view value = raw(key);
  if (!value.starts_with('"')) return std::nullopt;
  return json_string(value).value_or(std::string());
}

std::optional<std::int64_t> Slices::number_if(std::string_view key) const {
  const auto value = json_int(raw(key));
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<std::string_view> Slices::elements(std::string_view key) const {
  return array_elements(raw(key));
}

std::vector<std::string_view> array_elements(std::string_view raw) {
  return json_elements(raw).value_or(std::vector<std::string_view>());
}

}  // namespace perdure::acp
