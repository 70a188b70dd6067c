#include "daemon/runtime/audit/refusals.h"

#include <algorithm>
#include <utility>

namespace perdure {

bool Refusals::spend(BootTime now) {
  debt_ms_ = std::max<std::int64_t>(0, debt_ms_ - std::max<std::int64_t>(0, now.ms - debt_at_.ms));
  debt_at_ = now;
  if (debt_ms_ > (refusal_entries_burst - 1) * refusal_entry_ms) return false;
  debt_ms_ += refusal_entry_ms;
  return true;
}

void Refusals::count_among_others(const AuditEntry& entry, std::uint64_t count, BootTime now) {
  if (others_ == 0) others_end_ = BootTime{now.ms + refusal_others_ms};
  others_ += count;
  if (other_sources_.size() < refusal_sources_max) other_sources_.insert(entry.from);
}

Refusals::Key Refusals::key_of(const AuditEntry& entry) {
  return {entry.what, entry.by, entry.from, entry.outcome, entry.route};
}

std::optional<AuditEntry> Refusals::note(AuditEntry entry, BootTime now) {
  const auto at = windows_.find(key_of(entry));
  if (at != windows_.end()) {
    at->second.more += 1;
    return std::nullopt;
  }
  if (windows_.size() >= refusals_counted_max || !spend(now)) {
    count_among_others(entry, 1, now);
    return std::nullopt;
  }
  windows_.emplace(key_of(entry),
                   Window{.entry = entry, .end = BootTime{now.ms + refusal_window_ms}});
  return entry;
}

std::optional<AuditEntry> Refusals::close(Window& window, BootTime now) {
  if (window.more == 0) return std::nullopt;
  if (!spend(now)) {
    count_among_others(window.entry, window.more, now);
    return std::nullopt;
  }
  AuditEntry entry = window.entry;
  entry.count = std::exchange(window.more, 0);
  entry.text = "and again within " + std::to_string(window.length_ms / 60'000) + " min";
  window.length_ms = std::min(2 * window.length_ms, refusal_window_max_ms);
  window.end = BootTime{now.ms + window.length_ms};
  return entry;
}

std::vector<AuditEntry> Refusals::due(BootTime now) {
  std::vector<AuditEntry> out;
  for (auto at = windows_.begin(); at != windows_.end();) {
    if (at->second.end > now) {
      ++at;
      continue;
    }
    std::optional<AuditEntry> entry = close(at->second, now);
    if (entry) {
      out.push_back(std::move(*entry));
      ++at;
    } else {
      at = windows_.erase(at);
    }
  }
  if (others_ > 0 && others_end_ <= now) {
    const bool is_more = other_sources_.size() >= refusal_sources_max;
    out.push_back({.what = others_what_,
                   .outcome = "many",
                   .text = "further refusals from " + std::string(is_more ? "at least " : "") +
                           std::to_string(other_sources_.size()) + " sources",
                   .count = std::exchange(others_, 0)});
    other_sources_.clear();
  }
  return out;
}

std::optional<BootTime> Refusals::next_due() const {
  std::optional<BootTime> next;
  for (const auto& [key, window] : windows_) {
    if (!next || window.end < *next) next = window.end;
  }
  if (others_ > 0 && (!next || others_end_ < *next)) next = others_end_;
  return next;
}

}  // namespace perdure
