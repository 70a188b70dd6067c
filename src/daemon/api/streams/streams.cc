#include "daemon/api/streams/streams.h"

#include <utility>
#include <vector>

#include "base/limits.h"

namespace perdure {

Streams::Streams(ApiWorld& world, StreamSlots& slots, StillValid still_valid)
    : world_(world), slots_(slots), still_valid_(std::move(still_valid)) {
  node_watch_ = world_.node.watch([this] { end_revoked(); });
  arm();
}

Streams::~Streams() {
  world_.loop.cancel(timer_);
  world_.node.unwatch(node_watch_);
}

void Streams::arm() {
  timer_ = world_.loop.after_ms(stream_beat_ms, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    // A token can expire without a commit.
    end_revoked();
    for_each([](OpenStream& stream) { stream.beat(); });
    arm();
  });
}

// A stream may be removed while it is called.
void Streams::for_each(const std::function<void(OpenStream&)>& act) {
  for (auto next = streams_.begin(); next != streams_.end();) {
    const std::uint64_t number = next->first;
    act(*next->second.stream);
    next = streams_.upper_bound(number);
  }
}

void Streams::end_revoked() {
  for_each([this](OpenStream& stream) {
    if (still_valid_ && !still_valid_(stream.principal())) stream.end();
  });
}

std::uint64_t Streams::add(std::unique_ptr<OpenStream> stream, StreamSlots::Slot slot) {
  streams_.emplace(++last_number_, Held{std::move(slot), std::move(stream)});
  return last_number_;
}

void Streams::retire(std::uint64_t number) {
  world_.loop.post([this, number, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) streams_.erase(number);
  });
}

void Streams::drop_all() { streams_.clear(); }

HttpResponse stream_head(StreamForm form) {
  const char* const type = form == StreamForm::sse ? "text/event-stream" : "application/x-ndjson";
  return {.status = 200,
          .headers = {
              {"Content-Type", type}, {"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
}

}  // namespace perdure
