// Bounds what refusals put into the audit trail: a stranger who is refused a million times causes
// some dozens of entries, and none of the refusals goes uncounted. Pure: time comes in.
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
#include "runtime/audit_entry.h"

namespace perdure {

// Equal refusals are counted for this long before the next entry; longer each time they go on.
inline constexpr std::int64_t refusal_window_ms = 60'000;
inline constexpr std::int64_t refusal_window_max_ms = 3600'000;
// Different refusals that are counted at the same time. Further ones are counted together.
inline constexpr std::size_t refusals_counted_max = 64;
// Entries about refusals: so many at once, then one for each such period.
inline constexpr std::int64_t refusal_entries_burst = 64;
inline constexpr std::int64_t refusal_entry_ms = 60'000;
// How often all others are reported together, in one entry.
inline constexpr std::int64_t refusal_others_ms = 600'000;
// Distinct sources that are counted among the others.
inline constexpr std::size_t refusal_sources_max = 1024;

class Refusals {
 public:
  // What an entry about many others says.
  explicit Refusals(std::string others_what) : others_what_(std::move(others_what)) {}

  // The entry to be written now; nothing when it is only counted.
  std::optional<AuditEntry> note(AuditEntry entry, BootTime now);
  // The entries for what was counted and whose time has come.
  std::vector<AuditEntry> due(BootTime now);
  // When due() has something next; nothing while nothing is counted.
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
  // The entry about what was counted in it; nothing: the window is over.
  std::optional<AuditEntry> close(Window& window, BootTime now);
  bool spend(BootTime now);
  void count_among_others(const AuditEntry& entry, std::uint64_t count, BootTime now);

  std::string others_what_;
  std::map<Key, Window> windows_;
  std::int64_t debt_ms_ = 0;  // of entries written: each adds refusal_entry_ms, time takes it away
  BootTime debt_at_;
  std::uint64_t others_ = 0;
  std::set<std::string> other_sources_;
  BootTime others_end_;
};

}  // namespace perdure
