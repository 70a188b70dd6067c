// What is made of a whole journal by scan_journal(): its density over time, the state it had at a
// record, its size, its transcript and history, and whether it holds a blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runtime/journal_scan.h"
#include "session/history.h"
#include "session/machine.h"
#include "session/transcript.h"

namespace perdure {

// A place in the journal that a person looks for.
enum class MarkKind { prompt, boundary, failure, permission, restart, stop };
ENUM_TEXT(MarkKind, "prompt", "boundary", "failure", "permission", "restart", "stop");

// Nothing for a record that is no such place.
std::optional<MarkKind> mark_of(const Event& event);

// The histogram under a session's timeline: how many records fell into each piece of its time.
class DensityFold final : public JournalFold {
 public:
  struct Span {
    Timestamp begin;
    Timestamp end;
  };
  DensityFold(Span span, std::size_t buckets);
  Result<> add(Seq seq, std::string_view bytes) override;

  struct Bucket {
    Timestamp from;
    std::uint64_t records = 0;
    Seq first_seq = 0;  // 0: none fell into it
    Seq last_seq = 0;
  };
  struct Mark {
    Seq seq = 0;
    Timestamp at;
    MarkKind kind = MarkKind::prompt;
  };
  const std::vector<Bucket>& buckets() const { return buckets_; }
  // At most density_marks_max; of more the last ones are left out, and counted.
  const std::vector<Mark>& marks() const { return marks_; }
  std::uint64_t marks_left_out() const { return marks_left_out_; }

 private:
  Span span_;
  std::vector<Bucket> buckets_;
  std::vector<Mark> marks_;
  std::uint64_t marks_left_out_ = 0;
};

// The state as it was behind the last record given.
class StateFold final : public JournalFold {
 public:
  Result<> add(Seq seq, std::string_view bytes) override;
  const State& state() const { return state_; }

 private:
  State state_;
};

// What a deletion would take.
class SizeFold final : public JournalFold {
 public:
  Result<> add(Seq seq, std::string_view bytes) override;
  std::uint64_t bytes() const { return bytes_; }
  std::size_t blobs() const { return blobs_.size(); }
  std::uint64_t blob_bytes() const { return blob_bytes_; }

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t blob_bytes_ = 0;
  std::set<std::string> blobs_;
};

// Whether some record of the session refers to the blob.
class BlobFold final : public JournalFold {
 public:
  explicit BlobFold(const Hash& hash) : wanted_("\"blob\":\"" + hash.hex() + "\"") {}
  Result<> add(Seq seq, std::string_view bytes) override;
  bool wants_more() const override { return !found_; }
  bool found() const { return found_; }

 private:
  std::string wanted_;
  bool found_ = false;
};

// The whole transcript and history. Past whole_text_bytes_max the scan ends with limit_reached:
// pages are for such sessions.
class TextFold final : public JournalFold {
 public:
  Result<> add(Seq seq, std::string_view bytes) override;
  const std::vector<TranscriptMessage>& messages() const { return transcript_.messages(); }

 private:
  TranscriptFolder transcript_;
  std::size_t bytes_ = 0;
};

}  // namespace perdure
