// The spool: every frame is written here first, numbered from 1, and stays until the daemon acks
// it, which means that its journal has it. Frames are written to the kernel without fsync: the
// spool must survive every process, while the journal survives a power failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/wire/agentctl/frame.h"
#include "env/folder.h"

namespace perdure {

class Spool {
 public:
  struct Limits {
    std::uint64_t bytes_max = 0;
    std::uint64_t segment_bytes = 0;
  };
  // Returns false to stop.
  using TakeFrame = std::move_only_function<bool(FrameNo number, std::string_view frame)>;

  // The folder outlives the spool; it is empty at the start of an execution. A segment is at most
  // an eighth of the limit, so that acks free space.
  Spool(Folder& folder, Limits limits)
      : folder_(folder),
        limits_{limits.bytes_max, std::min(limits.segment_bytes, limits.bytes_max / 8)} {}

  // Gives the frame its number. The next flush() hands it to the kernel.
  FrameNo add(std::string_view frame);
  // Adds the frame and writes everything. On an error this frame was not added; earlier ones are
  // kept.
  Result<> add_now(std::string_view frame);
  // Writes what was added. On an error none of it counts as written, all of it is kept, and the
  // caller may retry.
  Result<> flush();
  FrameNo last() const { return next_ - 1; }  // written or not
  FrameNo written() const { return written_; }
  FrameNo acked() const { return acked_; }
  // Allows removal up to this number; a lower one than before changes nothing. invalid_argument: it
  // was not written yet. A segment that cannot be removed is removed with a later ack.
  Result<> ack(FrameNo number);

  // Removes acked frames from the files at once, for text that was deleted in the journal. False:
  // unacked frames share the file; it is removed when the last one is acked.
  bool cut();

  // Gives the written frames after `after` in order, until the taker stops. invalid_argument:
  // frames after `after` were acked and removed.
  Result<> read(FrameNo after, TakeFrame take);

  std::uint64_t bytes() const { return bytes_ + pending_.size(); }
  // Full: do not read the agent until has_room_again().
  bool is_full() const { return bytes() >= limits_.bytes_max; }
  bool has_room_again() const { return bytes() <= limits_.bytes_max / 2; }

 private:
  struct Segment {
    FrameNo first = 0;
    std::uint64_t bytes = 0;
  };
  // Where the frame `next` starts. Frames are usually read in order: no search then.
  struct Place {
    FrameNo next = 0;
    std::size_t segment = 0;
    std::uint64_t at = 0;
  };

  void add_written(std::uint64_t bytes);
  Result<> remove_first();
  void forget_recent();
  void read_recent(FrameNo after, TakeFrame& take);
  Place find(FrameNo number) const;
  // Reads on from the place; false when the taker stopped.
  Result<bool> read_piece(Place& place, FrameNo after, TakeFrame& take);

  Folder& folder_;
  Limits limits_;
  std::deque<Segment> segments_;
  std::string pending_;        // entries not yet written
  FrameNo pending_first_ = 0;  // the number of the first of them
  std::string recent_;         // the entries written last, and where
  Place recent_place_;
  std::uint64_t bytes_ = 0;   // of all segments
  bool is_cut_ = false;       // the next frame starts a segment
  bool may_be_torn_ = false;  // the last append failed and may have left a partial frame
  FrameNo next_ = 1;
  FrameNo written_ = 0;
  FrameNo acked_ = 0;
  Place place_;  // after the frame that was read last
};

}  // namespace perdure
