#include "store/line_chain.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr std::size_t envelope_bytes = 512;  // `prev` lies within these

bool skip(std::string_view& rest, std::string_view part) {
  if (!rest.starts_with(part)) return false;
  rest.remove_prefix(part.size());
  return true;
}

// Parses the 64 digits at the beginning.
std::optional<Hash> take_hash(std::string_view& rest) {
  const Result<Hash> hash = Hash::parse_hex(rest.substr(0, 64));
  if (!hash) return std::nullopt;
  rest.remove_prefix(64);
  return *hash;
}

// `prev` in the envelope, which precedes everything that an agent wrote. Records of format 0 have
// none.
std::optional<Hash> prev_of(std::string_view record) {
  constexpr std::string_view key = R"("prev":")";
  if (!record.starts_with(R"({"v":)")) return std::nullopt;
  const std::size_t at = record.substr(0, envelope_bytes).find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = record.substr(at + key.size());
  return take_hash(rest);
}

// The hash of the record that a tombstone replaced. A tombstone has only its envelope, that hash
// and, in format 2, the kept part: an agent's members of the same names do not make one.
std::optional<Hash> replaced_by(std::string_view record) {
  if (!skip(record, "{")) return std::nullopt;
  const bool keeps = skip(record, R"("v":2,)");
  if (!keeps && record.size() > envelope_bytes) return std::nullopt;
  (void)(keeps || skip(record, R"("v":1,)"));
  if (!skip(record, R"("seq":)")) return std::nullopt;
  record.remove_prefix(std::min(record.find_first_not_of("0123456789"), record.size()));
  if (!skip(record, R"(,"ts":")")) return std::nullopt;
  record.remove_prefix(std::min(record.find('"'), record.size()));
  if (!skip(record, R"(","kind":"redacted",)")) return std::nullopt;
  if (skip(record, R"("prev":")") && (!take_hash(record) || !skip(record, R"(",)"))) {
    return std::nullopt;
  }
  if (!skip(record, R"("hash":")")) return std::nullopt;
  const std::optional<Hash> hash = take_hash(record);
  const bool ends =
      keeps ? record.starts_with(R"(","kept":{)") && record.ends_with("}}") : record == R"("})";
  return ends ? hash : std::nullopt;
}

}  // namespace

LineChain::Link LineChain::add(std::string_view record) {
  const std::optional<Hash> prev = prev_of(record);
  Link link = Link::silent;
  if (before_) link = prev == before_ ? Link::vouches : Link::broken;
  if (!before_ && prev && is_first_ && *prev != Hash{}) link = Link::broken;
  before_.reset();
  if (prev) {
    const std::optional<Hash> replaced = replaced_by(record);
    before_ = replaced ? *replaced : sha256(record);
  }
  is_first_ = false;
  return link;
}

}  // namespace perdure
