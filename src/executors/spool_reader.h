// Reads the spool that an agentctl left behind: what it could not send before it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/folder.h"
#include "wire/frame.h"
#include "wire/spool.h"

namespace perdure {

// Gives the frames behind `after` in order and without gap, one at a time, so that a reader takes
// as many as it can bear. The agentctl must be dead; the folder, which is not changed, outlives it.
class SpoolReader {
 public:
  static Result<SpoolReader> create(Folder& folder, FrameNo after);

  // The next whole frame, valid until the next call; none behind the last one. damaged: a frame is
  // missing between two others.
  Result<std::optional<SpoolEntry>> next();
  // Bytes behind the last frame that are no whole one: a write that was cut.
  std::uint64_t torn_bytes() const { return torn_bytes_; }

 private:
  SpoolReader(Folder& folder, FrameNo after) : folder_(&folder), next_(after + 1) {}
  // The next entry of the segment, whatever its number; none at its end.
  Result<std::optional<SpoolEntry>> next_in_segment();
  Result<bool> open_segment();

  Folder* folder_;
  FrameNo next_;                   // to give
  std::vector<FrameNo> segments_;  // still to read, the last one first
  std::string name_;               // of the segment that is read; empty: none
  std::uint64_t piece_at_ = 0;     // where the piece starts in it
  std::string piece_;
  std::size_t in_piece_ = 0;
  std::uint64_t torn_bytes_ = 0;
};

}  // namespace perdure
