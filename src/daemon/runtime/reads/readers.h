// The readers of one session: each has a cursor and pulls from it, first from the store, then from
// the latest commits. A reader cannot hold memory here or delay others; one that falls too far
// behind is disconnected with its cursor (C16, STREAM4).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "daemon/runtime/runtime.h"
#include "daemon/runtime/shared.h"
#include "store/store.h"

namespace perdure {

class Readers {
 public:
  Readers(ActorShared& shared, SessionId session) : shared_(shared), session_(session) {}

  bool is_empty() const { return readers_.empty(); }
  std::size_t size() const { return readers_.size(); }
  std::size_t recent_bytes() const { return recent_bytes_; }  // kept for slower readers
  void add(SubscriptionId id, Seq after, RecordSink& sink);
  void remove(SubscriptionId id) { readers_.erase(id); }
  // Takes over the readers of another object for the same session, each with its cursor.
  void take_over(Readers& from) { readers_.merge(from.readers_); }
  // From now on records come only from the store.
  void forget_recent();
  // The session is being removed: disconnects every reader at its position.
  void cut_all();

  // New records are durable; the last one is `head`.
  void publish(Seq first, const std::vector<std::shared_ptr<const std::string>>& records);
  // Passes to a reader what it can accept now; the session's head is `head`.
  void pump(SubscriptionId id, Seq head);
  void pump_all(Seq head);

 private:
  struct Reader {
    RecordSink* sink = nullptr;
    Seq cursor = 0;
    bool live = false;  // has reached the head
  };

  // Passes on one portion. False if the reader is at the head, has no room, or was disconnected.
  bool give_some(SubscriptionId id, Seq head);
  void cut(SubscriptionId id);
  void forget_passed();
  void forget_oldest();
  std::vector<std::shared_ptr<const std::string>> portion(Seq after, std::size_t limit);

  ActorShared& shared_;
  SessionId session_;
  std::map<SubscriptionId, Reader> readers_;
  Seq recent_first_ = 0;  // number of recent_.front()
  std::deque<std::shared_ptr<const std::string>> recent_;
  std::size_t recent_bytes_ = 0;
};

}  // namespace perdure
