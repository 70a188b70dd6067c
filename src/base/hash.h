// SHA-256 and HMAC-SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

struct Hash {
  std::array<unsigned char, 32> bytes{};
  auto operator<=>(const Hash&) const = default;

  std::string hex() const;  // 64 lower-case digits
  void append_hex(std::string& out) const;
  static Result<Hash> parse_hex(std::string_view text);
};

Hash sha256(std::string_view bytes);
Hash hmac_sha256(std::string_view key, std::string_view message);

// Compares in time that does not depend on where the two differ.
bool equal_constant_time(const Hash& a, const Hash& b);

}  // namespace perdure
