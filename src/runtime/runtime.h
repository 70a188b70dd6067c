// The runtime: all sessions of one daemon. Input -> decide -> commit -> publish -> effects, one
// commit in flight per session; nothing is shown before it is durable. Everything happens on one
// loop; only the store's writer may run elsewhere, and its answers are posted back.
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

#include "base/hash.h"
#include "base/limits.h"
#include "base/result.h"
#include "env/env.h"
#include "runtime/counts.h"
#include "runtime/ports.h"
#include "runtime/transfer.h"
#include "session/fork.h"
#include "session/machine.h"
#include "session/read_model.h"
#include "store/store.h"

namespace perdure {

class Readers;

struct RuntimeConfig {
  BootId boot;                      // this daemon's life
  std::string wait_key;             // makes the secrets of wait tokens; never stored in a record
  std::size_t resume_parallel = 2;  // C1: on_boot resumes at once
  std::string home = {};            // where its agents live; daemons of one home reach the same
  std::size_t actors_max = actors_idle_max;  // in memory, before those that are idle are put away
  std::size_t followed_max = followed_idle_max;  // the same of what others have
  std::function<void()> on_look = {};  // called with each look at what others do to a shared store
};

// A client's command. With a key it is answered once for ever: a repeat gets the first answer.
struct Request {
  std::string by;   // the principal
  std::string key;  // idempotency key, already scoped to the principal; may be empty
  Hash body_hash;   // tells a repeat from a reuse of the key
  InputBody body;
};

using ReplyFn = std::move_only_function<void(Result<Reply>)>;

// The other daemons on a shared store, by their names there.
class Peers {
 public:
  virtual ~Peers() = default;
  // Hands a command to the session's owner. Answers once, later, on the loop: as that one does,
  // with stale_owner when the session is not its own any more, with unavailable when it cannot be
  // reached. After the last nobody knows whether it was done: its key tells, when it is sent again.
  virtual void submit(const std::string& node, SessionId session, Request request,
                      ReplyFn reply) = 0;
};

// A reader of a session's records. Called on the loop.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // How many more records it can take now. The runtime never hands out more.
  virtual std::size_t room() const = 0;
  // Consecutive committed records, the first with this number. Bytes as stored, shared by all.
  virtual void on_records(Seq first,
                          std::span<const std::shared_ptr<const std::string>> records) = 0;
  // The reader was too slow or the runtime ends: go on later behind this cursor. The last call.
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

  // Reconcile (C1 phase 1): loads the open sessions, attaches to what lives, closes what died, and
  // calls `ready` when all is settled or reconcile_probe_ms passed. Starts no agent before that.
  void boot(std::move_only_function<void()> ready);

  // Answers once, after the commit that holds it. Unknown session: not_found. A session of another
  // daemon: that one is asked.
  void submit(SessionId session, Request request, ReplyFn reply);
  // The same for what another daemon handed over: stale_owner when the session is not ours.
  void submit_here(SessionId session, Request request, ReplyFn reply);
  // In memory, and ours as far as is known.
  bool is_ours(SessionId session);
  // The daemon whose session it is, when that is another one; empty: it is ours.
  Result<std::string> owner(SessionId session);
  // Another daemon may have written these sessions; without any: whichever.
  void hint(std::span<const SessionId> sessions);
  // Another daemon may have taken text of these sessions back; without any: of whichever.
  void forget_text(std::span<const SessionId> sessions);

  // The committed state. Loads the session when it is not in memory.
  Result<State> state(SessionId session);
  // The answer that is stored for this key; key_reused when it belongs to another body.
  Result<std::optional<Reply>> stored_reply(const std::string& key, const Hash& body_hash);
  // What is known of the session's execution now.
  Liveness liveness(SessionId session);
  // The same as a client reads it.
  Result<SessionView> view(SessionId session);

  // The committed state of a session that is in memory, else null. Until the loop goes on.
  const State* state_in_memory(SessionId session);
  // What is known beside the session's journal, for those who project its state.
  perdure::World world_of(SessionId session);
  // Readers of the session's records now (U10).
  std::size_t connections(SessionId session);
  // The list of all sessions.
  SessionList& sessions() { return *sessions_; }
  // For the reads of this folder; nobody else looks into the journal.
  Store& store();
  Loop& loop();
  // Expires with the runtime.
  std::weak_ptr<bool> alive() const;

  // A record of the session was redacted: what is kept of it for readers goes.
  void forget_recent(SessionId session);
  // For redact_records(). Runs this when no commit of the session is under way; an error when the
  // session cannot be loaded, or is another daemon's.
  Result<> between_commits(SessionId session, std::move_only_function<void()> run);
  // Goes on with this state, which is the present one without some text, and stores what the list
  // shows of it. Between commits only.
  void replace_text(SessionId session, State state, std::move_only_function<void(Result<>)> done);
  // Whether a command to the session's agent that is not known to be done holds one of these.
  bool sends_any(SessionId session, std::span<const std::string> texts);
  // Takes a session away for good, its readers are cut. For remove_session(), which has made sure
  // that nothing of it lives: `conflict` otherwise, `unavailable` while a commit of it is under
  // way. Not from inside a call of the runtime's.
  Result<> erase(SessionId session);

  // Records behind `after`: replay, then live, one order, no gap (STREAM1). A cursor beyond the
  // head, or of another log, is cursor_invalid. The sink must outlive the subscription.
  Result<SubscriptionId> subscribe(SessionId session, Seq after, const std::string& log_id,
                                   RecordSink& sink);
  // Forgets the reader; no call to its sink follows.
  void unsubscribe(SubscriptionId subscription);
  // The sink has room again.
  void drained(SubscriptionId subscription);

  // Told on the loop after each commit of a session, and when the link to its agentctl comes or
  // goes; until the number is given to unwatch(). Not from inside a call of the caller's.
  using OnChanged = std::function<void(SessionId session)>;
  std::uint64_t watch(OnChanged changed);
  void unwatch(std::uint64_t number) { watchers_.erase(number); }

  // Copies records 1…at into a new session, closes what was open, starts nothing.
  void fork(SessionId from, Seq at, SessionId to, const std::string& by, ReplyFn reply);

  // Makes a new session out of an exported one: everything open is closed, it is stopped, and has
  // neither folder nor agent nor anything that could run until a person binds them. Asked again for
  // the same `to`, it answers with what is there.
  void import_session(ParsedExport file, SessionId to, const std::string& by, ReplyFn reply);
  // The same of a session that another program left: bound at once to agent and folder, and with
  // the agent's own session, so that a resume can ask for that. One that is there already answers
  // `nothing_to_do`; one without a turn is refused: invalid_argument.
  void adopt_session(ParsedExport file, SessionId to, const std::string& by, AdoptedBinding binding,
                     ReplyFn reply);

  // Sessions that could not be loaded, with the reason; all others are served (G9).
  const std::map<SessionId, Error>& damaged() const { return damaged_; }
  std::uint64_t dropped_frames() const;
  const EventCounts& counts() const;
  bool is_ready() const { return ready_; }

  // The session that a permission or a wait token belongs to, by the text of its id; not_found.
  Result<SessionId> find_session(std::string_view ref);

  // The secret of a wait token, for those who may answer.
  std::string wait_secret(WaitTokenId token) const;

  void on_attached(const ExecKey& exec) override;
  void on_frame(const ExecKey& exec, Frame frame) override;
  void on_commands_acted(const ExecKey& exec, std::uint64_t number) override;
  void on_detached(const ExecKey& exec) override;
  void on_gone(const ExecKey& exec, const ExecEnding& ending) override;

 private:
  // A session as it is known here: ours, or another daemon's that is read along.
  struct Seat {
    const State& state;
    Readers& readers;
    SessionActor* actor = nullptr;
    SessionFollower* follower = nullptr;
  };
  // Loads it when it is not in memory; of another's, reads what is new.
  Result<Seat> seat(SessionId session);
  std::optional<Seat> seat_in_memory(SessionId session);
  Result<SessionActor*> actor(SessionId session);
  SessionActor* loaded(SessionId session);

  // Of a shared store (sharing.cc).
  Result<Seat> load(SessionId session);
  // As load_session(); what is damaged is named from then on.
  Result<LoadedSession> load_journal(SessionId session);
  Result<SessionActor*> make_actor(SessionId session, std::uint64_t epoch);
  Result<SessionActor*> actor_for_command(SessionId session, const InputBody& body);
  void hand_over(SessionId session, Request request, ReplyFn reply, int tries);
  struct Handed;
  void ask_peer(Handed what);
  std::optional<std::string> who_decides(SessionId session, const InputBody& body);
  void hand_over_again(Handed& handed);
  void watch_handed(const std::shared_ptr<Handed>& handed);
  // Whether there is, or may be, more of it than this daemon knows.
  bool is_behind(SessionId session, Seq head);
  void look_around();
  void look_around_later();
  // False when the store does not say whose it is.
  bool take_orphan(SessionId session);
  void take_missed();
  // Whether it is ours then; an error when nobody can say, or it cannot be read.
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
  std::set<SessionId> lost_;           // to be read along from the next turn of the loop on
  std::map<SessionId, ExecId> taken_;  // from another daemon or a life before; not settled yet
  std::set<SessionId> missed_;         // ours, or perhaps ours: the store was away
  bool is_listed_ = false;             // which there are was asked at boot
  Loop::TimerId look_timer_ = 0;
  std::uint64_t looks_ = 0;
  std::map<SubscriptionId, SessionId> subscriptions_;
  SubscriptionId last_subscription_ = 0;
  void tell_watchers(SessionId session);

  std::map<std::uint64_t, OnChanged> watchers_;
  std::uint64_t last_watcher_ = 0;
  std::map<SessionId, Error> damaged_;
  std::set<SessionId> unsettled_;
  std::vector<std::pair<SessionId, ExecId>> resume_at_boot_;   // and which execution was lost
  std::vector<std::pair<SessionId, ExecId>> refused_at_boot_;  // by the store; asked again later
  std::set<SessionId> asked_at_boot_;                          // and not heard of yet
  bool is_making_room_ = false;
  std::move_only_function<void()> on_ready_;
  Loop::TimerId probe_timer_ = 0;
  Loop::TimerId boot_timer_ = 0;
  bool booting_ = false;
  bool ready_ = false;
};

}  // namespace perdure
