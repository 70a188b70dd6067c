#include "core/auth/address.h"

#include <charconv>
#include <vector>

namespace perdure {
namespace {

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint32_t> number(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> loose_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    return text.size() == 2 ? std::optional<std::uint32_t>(0) : number(text.substr(2), 16);
  }
  return number(text, text.size() > 1 && text.starts_with('0') ? 8 : 10);
}

// The groups on one side of "::", 16 bits each; the last may be an IPv4 address.
std::optional<std::vector<std::uint16_t>> groups_of(std::string_view text) {
  std::vector<std::uint16_t> groups;
  if (text.empty()) return groups;
  const std::vector<std::string_view> parts = split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 == parts.size() && parts[i].contains('.')) {
      const auto v4 = parse_ipv4(parts[i]);
      if (!v4) return std::nullopt;
      groups.push_back(static_cast<std::uint16_t>((*v4)[0] << 8 | (*v4)[1]));
      groups.push_back(static_cast<std::uint16_t>((*v4)[2] << 8 | (*v4)[3]));
      continue;
    }
    const auto group = parts[i].size() <= 4 ? number(parts[i], 16) : std::nullopt;
    if (!group) return std::nullopt;
    groups.push_back(static_cast<std::uint16_t>(*group));
  }
  return groups;
}

std::uint16_t group_at(const Ipv6& address, std::size_t index) {
  return static_cast<std::uint16_t>(address[2 * index] << 8 | address[2 * index + 1]);
}

struct Run {
  std::size_t first = 8;
  std::size_t length = 0;
};

// The first of the longest runs of zero groups; a single group is not a run.
Run zero_run(const Ipv6& address) {
  Run best;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && group_at(address, end) == 0) ++end;
    if (end - i > best.length && end - i > 1) best = {i, end - i};
  }
  return best;
}

}  // namespace

std::optional<Ipv4> parse_ipv4(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  Ipv4 out{};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool has_zero_in_front = parts[i].size() > 1 && parts[i].starts_with('0');
    const auto value =
        parts[i].size() > 3 || has_zero_in_front ? std::nullopt : number(parts[i], 10);
    if (!value || *value > 255) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(*value);
  }
  return out;
}

std::optional<Ipv4> parse_ipv4_loose(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() > 4) return std::nullopt;
  std::uint32_t whole = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = loose_number(parts[i]);
    if (!value) return std::nullopt;
    if (i + 1 < parts.size()) {
      if (*value > 255) return std::nullopt;
      whole |= *value << (24 - 8 * i);
    } else {
      if (i > 0 && *value >= (std::uint64_t{1} << (32 - 8 * i))) return std::nullopt;
      whole |= *value;
    }
  }
  return Ipv4{static_cast<std::uint8_t>(whole >> 24), static_cast<std::uint8_t>(whole >> 16),
              static_cast<std::uint8_t>(whole >> 8), static_cast<std::uint8_t>(whole)};
}

std::optional<Ipv6> parse_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const auto front = groups_of(text.substr(0, gap));
  const auto back = gap == std::string_view::npos ? std::vector<std::uint16_t>()
                                                  : groups_of(text.substr(gap + 2));
  if (!front || !back || (gap != std::string_view::npos && text.substr(0, gap).contains('.'))) {
    return std::nullopt;
  }
  const std::size_t given = front->size() + back->size();
  if (gap == std::string_view::npos ? given != 8 : given > 7) return std::nullopt;
  Ipv6 out{};
  const auto put = [&](std::size_t index, std::uint16_t group) {
    out[2 * index] = static_cast<std::uint8_t>(group >> 8);
    out[2 * index + 1] = static_cast<std::uint8_t>(group);
  };
  for (std::size_t i = 0; i < front->size(); ++i) put(i, (*front)[i]);
  for (std::size_t i = 0; i < back->size(); ++i) put(8 - back->size() + i, (*back)[i]);
  return out;
}

std::string format_ipv4(const Ipv4& address) {
  std::string out;
  for (const std::uint8_t byte : address) {
    if (!out.empty()) out += '.';
    out += std::to_string(byte);
  }
  return out;
}

std::string format_ipv6(const Ipv6& address) {
  const Run zeros = zero_run(address);
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zeros.first) {
      out += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!out.empty() && !out.ends_with(':')) out += ':';
    char digits[4];
    const auto end = std::to_chars(digits, digits + 4, group_at(address, i), 16).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
  }
  return out;
}

std::optional<Ipv4> mapped_ipv4(const Ipv6& address) {
  for (std::size_t i = 0; i < 12; ++i) {
    if (address[i] != (i < 10 ? 0 : 0xff)) return std::nullopt;
  }
  return Ipv4{address[12], address[13], address[14], address[15]};
}

}  // namespace perdure
