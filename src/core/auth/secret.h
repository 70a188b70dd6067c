// Secrets that we issue: 256 random bits as text, distinguished by prefix. Only the SHA-256 of a
// text is stored; for random bits a fast hash is appropriate.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"

namespace perdure {

enum class SecretKind {
  token,   // an API token: perdure_<64 hex digits>
  launch,  // in the fragment of the URL that `perdure open` prints
  ticket,  // opens one WebSocket
  cookie,  // of a browser, useless without `key`
  key,     // stored by the browser's page
};

using SecretBits = std::array<std::uint64_t, 4>;

std::string make_secret(SecretKind kind, const SecretBits& random);
// Whether the text has exactly the form of such a secret.
bool is_secret(SecretKind kind, std::string_view text);

}  // namespace perdure
