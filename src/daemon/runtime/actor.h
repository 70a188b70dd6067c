// One session in memory: its committed state, the waiting inputs, and at most one commit in flight.
// Everything that happens to a session passes through its actor, on the runtime's loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "daemon/runtime/batch.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/outbox.h"
#include "daemon/runtime/reads/readers.h"
#include "daemon/runtime/shared.h"

namespace perdure {

class SessionActor {
 public:
  // A loaded session, or one that is to be created (state.head == 0).
  static Result<std::unique_ptr<SessionActor>> create(ActorShared& shared, SessionId session,
                                                      LoadedSession loaded);
  ~SessionActor();

  void submit(Request request, ReplyFn reply);
  // Adds an input of the runtime itself.
  void input(InputBody body, std::uint64_t ends_effect = 0);

  // Reconcile: derives the status again and looks for the execution of an earlier life.
  void boot();
  // Retries what was not possible while the store could not report the session's owner.
  void go_on();
  // Another daemon owns it now: releases its execution and rejects all waiting inputs.
  void give_up();
  void attached(const ExecKey& exec);
  void detached(const ExecKey& exec);
  void frame(Frame frame);
  void commands_acted(const ExecKey& exec, std::uint64_t number);
  void gone(const ExecKey& exec, const ExecEnding& ending);

  // Runs this when no commit is in flight: now, or directly after the current one.
  void between_commits(std::move_only_function<void()> run);
  // Continues with this state, which is the current one without some text, and updates the listing
  // accordingly. Between commits only.
  void replace_text(State state, std::move_only_function<void(Result<>)> done);
  const Outbox& outbox() const { return outbox_; }

  const State& state() const { return state_; }
  OwnedSession owned() const { return {session_, epoch_}; }
  Liveness liveness() const;
  Readers& readers() { return readers_; }
  // Nothing is waiting or in flight.
  bool is_quiet() const { return inbox_.empty() && !in_flight_; }
  // The execution of an earlier life was found, or is proved gone.
  bool is_settled() const;
  // Nothing is written from now on: another daemon owns it, or it is damaged.
  bool has_failed() const { return failed_.has_value(); }
  // May be evicted: the store holds everything about it.
  bool is_idle() const;

 private:
  SessionActor(ActorShared& shared, SessionId session, LoadedSession loaded);

  bool concerns_present(const ExecKey& exec) const;
  void refuse_waiting();
  void enqueue(Waiting waiting);
  void schedule();
  void pump();
  // The next input that may be decided now; absent while the disk is full and none may pass.
  std::optional<Waiting> next_waiting();
  void commit(std::unique_ptr<Batch> batch);
  void on_committed(const Result<>& result);
  void on_durable(Batch& batch);
  void on_refused(Batch& batch, const Error& error);
  void run_between_commits();
  void answer(Batch& batch);
  void arm_timer();
  void on_timer();
  void flush_later();
  bool inject(std::uint64_t row, const PrepareInjection& effect);
  void offer();

  ActorShared& shared_;
  SessionId session_;
  std::uint64_t epoch_;  // of its lease
  State state_;
  Hash head_hash_;
  std::optional<FrameCursor> cursor_;
  Seq snapshot_at_ = 0;
  std::optional<Listing> listing_;            // as stored
  std::optional<Listing> listing_in_flight_;  // as the commit in flight leaves it
  Outbox outbox_;
  Readers readers_;

  std::deque<Waiting> inbox_;
  std::unique_ptr<Batch> in_flight_;
  std::vector<std::uint64_t> removing_;  // outbox rows whose removal is in flight
  std::deque<std::move_only_function<void()>> between_commits_;
  std::move_only_function<void(Result<>)> on_replaced_;
  bool scheduled_ = false;
  std::optional<Code> held_up_;    // why commits fail for now: disk_full or unavailable
  bool looked_for_ = false;        // the current execution was looked up since the boot
  ExecId ending_;                  // should have ended with the previous daemon; stop sent
  bool is_to_be_offered_ = false;  // to daemons that can reach its execution
  std::optional<Error> failed_;    // no more writes: another owner, or damage
  Loop::TimerId deadline_timer_ = 0;
  Loop::TimerId retry_timer_ = 0;
  Loop::TimerId flush_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
