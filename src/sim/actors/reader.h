// A reader of one session's stream, with the cursor of a real client. It may be slow, disconnect
// and return; everything it has seen over all its connections must equal the journal (STREAM1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "daemon/runtime/runtime.h"
#include "sim/actors/daemons.h"
#include "sim/judges/judge.h"
#include "sim/world/universe.h"

namespace perdure::sim {

class Reader final : public RecordSink {
 public:
  Reader(Universe& universe, Judge& judge, Daemons& daemons, SessionId session, Seq cursor)
      : universe_(universe), judge_(judge), daemons_(daemons), session_(session), cursor_(cursor) {}

  // Something a client might do now: connect, disconnect, read on, stall.
  void act();
  // The world is healed: connects and reads everything.
  void heal();
  // It has room, but has not received the available records.
  bool is_waiting_at(const Daemon& daemon, SessionId session, Seq head) const {
    return is_connected() && at_ == &daemon && session_ == session && room_ > 0 && !is_unseen_ &&
           cursor_ < head;
  }
  bool is_at_head() const {
    return judge_.is_damaged(session_) || (is_connected() && cursor_ == head());
  }
  Seq cursor() const { return cursor_; }
  // Its position and where it should be, for people.
  std::string text() const {
    return tail(session_) + ": a reader" + (is_connected() ? " at daemon " + at_->node() : "") +
           " is at " + std::to_string(cursor_) + " of " + std::to_string(head());
  }
  SessionId session() const { return session_; }

  std::size_t room() const override { return room_; }
  void on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) override;
  void on_cut(Seq cursor) override;

 private:
  Seq head() const { return judge_.ledger(session_).head(); }
  bool is_connected() const { return life_ && !life_->dead && subscription_ != 0; }
  void connect();
  void connect_beyond_head(Daemon& daemon);
  void leave();
  void set_room(std::size_t room);

  Universe& universe_;
  Judge& judge_;
  Daemons& daemons_;
  SessionId session_;
  Seq cursor_;
  Daemon* at_ = nullptr;  // the connected daemon
  LifePtr life_;
  SubscriptionId subscription_ = 0;
  std::size_t room_ = 1'000'000;
  bool is_unseen_ = false;  // its daemon has not noticed that there is room again
};

}  // namespace perdure::sim
