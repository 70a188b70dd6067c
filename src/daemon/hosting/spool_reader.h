// Reads the spool that an agentctl left behind: the frames that it could not send before it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/wire/agentctl/frame.h"
#include "core/wire/agentctl/spool.h"
#include "env/folder.h"

namespace perdure {

// Returns the frames after `after`, in order and without gaps, one at a time, at the reader's pace.
// The agentctl must be dead. The folder is not changed and must outlive this.
class SpoolReader {
 public:
  static Result<SpoolReader> create(Folder& folder, FrameNo after);

  // The next whole frame, valid until the next call; nullopt after the last one. damaged: a frame
  // is missing between two others.
  Result<std::optional<SpoolEntry>> next();
  // Bytes after the last frame that are not a whole one: a write that was cut.
  std::uint64_t torn_bytes() const { return torn_bytes_; }

 private:
  SpoolReader(Folder& folder, FrameNo after) : folder_(&folder), next_(after + 1) {}
  // The next entry of the segment, with any number; nullopt at its end.
  Result<std::optional<SpoolEntry>> next_in_segment();
  Result<bool> open_segment();

  Folder* folder_;
  FrameNo next_;                   // the next frame to return
  std::vector<FrameNo> segments_;  // still to read, the last one first
  std::string name_;               // the current segment's name; empty: none
  std::uint64_t piece_at_ = 0;     // where the piece starts in it
  std::string piece_;
  std::size_t in_piece_ = 0;
  std::uint64_t torn_bytes_ = 0;
};

}  // namespace perdure
