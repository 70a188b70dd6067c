// One session alive in memory: its committed state, the inputs that wait, and at most one commit in
// flight. Everything that happens to a session goes through here, on the runtime's loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "runtime/batch.h"
#include "runtime/load.h"
#include "runtime/outbox.h"
#include "runtime/readers.h"
#include "runtime/shared.h"

namespace perdure {

class SessionActor {
 public:
  // A session that was loaded, or one that is to be created (state.head == 0).
  static Result<std::unique_ptr<SessionActor>> create(ActorShared& shared, SessionId session,
                                                      LoadedSession loaded);
  ~SessionActor();

  void submit(Request request, ReplyFn reply);
  // An input of the runtime itself.
  void input(InputBody body, std::uint64_t ends_effect = 0);

  // Reconcile: derives the status anew and looks for the execution of an earlier life.
  void boot();
  // Does what could not be done while the store did not say whose the session is.
  void go_on();
  // It is another daemon's now: lets its execution go, and whatever waits is refused.
  void give_up();
  void attached(const ExecKey& exec);
  void detached(const ExecKey& exec);
  void frame(Frame frame);
  void commands_acted(const ExecKey& exec, std::uint64_t number);
  void gone(const ExecKey& exec, const ExecEnding& ending);

  // Runs this when no commit is under way: now, or right behind the one that is.
  void between_commits(std::move_only_function<void()> run);
  // Goes on with this state, which is the present one without some text, and stores what the list
  // shows of it. Between commits only.
  void replace_text(State state, std::move_only_function<void(Result<>)> done);
  const Outbox& outbox() const { return outbox_; }

  const State& state() const { return state_; }
  OwnedSession owned() const { return {session_, epoch_}; }
  Liveness liveness() const;
  Readers& readers() { return readers_; }
  // Nothing waits and nothing is in flight.
  bool is_quiet() const { return inbox_.empty() && !in_flight_; }
  // The execution of an earlier life was found, or found to be gone.
  bool is_settled() const;
  // Nothing is written any more: another has it, or it is damaged.
  bool has_failed() const { return failed_.has_value(); }
  // May be forgotten: everything about it is in the store.
  bool is_idle() const;

 private:
  SessionActor(ActorShared& shared, SessionId session, LoadedSession loaded);

  bool concerns_present(const ExecKey& exec) const;
  void refuse_waiting();
  void enqueue(Waiting waiting);
  void schedule();
  void pump();
  // The next input that may be decided now; nothing while the disk is full and none may pass.
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
  std::optional<Listing> listing_in_flight_;  // as the commit under way leaves it
  Outbox outbox_;
  Readers readers_;

  std::deque<Waiting> inbox_;
  std::unique_ptr<Batch> in_flight_;
  std::vector<std::uint64_t> removing_;  // outbox rows whose removal is in flight
  std::deque<std::move_only_function<void()>> between_commits_;
  std::move_only_function<void(Result<>)> on_replaced_;
  bool scheduled_ = false;
  std::optional<Code> held_up_;    // why commits do not pass for now: disk_full or unavailable
  bool looked_for_ = false;        // somebody was asked for the present execution in this life
  ExecId ending_;                  // was to end with the daemon before, and was told to
  bool is_to_be_offered_ = false;  // to daemons that can reach its execution
  std::optional<Error> failed_;    // no more writes: another owner, or damage
  Loop::TimerId deadline_timer_ = 0;
  Loop::TimerId retry_timer_ = 0;
  Loop::TimerId flush_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
