#include "core/auth/one_time.h"

#include <algorithm>

namespace perdure {

bool OneTimeSecrets::is_valid(const Entry& entry, const Hash& secret, BootTime now) const {
  return equal_constant_time(entry.secret, secret) && now.ms < entry.made.ms + limits_.granted_ms;
}

void OneTimeSecrets::add(const Hash& secret, Principal principal, BootTime now) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return now.ms >= entry.made.ms + limits_.granted_ms; });
  if (entries_.size() >= limits_.count_max) entries_.pop_front();
  entries_.push_back({secret, std::move(principal), now});
}

std::optional<Principal> OneTimeSecrets::look(const Hash& secret, BootTime now) const {
  for (const Entry& entry : entries_) {
    if (is_valid(entry, secret, now)) return entry.principal;
  }
  return std::nullopt;
}

std::optional<Principal> OneTimeSecrets::take(const Hash& secret, BootTime now) {
  const auto at = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return is_valid(entry, secret, now); });
  if (at == entries_.end()) return std::nullopt;
  Principal principal = std::move(at->principal);
  entries_.erase(at);
  return principal;
}

}  // namespace perdure
