// The spool: every frame is written here before anything else happens to it, numbered from 1, and
// stays until the daemon says that its journal has it. Written to the kernel, not to the disk: it
// must outlive every process, while the journal outlives the power.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/folder.h"
#include "wire/frame.h"

namespace perdure {

class Spool {
 public:
  struct Limits {
    std::uint64_t bytes_max = 0;
    std::uint64_t segment_bytes = 0;
  };
  // False: no more.
  using TakeFrame = std::move_only_function<bool(FrameNo number, std::string_view frame)>;

  // The folder outlives the spool; it is empty at the start of an execution. Segments are at most
  // an eighth of the whole, so that acks make room.
  Spool(Folder& folder, Limits limits)
      : folder_(folder),
        limits_{limits.bytes_max, std::min(limits.segment_bytes, limits.bytes_max / 8)} {}

  // Gives the frame its number. It is in the kernel's hands after the next flush().
  FrameNo add(std::string_view frame);
  // Adds the frame and writes everything. After an error this one was not added; what was before is
  // kept.
  Result<> add_now(std::string_view frame);
  // Writes what was added. After an error nothing of it counts as written, everything is kept, and
  // it may be tried again.
  Result<> flush();
  FrameNo last() const { return next_ - 1; }  // written or not
  FrameNo written() const { return written_; }
  FrameNo acked() const { return acked_; }
  // Everything up to this number may go; lower numbers than before change nothing. A number beyond
  // what was written is invalid_argument. A segment that cannot be removed goes with a later ack.
  Result<> ack(FrameNo number);

  // Takes what is acked out of the files at once, for text that was taken back in the journal.
  // False: frames that nobody acked stand in the same file. It goes with the ack of the last one.
  bool cut();

  // Gives the written frames behind `after` in order, until the taker has enough. Frames that were
  // acked may be gone: invalid_argument when `after` is below them.
  Result<> read(FrameNo after, TakeFrame take);

  std::uint64_t bytes() const { return bytes_ + pending_.size(); }
  // There is no room: the agent must not be read until there is some again.
  bool is_full() const { return bytes() >= limits_.bytes_max; }
  bool has_room_again() const { return bytes() <= limits_.bytes_max / 2; }

 private:
  struct Segment {
    FrameNo first = 0;
    std::uint64_t bytes = 0;
  };
  // Where the frame `next` starts. Frames are mostly asked for in order: no search then.
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
  // Reads on from the place; false when the taker has enough.
  Result<bool> read_piece(Place& place, FrameNo after, TakeFrame& take);

  Folder& folder_;
  Limits limits_;
  std::deque<Segment> segments_;
  std::string pending_;        // entries that are not written yet
  FrameNo pending_first_ = 0;  // the number of the first of them
  std::string recent_;         // the entries that were written last, and where
  Place recent_place_;
  std::uint64_t bytes_ = 0;   // of all segments
  bool is_cut_ = false;       // the next frame begins a segment
  bool may_be_torn_ = false;  // the last append failed, and may have left a part
  FrameNo next_ = 1;
  FrameNo written_ = 0;
  FrameNo acked_ = 0;
  Place place_;  // behind the frame that was read last
};

}  // namespace perdure
