// The writer: gathers appends into groups, one statement each. Everything that uses the connection
// holds write_mutex_.
//
// The outcome of a statement without an answer is unknown until the next connection has shut out
// the old one and read the number of the last commit (relink). Until then its group is held, and
// none of its appends is answered.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "store/postgres/pg_group.h"
#include "store/postgres/pg_readers.h"
#include "store/postgres/pg_schema.h"
#include "store/postgres/pg_search.h"
#include "store/postgres/postgres_store.h"
#include "store/queue/group_commit.h"

namespace perdure {

class PgWriter final : public GroupTarget {
 public:
  static Result<std::unique_ptr<PgWriter>> open(const PostgresOptions& options);
  // Says farewell if it can, so that the next owner need not wait.
  ~PgWriter() override;
  PgWriter(const PgWriter&) = delete;
  PgWriter& operator=(const PgWriter&) = delete;

  // See PostgresStore for these.
  void append(Append&& batch, Store::Done&& done);
  bool step();
  bool idle_step();
  bool wait_for_work(std::chrono::milliseconds timeout);
  void wake() { queue_.wake(); }
  Result<> shut_down();
  Result<> forget_answers(Timestamp now);
  Result<> remove(const OwnedSession& owned);
  Result<> redact(const OwnedSession& owned, const Redaction& redaction);
  EngineTotals totals() const;

  // Stores the result of verify() for a session: damaged after `good`, or intact if absent.
  Result<> judge(SessionId session, const std::optional<Seq>& good);

  std::uint64_t epoch() const { return life_.epoch; }
  const std::string& log_id() const { return life_.log_id; }
  const std::string& shared_key() const { return life_.shared_key; }
  // Another node exists: it is notified of commits from now on. Thread-safe.
  void meet_other() { has_others_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  // A session's stored state as we know it. If another node may write it too, it becomes outdated:
  // the statement then fails, and it is read again.
  struct Known {
    std::uint64_t lease = 0;  // our lease's epoch; 0: none
    std::optional<Seq> head;  // absent: not stored yet
    std::optional<Seq> good;
  };
  using Keys = std::set<std::string, std::less<>>;
  // A statement without an answer: its appends, and what it would have made durable.
  struct Unresolved {
    std::vector<PendingAppend*> members;
    PgGroup group;
  };

  PgWriter(const PostgresOptions& options, PgLife life, std::unique_ptr<PgLink> link);

  Result<> write_group(std::span<PendingAppend* const> group) override;
  Result<> make_reserve() override { return {}; }
  Result<> release_reserve() override { return {}; }
  void fail_forever(const Error& error) override;
  bool has_failed() const override { return unresolved_.has_value(); }

  using Members = std::span<PendingAppend* const>;
  void finish_group();
  void tell_fenced();
  bool resolve();
  void refuse_behind();
  Result<> write_together(Members group);
  // again: the obstacle may pass; anew: known state was outdated, so read it again.
  enum class Tried { done, again, anew };
  Result<Tried> try_group(Members group, Keys& taken);
  struct Attempt {
    Members members;
    PgGroup group;
  };
  Result<Tried> meet_failure(const PgFailure& failure, Attempt attempt, Keys& taken);
  Result<Tried> meet_loss(Attempt attempt);
  Result<Tried> load_strange(Members group);
  // Finds which of the blobs that the group refers to exist.
  Result<Tried> load_blobs(Members group, Keys& there);
  // Decides what a failed read means for the group.
  Result<Tried> meet_unread(const PgFailure& failure);
  struct Stored {
    Keys taken;  // of answers that were found to exist already
    Keys blobs;
  };
  PgGroup admit(Members group, const Stored& stored);
  std::optional<Error> refusal(const Append& batch, const Known& known) const;
  void publish(const PgGroup& group);

  // Waits for a connection, at most for `patience`.
  Result<> be_linked();
  // Tries to connect: shuts out the previous connection, finds out if its last commit was stored.
  Result<> relink();
  Result<> open_link();
  void lose_link();
  struct Load {
    std::set<SessionId> sessions;
    std::set<SessionId> take;  // whose lease to take if it is free or of an earlier life
  };
  Load strange(Members group) const;
  PgResult<PgRows> load(const Load& wanted);
  // Adds those of the keys, or of the blob hashes, that exist.
  PgResult<PgRows> load_keys(const std::vector<std::string>& keys, Keys& taken);
  PgResult<PgRows> load_hashes(const std::set<Hash>& hashes, Keys& there);
  Error fenced() const;
  PgTurn turn() const;

  // A change outside of groups; the statement's first four parameters are the turn.
  using MakeParams = std::function<PgParams(const PgTurn& turn)>;
  Result<> change(const PgStatement& statement, const MakeParams& params);
  Result<std::unique_lock<std::timed_mutex>> lock();
  bool beat();
  bool search_slice();
  Result<Known> know(const OwnedSession& owned);
  std::string hint_for(std::span<const SessionId> sessions) const;

  const PostgresOptions options_;
  const PgLife life_;
  AppendQueue queue_;
  GroupCommit commits_{*this};

  std::timed_mutex write_mutex_;
  std::unique_ptr<PgLink> link_;
  std::uint64_t link_number_ = 0;
  std::uint64_t groups_ = 0;    // the number of the last attempted one
  bool is_last_there_ = false;  // according to the last relink()
  std::optional<Unresolved> unresolved_;
  std::vector<PendingAppend>* group_ = nullptr;  // taken but not answered yet
  std::map<SessionId, Known> known_;
  std::optional<PgSearch> search_;

  std::optional<Clock::time_point> away_since_;
  std::chrono::milliseconds retry_{0};
  Clock::time_point next_try_{};
  Clock::time_point next_beat_{};
  bool has_told_ = false;
  bool has_left_ = false;  // farewell was said: no more heartbeats
  std::atomic<bool> has_others_ = false;
  std::atomic<bool> is_fenced_ = false;
  std::atomic<bool> is_away_ = false;
  std::atomic<bool> is_full_ = false;
  std::atomic<std::uint64_t> commits_done_ = 0;
  std::atomic<std::uint64_t> appends_done_ = 0;
};

}  // namespace perdure
