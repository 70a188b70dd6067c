// What scan_journal() computes from a whole journal: its size, its transcript and history, and
// whether it refers to a blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/views/history.h"
#include "core/views/transcript.h"
#include "daemon/runtime/reads/journal_scan.h"

namespace perdure {

// Measures what a deletion would remove.
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

// Whether any record of the session refers to the blob.
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

// The whole transcript and history. Beyond whole_text_bytes_max the scan ends with limit_reached:
// such sessions are read in pages.
class TextFold final : public JournalFold {
 public:
  Result<> add(Seq seq, std::string_view bytes) override;
  const std::vector<TranscriptMessage>& messages() const { return transcript_.messages(); }
  const std::vector<QuestionAnswer>& answers() const { return answers_; }

 private:
  TranscriptFolder transcript_;
  std::vector<QuestionAnswer> answers_;
  std::size_t bytes_ = 0;
};

}  // namespace perdure
