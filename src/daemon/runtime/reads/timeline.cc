#include "daemon/runtime/reads/timeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

using KindMark = std::pair<std::string_view, MarkKind>;

template <class Body>
constexpr KindMark marked(MarkKind mark) {
  return {Body::kind_text, mark};
}

constexpr std::array marked_kinds{
    marked<MessageUser>(MarkKind::prompt),
    marked<ContextBoundary>(MarkKind::boundary),
    marked<PermissionRequested>(MarkKind::permission),
    marked<ExecutorReattached>(MarkKind::restart),
    marked<SessionStopped>(MarkKind::stop),
    marked<RunFailed>(MarkKind::failure),
    marked<RunInterrupted>(MarkKind::failure),
    marked<ResumeFailed>(MarkKind::failure),
    marked<ExecutorError>(MarkKind::failure),
};

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace

std::optional<MarkKind> mark_of(std::string_view kind) {
  const auto found = std::ranges::find(marked_kinds, kind, &KindMark::first);
  if (found == marked_kinds.end()) return std::nullopt;
  return found->second;
}

Result<> Timeline::add(Seq seq, std::string_view bytes) {
  if (seq <= last_) return {};
  const RecordGlance glance = TRY(glance_at_record(bytes));
  last_ = seq;
  count(seq, glance.at);
  const std::optional<MarkKind> kind = mark_of(glance.kind);
  if (!kind) return {};
  if (marks_.size() < density_marks_max) {
    marks_.push_back({seq, glance.at, *kind});
  } else {
    marks_left_out_ += 1;
  }
  return {};
}

void Timeline::count(Seq seq, Timestamp at) {
  const std::int64_t number = floor_divide(at.ms, moment_ms_);
  if (!moments_.empty() && moments_.back().number == number) {
    moments_.back().records += 1;
    return;
  }
  if (moments_.size() == timeline_moments_max) {
    coarsen();
    return count(seq, at);
  }
  moments_.push_back({number, 1, seq});
}

// Doubles the length of moments until at least a quarter of the room is free.
void Timeline::coarsen() {
  while (moments_.size() > timeline_moments_max / 4 * 3) {
    moment_ms_ *= 2;
    std::vector<Moment> longer;
    for (const Moment& moment : moments_) {
      const std::int64_t number = floor_divide(moment.number, 2);
      if (!longer.empty() && longer.back().number == number) {
        longer.back().records += moment.records;
      } else {
        longer.push_back({number, moment.records, moment.first});
      }
    }
    // If the clock jumps back and forth, longer moments do not merge: merge the oldest pairs.
    if (longer.size() == moments_.size()) {
      std::vector<Moment> pairs;
      for (std::size_t i = 0; i < longer.size(); i += 2) {
        pairs.push_back(longer[i]);
        if (i + 1 < longer.size()) pairs.back().records += longer[i + 1].records;
      }
      longer = std::move(pairs);
    }
    moments_ = std::move(longer);
  }
}

std::vector<Timeline::Bucket> Timeline::density(Span span, std::size_t buckets) const {
  span.end.ms = std::max(span.end.ms, span.begin.ms);
  std::vector<Bucket> out(std::clamp<std::size_t>(buckets, 1, density_buckets_max));
  const auto count = static_cast<std::int64_t>(out.size());
  for (std::int64_t i = 0; i < count; ++i) {
    out[static_cast<std::size_t>(i)].from = {span.begin.ms +
                                             (span.end.ms - span.begin.ms) / count * i};
  }
  for (const Moment& moment : moments_) {
    const Timestamp at{moment.number * moment_ms_};
    const auto next = std::ranges::upper_bound(out, at, {}, &Bucket::from);
    Bucket& bucket = next == out.begin() ? *next : *std::prev(next);
    bucket.records += moment.records;
    if (bucket.first_seq == 0) bucket.first_seq = moment.first;
    bucket.last_seq = moment.first + moment.records - 1;
  }
  return out;
}

}  // namespace perdure
