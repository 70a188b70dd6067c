// A header line with the version and the SHA-256 of the rest, then the state as JSON.
#include "core/wire/journal/snapshot.h"

#include "base/bytes/hash.h"
#include "base/json/fields_json.h"

namespace perdure {
namespace {

constexpr std::string_view magic = "perdure-snapshot ";

std::string heading(std::string_view body) {
  return std::string(magic) + std::to_string(snapshot_version) + " " + sha256(body).hex() + "\n";
}

}  // namespace

std::string encode_snapshot(const State& state) {
  const std::string body = encode_fields(state);
  return heading(body) + body;
}

Result<State> decode_snapshot(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(magic) || line == std::string_view::npos) {
    return fail(Code::damaged, "this is not a snapshot");
  }
  const std::string_view body = bytes.substr(line + 1);
  const std::string_view version =
      bytes.substr(magic.size(), bytes.find(' ', magic.size()) - magic.size());
  if (version != std::to_string(snapshot_version)) {
    return fail(Code::format_too_new, "the snapshot has another version");
  }
  if (bytes.substr(0, line + 1) != heading(body)) {
    return fail(Code::damaged, "the snapshot's checksum is wrong");
  }
  auto decoded = decode_fields<State>(body);
  if (!decoded) return fail(Code::damaged, "snapshot: " + decoded.error().message());
  if (!decoded->unknown.text.empty())
    return fail(Code::damaged, "the snapshot has unknown members");
  return std::move(decoded->value);
}

}  // namespace perdure
