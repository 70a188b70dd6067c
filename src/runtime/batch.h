// A batch: the inputs of one commit, decided one after the other against the state that the ones
// before lead to. Nothing of it is visible before the commit; a refused commit drops it whole.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/counts.h"
#include "runtime/runtime.h"
#include "runtime/shared.h"
#include "session/machine.h"
#include "store/store.h"

namespace perdure {

// An input that waits to be decided.
struct Waiting {
  Request request;
  ReplyFn reply;                  // empty for frames and the runtime's own inputs
  std::uint64_t ends_effect = 0;  // the outbox row that this input answers; 0: none
  bool from_client = false;
  int tries = 0;
};

struct Answered {
  ReplyFn reply;
  Result<Reply> result;
  bool stands = false;  // out of the store: true whatever becomes of the commit
};

class Batch {
 public:
  Batch(ActorShared& shared, SessionId session, const State& state, const Hash& head_hash,
        const std::optional<FrameCursor>& cursor);

  // Decides one more input. Its answer waits for the commit.
  void take(Waiting waiting);

  // Whether the store has to be asked at all.
  bool needs_commit() const;
  std::size_t size() const { return taken_.size(); }
  // About what the commit will write.
  std::size_t bytes() const { return bytes_; }

  // The batch as the store takes it; once. The actor adds what is its own: snapshot, listing.
  Append make_append(std::uint64_t epoch);

  // What is true once the commit is durable.
  State state;
  Hash head_hash;
  std::optional<FrameCursor> cursor;
  std::vector<std::shared_ptr<const std::string>> records;  // as stored, for the readers
  std::vector<OutboxRow> effects;
  std::vector<std::uint64_t> effects_done;
  std::uint64_t dropped = 0;
  EventCounts counts;
  bool essential = false;

  // Whether somebody waits for an answer that is not out of the store.
  bool has_replies() const;
  // The answers, in the order of the inputs.
  std::vector<Answered> take_answers() { return std::move(answers_); }
  // Gives the answers that do not depend on the commit: the batch is refused.
  void give_standing_answers();
  // The inputs back, for another try: the batch is to be thrown away.
  std::deque<Waiting> take_back();

 private:
  // The stored or pending answer to a repeated key; nothing when the key is new.
  std::optional<Answered> repeated(const Request& request);
  bool frame_is_next(Frame& frame);
  bool has_workspace() const;
  Input make_input(const Request& request);
  void accept(const Request& request, Decision decision, Result<Reply>& answer);
  void add_event(Event event);

  ActorShared& shared_;
  SessionId session_;
  Seq head_before_;
  std::optional<FrameCursor> cursor_before_;
  std::vector<Waiting> taken_;  // replies are in answers_
  std::vector<Answered> answers_;
  std::vector<StoredAnswer> keys_;
  std::vector<std::string> refs_;
  std::vector<Blob> blobs_;
  std::size_t bytes_ = 0;
};

}  // namespace perdure
