#include "store/postgres/pg_hints.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace perdure {
namespace {

// The server rejects payloads of 8000 bytes or more.
constexpr std::size_t hint_bytes_max = 7'900;
constexpr std::size_t ulid_chars = 26;

}  // namespace

std::string pg_hint(std::uint64_t epoch, std::span<const SessionId> sessions) {
  std::string out = std::to_string(epoch) + ":";
  if (out.size() + sessions.size() * (ulid_chars + 1) > hint_bytes_max) return out;
  for (const SessionId session : sessions) {
    if (out.back() != ':') out += ',';
    session.ulid().append_to(out);
  }
  return out;
}

std::string pg_redaction_hint(std::uint64_t epoch, SessionId session) {
  return std::to_string(epoch) + "!" + session.ulid().text();
}

PgHint parse_pg_hint(std::string_view text) {
  PgHint out;
  const std::size_t colon = std::min(text.find_first_of(":!"), text.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, out.epoch);
  if (error != std::errc() || end != text.data() + colon || colon == text.size()) return {};
  out.is_redaction = text[colon] == '!';
  for (text.remove_prefix(colon + 1); !text.empty();) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const Result<Ulid> id = Ulid::parse(text.substr(0, comma));
    if (!id) return {.epoch = out.epoch, .sessions = {}};
    out.sessions.emplace_back(*id);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

}  // namespace perdure
