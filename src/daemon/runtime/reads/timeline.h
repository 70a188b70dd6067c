// A session over time: the number of records per moment, and the places that people look for. Grows
// with the journal; histograms of any resolution are made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/session/machine.h"
#include "daemon/runtime/reads/journal_scan.h"

namespace perdure {

enum class MarkKind { prompt, boundary, failure, permission, restart, stop };
ENUM_TEXT(MarkKind, "prompt", "boundary", "failure", "permission", "restart", "stop");

// Absent if the record is not such a place.
std::optional<MarkKind> mark_of(std::string_view kind);

class Timeline final : public JournalFold {
 public:
  // A record that was already added changes nothing, so that two scans may feed it.
  Result<> add(Seq seq, std::string_view bytes) override;
  Seq last() const { return last_; }

  struct Mark {
    Seq seq = 0;
    Timestamp at;
    MarkKind kind = MarkKind::prompt;
  };
  // At most density_marks_max; later ones are omitted, but counted.
  const std::vector<Mark>& marks() const { return marks_; }
  std::uint64_t marks_left_out() const { return marks_left_out_; }

  struct Span {
    Timestamp begin;
    Timestamp end;
  };
  struct Bucket {
    Timestamp from;
    std::uint64_t records = 0;
    Seq first_seq = 0;  // 0: no record falls into it
    Seq last_seq = 0;
  };
  // Clocks jump: records outside the span count at its ends.
  std::vector<Bucket> density(Span span, std::size_t buckets) const;

 private:
  // Consecutive records written at the same moment.
  struct Moment {
    std::int64_t number = 0;  // of milliseconds, in units of moment_ms_
    std::uint32_t records = 0;
    Seq first = 0;
  };
  void count(Seq seq, Timestamp at);
  void coarsen();

  Seq last_ = 0;
  std::int64_t moment_ms_ = 100;
  std::vector<Moment> moments_;
  std::vector<Mark> marks_;
  std::uint64_t marks_left_out_ = 0;
};

}  // namespace perdure
