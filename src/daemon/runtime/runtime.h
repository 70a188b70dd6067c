// The runtime: all sessions of one daemon. Input -> decide -> commit -> publish -> effects, one
// commit in flight per session; nothing is shown before it is durable. Everything happens on one
// loop; only the store's writer may run elsewhere, and its answers are posted to the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/limits.h"
#include "base/result.h"
#include "core/session/machine.h"
#include "core/session/transitions/fork.h"
#include "core/views/read_model.h"
#include "daemon/runtime/care/transfer.h"
#include "daemon/runtime/counts.h"
#include "daemon/runtime/ports.h"
#include "env/env.h"
#include "store/store.h"

namespace perdure {

class Readers;

struct RuntimeConfig {
  BootId boot;                      // this daemon's boot
  std::string wait_key;             // the key for wait-token secrets; never stored in a record
  std::size_t resume_parallel = 2;  // C1: the number of concurrent on_boot resumes
  std::string home = {};            // where its agents run; shared by daemons of one home
  std::size_t actors_max = actors_idle_max;      // in memory, before idle ones are evicted
  std::size_t followed_max = followed_idle_max;  // the same for other daemons' sessions
  std::function<void()> on_look = {};  // called whenever it checks a shared store for changes
};

// A client's command. With a key it is answered once, forever: a repeat gets the first answer.
struct Request {
  std::string by;   // the principal
  std::string key;  // idempotency key, already scoped to the principal; may be empty
  Hash body_hash;   // distinguishes a repeat from a reuse of the key
  InputBody body;
};

using ReplyFn = std::move_only_function<void(Result<Reply>)>;

// The other daemons on a shared store, by name.
class Peers {
 public:
  virtual ~Peers() = default;
  // Forwards a command to the session's owner. Answers once, later, on the loop: with the owner's
  // answer, with stale_owner if the session has another owner now, or with unavailable if it cannot
  // be reached. After unavailable the outcome is unknown; resending with the same key reveals it.
  virtual void submit(const std::string& node, SessionId session, Request request,
                      ReplyFn reply) = 0;
};

// A reader of a session's records. Called on the loop.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // The number of records that it can accept now. The runtime never passes more.
  virtual std::size_t room() const = 0;
  // Consecutive committed records, starting at this number. Bytes as stored, shared by all readers.
  virtual void on_records(Seq first,
                          std::span<const std::shared_ptr<const std::string>> records) = 0;
  // The reader was too slow or the runtime is ending: resume after this cursor. The last call.
  virtual void on_cut(Seq cursor) = 0;
};

using SubscriptionId = std::uint64_t;

class SessionActor;
class SessionFollower;
class SessionList;
struct ActorShared;
struct LoadedSession;

class Runtime final : public AgentctlEvents {
 public:
  struct World {
    Clock& clock;
    Random& random;
    Loop& loop;
    Files& files;
    Store& store;
    Agentctls& agentctls;
    Notifier& notifier;
    Peers* peers = nullptr;  // of a shared store
  };

  Runtime(World world, RuntimeConfig config);
  ~Runtime() override;

  // Reconcile (C1 phase 1): loads the open sessions, attaches to living executions, closes dead
  // ones, and calls `ready` when all are settled or after reconcile_probe_ms. Starts no agent
  // earlier.
  void boot(std::move_only_function<void()> ready);

  // Answers once, after the commit that holds it. Unknown session: not_found. Commands for another
  // daemon's session are forwarded to it.
  void submit(SessionId session, Request request, ReplyFn reply);
  // For commands forwarded by another daemon: stale_owner if the session is not ours.
  void submit_here(SessionId session, Request request, ReplyFn reply);
  // In memory and, as far as is known, ours.
  bool is_ours(SessionId session);
  // The owner of the session, if it is another daemon; empty: it is ours.
  Result<std::string> owner(SessionId session);
  // Another daemon may have written to these sessions; empty: to any.
  void hint(std::span<const SessionId> sessions);
  // Another daemon may have redacted text of these sessions; empty: of any.
  void forget_text(std::span<const SessionId> sessions);

  // The committed state. Loads the session if necessary.
  Result<State> state(SessionId session);
  // The stored answer to this key; key_reused if it belongs to another body.
  Result<std::optional<Reply>> stored_reply(const std::string& key, const Hash& body_hash);
  // Whether the session's execution is alive, as far as is known now.
  Liveness liveness(SessionId session);
  // The session's state as clients read it.
  Result<SessionView> view(SessionId session);

  // The committed state of a session in memory, else null. Valid until the loop continues.
  const State* state_in_memory(SessionId session);
  // The facts outside the session's journal that projections need.
  perdure::World world_of(SessionId session);
  // The number of current readers of the session's records (U10).
  std::size_t connections(SessionId session);
  // The list of all sessions.
  SessionList& sessions() { return *sessions_; }
  // Only for reads in this folder; no other code reads the journal.
  Store& store();
  Loop& loop();
  // Expires with the runtime.
  std::weak_ptr<bool> alive() const;

  // A record of the session was redacted: drops what is cached for readers.
  void forget_recent(SessionId session);
  // For redact_records(). Runs this when no commit of the session is in flight; an error if the
  // session cannot be loaded or belongs to another daemon.
  Result<> between_commits(SessionId session, std::move_only_function<void()> run);
  // Continues with this state, which is the current one without some text, and updates the listing
  // accordingly. Between commits only.
  void replace_text(SessionId session, State state, std::move_only_function<void(Result<>)> done);
  // Whether a command to the session's agent that is not known to be done holds one of these.
  bool sends_any(SessionId session, std::span<const std::string> texts);
  // Removes a session permanently and disconnects its readers. For remove_session(), which ensures
  // that nothing of it is alive: otherwise `conflict`, or `unavailable` while a commit of it is in
  // flight. Not from within a call of the runtime.
  Result<> erase(SessionId session);

  // Delivers records after `after`: replay, then live, in order and without gaps (STREAM1). A
  // cursor beyond the head, or of another log, is cursor_invalid. The sink outlives the
  // subscription.
  Result<SubscriptionId> subscribe(SessionId session, Seq after, const std::string& log_id,
                                   RecordSink& sink);
  // Removes the reader; its sink is not called again.
  void unsubscribe(SubscriptionId subscription);
  // The sink has room again.
  void drained(SubscriptionId subscription);

  // Called on the loop after each commit of a session, and when the link to its agentctl comes up
  // or breaks, until the number is passed to unwatch(). Never within a call of the caller.
  using OnChanged = std::function<void(SessionId session)>;
  std::uint64_t watch(OnChanged changed);
  void unwatch(std::uint64_t number) { watchers_.erase(number); }

  // Copies records 1…at into a new session, closes what was open, starts nothing.
  void fork(SessionId from, Seq at, SessionId to, const std::string& by, ReplyFn reply);

  // Creates a new session from an exported one: everything open is closed, it is stopped, and it
  // has no folder, agent or anything that could run until a person binds them. A repeat with the
  // same `to` returns the existing session.
  void import_session(ParsedExport file, SessionId to, const std::string& by, ReplyFn reply);
  // The same for a session of another program: bound at once to agent and folder, and with the
  // agent's own session, so that it can be resumed. If it already exists, the answer is
  // `nothing_to_do`; a session without a turn is rejected: invalid_argument.
  void adopt_session(ParsedExport file, SessionId to, const std::string& by, AdoptedBinding binding,
                     ReplyFn reply);

  // Sessions that could not be loaded, with the reason; all others are served (G9).
  const std::map<SessionId, Error>& damaged() const { return damaged_; }
  std::uint64_t dropped_frames() const;
  const EventCounts& counts() const;
  bool is_ready() const { return ready_; }

  // The session of a permission or a wait token, by the text of its id; not_found.
  Result<SessionId> find_session(std::string_view ref);

  // The secret of a wait token, for callers who may answer.
  std::string wait_secret(WaitTokenId token) const;

  void on_attached(const ExecKey& exec) override;
  void on_frame(const ExecKey& exec, Frame frame) override;
  void on_commands_acted(const ExecKey& exec, std::uint64_t number) override;
  void on_detached(const ExecKey& exec) override;
  void on_gone(const ExecKey& exec, const ExecEnding& ending) override;

 private:
  // A session in memory: ours, or a follower of another daemon's.
  struct Seat {
    const State& state;
    Readers& readers;
    SessionActor* actor = nullptr;
    SessionFollower* follower = nullptr;
  };
  // Loads it if necessary; for another daemon's session, reads what is new.
  Result<Seat> seat(SessionId session);
  std::optional<Seat> seat_in_memory(SessionId session);
  Result<SessionActor*> actor(SessionId session);
  SessionActor* loaded(SessionId session);

  // For a shared store (sharing.cc).
  Result<Seat> load(SessionId session);
  // As load_session(); damaged sessions are added to damaged().
  Result<LoadedSession> load_journal(SessionId session);
  Result<SessionActor*> make_actor(SessionId session, std::uint64_t epoch);
  Result<SessionActor*> actor_for_command(SessionId session, const InputBody& body);
  void hand_over(SessionId session, Request request, ReplyFn reply, int tries);
  struct Handed;
  void ask_peer(Handed what);
  std::optional<std::string> who_decides(SessionId session, const InputBody& body);
  void hand_over_again(Handed& handed);
  void watch_handed(const std::shared_ptr<Handed>& handed);
  // Whether the store may hold more of it than this daemon knows.
  bool is_behind(SessionId session, Seq head);
  void look_around();
  void look_around_later();
  // False if the store cannot report its owner.
  bool take_orphan(SessionId session);
  void take_missed();
  // Whether it is ours afterwards; an error if that is unknown or it cannot be read.
  Result<bool> take(SessionId session);
  void lose(SessionId session);
  void drop_lost();
  void follow(SessionId session);
  void show_later(SessionId session);
  void forget(SessionId session);
  void boot_one(SessionId session);
  void settle(SessionId session);
  void become_ready();
  void resume_next_at_boot();
  void look_whether_lost_before(SessionId session);
  void make_room_later();
  void asked_at_boot(SessionId session, ExecId exec, const Result<Reply>& answer);
  void resume_refused_at_boot();

  std::unique_ptr<ActorShared> shared_;
  std::unique_ptr<SessionList> sessions_;
  std::map<SessionId, std::unique_ptr<SessionActor>> actors_;
  std::map<SessionId, std::unique_ptr<SessionFollower>> followers_;
  std::set<SessionId> lost_;           // becomes a follower on the next turn of the loop
  std::map<SessionId, ExecId> taken_;  // from another daemon or an earlier boot; not settled
  std::set<SessionId> missed_;         // ours, or possibly ours: the store was unavailable
  bool is_listed_ = false;             // the open sessions were listed at boot
  Loop::TimerId look_timer_ = 0;
  std::uint64_t looks_ = 0;
  std::map<SubscriptionId, SessionId> subscriptions_;
  SubscriptionId last_subscription_ = 0;
  void tell_watchers(SessionId session);

  std::map<std::uint64_t, OnChanged> watchers_;
  std::uint64_t last_watcher_ = 0;
  std::map<SessionId, Error> damaged_;
  std::set<SessionId> unsettled_;
  std::vector<std::pair<SessionId, ExecId>> resume_at_boot_;   // with the lost execution
  std::vector<std::pair<SessionId, ExecId>> refused_at_boot_;  // by the store; retried later
  std::set<SessionId> asked_at_boot_;                          // and not answered yet
  bool is_making_room_ = false;
  std::move_only_function<void()> on_ready_;
  Loop::TimerId probe_timer_ = 0;
  Loop::TimerId boot_timer_ = 0;
  bool booting_ = false;
  bool ready_ = false;
};

}  // namespace perdure
