#include "store/line_chain.h"

namespace perdure {
namespace {

constexpr std::size_t envelope_bytes = 512;  // within which `prev` stands

// The 64 digits behind `key`, which stands near the beginning.
std::optional<Hash> hash_behind(std::string_view record, std::string_view key) {
  const std::size_t at = record.substr(0, envelope_bytes).find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const Result<Hash> hash = Hash::parse_hex(record.substr(at + key.size()).substr(0, 64));
  return hash ? std::optional(*hash) : std::nullopt;
}

}  // namespace

LineChain::Link LineChain::add(std::string_view record) {
  const std::optional<Hash> prev = hash_behind(record, R"("prev":")");
  Link link = Link::silent;
  if (before_) link = prev == before_ ? Link::vouches : Link::broken;
  if (!before_ && prev && is_first_ && *prev != Hash{}) link = Link::broken;
  std::optional<Hash> replaced;
  if (record.substr(0, envelope_bytes).contains(R"("kind":"redacted")")) {
    replaced = hash_behind(record, R"("hash":")");
  }
  before_ = prev ? std::optional(replaced.value_or(sha256(record))) : std::nullopt;
  is_first_ = false;
  return link;
}

}  // namespace perdure
