// Secrets that can be used once within a short time, in memory only: launch tokens and WebSocket
// tickets. Taking one removes it, so a second caller with the same one is rejected (TOK1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/bytes/hash.h"
#include "base/time.h"
#include "core/auth/principal.h"

namespace perdure {

class OneTimeSecrets {
 public:
  struct Limits {
    std::int64_t granted_ms = 0;
    std::size_t count_max = 0;  // one more: the oldest is forgotten
  };
  explicit OneTimeSecrets(Limits limits) : limits_(limits) {}

  // `principal` is the identity that it represents.
  void add(const Hash& secret, Principal principal, BootTime now);
  // The principal of a secret; absent if it is unknown, used or expired.
  std::optional<Principal> look(const Hash& secret, BootTime now) const;
  std::optional<Principal> take(const Hash& secret, BootTime now);

 private:
  struct Entry {
    Hash secret;
    Principal principal;
    BootTime made;
  };
  bool is_valid(const Entry& entry, const Hash& secret, BootTime now) const;

  Limits limits_;
  std::deque<Entry> entries_;  // oldest first
};

}  // namespace perdure
