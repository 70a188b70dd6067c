// The open streams. Each belongs to a principal and ends when that loses its right to read (TOK2);
// each gets a sign of life at least every ten seconds (N3).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "core/auth/principal.h"
#include "daemon/api/streams/frames.h"
#include "daemon/api/streams/stream_slots.h"
#include "daemon/api/world.h"
#include "net/server/server.h"

namespace perdure {

// Whether the principal may still do what it was admitted for.
using StillValid = std::function<bool(const Principal& principal)>;

class OpenStream {
 public:
  virtual ~OpenStream() = default;
  virtual const Principal& principal() const = 0;
  // Sends a sign of life and the stream's position.
  virtual void beat() = 0;
  // Ends the stream, which then calls Streams::retire(), as it does when the client disconnects.
  virtual void end() = 0;
};

class Streams {
 public:
  Streams(ApiWorld& world, StreamSlots& slots, StillValid still_valid);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // limit_reached if the principal has all of its streams open.
  Result<StreamSlots::Slot> admit(const Principal& principal) { return slots_.take(principal); }
  std::uint64_t add(std::unique_ptr<OpenStream> stream, StreamSlots::Slot slot);
  // Destroys a stream on the loop's next turn. A second call has no effect.
  void retire(std::uint64_t number);
  std::size_t count() const { return streams_.size(); }
  // Closes every connection at once; called before the objects that streams use are destroyed.
  void drop_all();

  ApiWorld& world() { return world_; }
  FrameCache& frames(StreamForm form) { return form == StreamForm::sse ? sse_ : ndjson_; }

 private:
  void arm();
  void end_revoked();
  void for_each(const std::function<void(OpenStream&)>& act);

  struct Held {
    StreamSlots::Slot slot;
    std::unique_ptr<OpenStream> stream;
  };

  ApiWorld& world_;
  StreamSlots& slots_;
  StillValid still_valid_;
  FrameCache sse_{StreamForm::sse};
  FrameCache ndjson_{StreamForm::ndjson};
  std::map<std::uint64_t, Held> streams_;
  std::uint64_t last_number_ = 0;
  std::uint64_t node_watch_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The head of a stream's answer.
HttpResponse stream_head(StreamForm form);

}  // namespace perdure
