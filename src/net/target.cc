#include "net/target.h"

#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "net/head.h"
#include "net/websocket/letters.h"

namespace perdure {
namespace {

std::unexpected<Refusal> refuse(std::string_view why) { return std::unexpected(Refusal{400, why}); }

bool has_encoded_slash(std::string_view raw) {
  for (std::size_t at = raw.find('%'); at != std::string_view::npos; at = raw.find('%', at + 1)) {
    const std::string_view escape = raw.substr(at, 3);
    if (equal_ignoring_case(escape, "%2f")) return true;
  }
  return false;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

bool has_control_char(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::optional<std::string> decode_parameter(std::string_view raw) {
  std::string spaced(raw);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

// False for an invalid escape or too many parameters.
bool parse_query(std::string_view rest, RequestTarget& out) {
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.empty()) continue;
    const std::size_t equals = std::min(item.find('='), item.size());
    auto name = decode_parameter(item.substr(0, equals));
    auto value = decode_parameter(item.substr(std::min(equals + 1, item.size())));
    if (!name || !value || out.query.size() == http_parameters_max) return false;
    out.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace

std::expected<RequestTarget, Refusal> parse_target(std::string_view target) {
  const auto visible = [](char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (target.empty() || !std::ranges::all_of(target, visible)) {
    return refuse("the target is malformed");
  }
  RequestTarget out;
  if (target.front() != '/') {
    const std::size_t scheme = target.find("://");
    const std::string_view name = target.substr(0, std::min(scheme, target.size()));
    if (!equal_ignoring_case(name, "http") && !equal_ignoring_case(name, "https")) {
      return refuse("the target is neither a path nor a URL");
    }
    target.remove_prefix(scheme + 3);
    out.authority = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(out.authority.size());
    if (out.authority.empty()) return refuse("the target is malformed");
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view raw = mark == 0 ? "/" : target.substr(0, mark);
  if (has_encoded_slash(raw)) return refuse("the path holds an encoded slash");
  auto path = percent_decode(raw);
  if (!path) return refuse("the path holds a broken escape");
  if (has_control_char(*path)) return refuse("the path holds a control character");
  if (has_dot_segment(*path)) return refuse("the path holds a dot segment");
  out.path = std::move(*path);
  if (!parse_query(target.substr(std::min(mark + 1, target.size())), out)) {
    return refuse("the query holds a broken escape, or too many parameters");
  }
  return out;
}

}  // namespace perdure
