// SHA-256 and HMAC-SHA-256, using OpenSSL.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
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

// SHA-256 of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void add(std::string_view bytes);
  Hash take();  // of everything added; call once, at the end

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Hash hmac_sha256(std::string_view key, std::string_view message);

// Compares in a time that does not depend on where the two differ.
bool equal_constant_time(const Hash& a, const Hash& b);

}  // namespace perdure
