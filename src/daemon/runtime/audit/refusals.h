// Bounds what refusals add to the audit trail: a million refusals of one stranger cause a few dozen
// entries, and every refusal is counted. Pure: the caller passes the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/runtime/audit/audit_entry.h"

namespace perdure {

// How long equal refusals are counted before the next entry; the window grows while they continue.
inline constexpr std::int64_t refusal_window_ms = 60'000;
inline constexpr std::int64_t refusal_window_max_ms = 3600'000;
// Different refusals counted at the same time. Further ones are counted together.
inline constexpr std::size_t refusals_counted_max = 64;
// Entries about refusals: this many at once, then one per period.
inline constexpr std::int64_t refusal_entries_burst = 64;
inline constexpr std::int64_t refusal_entry_ms = 60'000;
// How often all others are reported together, in one entry.
inline constexpr std::int64_t refusal_others_ms = 600'000;
// Distinct sources counted among the others.
inline constexpr std::size_t refusal_sources_max = 1024;

class Refusals {
 public:
  // What an entry about many others says.
  explicit Refusals(std::string others_what) : others_what_(std::move(others_what)) {}

  // The entry to be written now; nothing when it is only counted.
  std::optional<AuditEntry> note(AuditEntry entry, BootTime now);
  // The entries now due for counted refusals.
  std::vector<AuditEntry> due(BootTime now);
  // When due() will next return entries; absent while nothing is counted.
  std::optional<BootTime> next_due() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, RouteClass>;
  static Key key_of(const AuditEntry& entry);
  struct Window {
    AuditEntry entry;
    std::uint64_t more = 0;  // since the last entry about it
    std::int64_t length_ms = refusal_window_ms;
    BootTime end;
  };
  // The entry about the refusals counted in the window; absent: the window is over.
  std::optional<AuditEntry> close(Window& window, BootTime now);
  bool spend(BootTime now);
  void count_among_others(const AuditEntry& entry, std::uint64_t count, BootTime now);

  std::string others_what_;
  std::map<Key, Window> windows_;
  std::int64_t debt_ms_ = 0;  // of entries: each adds refusal_entry_ms; decreases with time
  BootTime debt_at_;
  std::uint64_t others_ = 0;
  std::set<std::string> other_sources_;
  BootTime others_end_;
};

}  // namespace perdure
