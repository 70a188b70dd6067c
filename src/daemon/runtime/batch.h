// A batch: the inputs of one commit, each decided against the state after the previous ones.
// Nothing of it is visible before the commit; if the commit fails, the batch is dropped.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/session/machine.h"
#include "daemon/runtime/counts.h"
#include "daemon/runtime/runtime.h"
#include "daemon/runtime/shared.h"
#include "store/store.h"

namespace perdure {

// An input waiting for a decision.
struct Waiting {
  Request request;
  ReplyFn reply;                  // empty for frames and the runtime's own inputs
  std::uint64_t ends_effect = 0;  // the outbox row that this input completes; 0: none
  bool from_client = false;
  int tries = 0;
};

struct Answered {
  ReplyFn reply;
  Result<Reply> result;
  bool stands = false;  // from the store: valid even if the commit fails
};

class Batch {
 public:
  Batch(ActorShared& shared, SessionId session, const State& state, const Hash& head_hash,
        const std::optional<FrameCursor>& cursor);

  // Decides one more input. Its answer is sent after the commit.
  void take(Waiting waiting);

  // Whether anything has to be written.
  bool needs_commit() const;
  std::size_t size() const { return taken_.size(); }
  // An estimate of what the commit will write.
  std::size_t bytes() const { return bytes_; }

  // The batch in the store's form; call once. The actor adds its own parts: snapshot, listing.
  Append make_append(std::uint64_t epoch);

  // True once the commit is durable.
  State state;
  Hash head_hash;
  std::optional<FrameCursor> cursor;
  std::vector<std::shared_ptr<const std::string>> records;  // as stored, for the readers
  std::vector<OutboxRow> effects;
  std::vector<std::uint64_t> effects_done;
  std::uint64_t dropped = 0;
  EventCounts counts;
  bool essential = false;

  // Whether a client waits for an answer that does not come from the store.
  bool has_replies() const;
  // The answers, in the order of the inputs.
  std::vector<Answered> take_answers() { return std::move(answers_); }
  // The commit failed: sends the answers that do not depend on it.
  void give_standing_answers();
  // Returns the inputs for a retry; the batch must then be discarded.
  std::deque<Waiting> take_back();

 private:
  // The stored or pending answer to a repeated key; absent for a new key.
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
