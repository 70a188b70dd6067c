// Secrets that we hand out: 256 random bits as text, told apart by what stands in front. Only the
// SHA-256 of a text is ever kept; for random bits a fast hash is the right one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace perdure {

enum class SecretKind {
  token,   // an API token: perdure_<64 hex digits>
  launch,  // in the fragment of the address that `perdure open` prints
  ticket,  // opens one WebSocket
  cookie,  // of a browser, worth nothing without
  key,     // the key that its page keeps
};

using SecretBits = std::array<std::uint64_t, 4>;

std::string make_secret(SecretKind kind, const SecretBits& random);
// Whether the text has the form of such a secret, exactly.
bool is_secret(SecretKind kind, std::string_view text);

}  // namespace perdure
