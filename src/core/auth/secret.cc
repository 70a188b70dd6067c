#include "core/auth/secret.h"

#include <algorithm>

#include "base/check.h"

namespace perdure {
namespace {

constexpr std::size_t digits_count = 64;

std::string_view prefix_of(SecretKind kind) {
  switch (kind) {
    case SecretKind::token: return "perdure_";
    case SecretKind::launch: return "perdure_launch_";
    case SecretKind::ticket: return "perdure_ticket_";
    case SecretKind::cookie: return "perdure_cookie_";
    case SecretKind::key: return "perdure_key_";
  }
  CHECK(false, "unknown kind of secret");
}

}  // namespace

std::string make_secret(SecretKind kind, const SecretBits& random) {
  std::string out(prefix_of(kind));
  for (const std::uint64_t word : random) {
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15U];
  }
  return out;
}

bool is_secret(SecretKind kind, std::string_view text) {
  const std::string_view prefix = prefix_of(kind);
  if (!text.starts_with(prefix)) return false;
  const std::string_view digits = text.substr(prefix.size());
  return digits.size() == digits_count && std::ranges::all_of(digits, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace perdure
