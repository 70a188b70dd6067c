// The keeper of a daemon: starts it, crashes it at any moment and starts it again. Actions of a
// dead daemon's code have no effect; its disk decides what survives of the last group.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/runtime/runtime.h"
#include "sim/judges/judge.h"
#include "sim/world/disk.h"
#include "sim/world/host.h"
#include "sim/world/universe.h"

namespace perdure::sim {

// The store as the runtime sees it: the real engine, observed by the judge, with injected faults
// and steps at times that the seed chooses.
class StorePort final : public Store {
 public:
  StorePort(Universe& universe, Judge& judge, std::shared_ptr<Life> life,
            std::unique_ptr<SteppedStore> inner)
      : universe_(universe), judge_(judge), life_(std::move(life)), inner_(std::move(inner)) {}

  void set_boot(BootId boot) { boot_ = boot; }
  // Sends signs of life from now on.
  void beat_every(std::int64_t ms);

  // With several daemons: cuts this one off from the disk until then: reads fail, commits wait, and
  // it sends no signs of life.
  void cut_until(std::int64_t ms) { cut_until_ms_ = ms; }
  bool is_cut() const;
  // Recovery is over: later reads do not count as part of it.
  void set_recovered() { recovered_ = true; }

  // A newer version of the daemon ran before this life and wrote to some sessions.
  void run_newer_version(Timestamp at);

  void append(Append batch, Done done) override;
  Result<RecordPage> read(SessionId session, ReadRange range) override;
  Result<SessionHead> head(SessionId session) override;
  Result<std::optional<StoredSnapshot>> snapshot(SessionId session) override;
  Result<std::vector<OutboxRow>> outbox(SessionId session) override;
  Result<std::optional<StoredAnswer>> answer(std::string_view key) override;
  Result<std::optional<SessionId>> find_ref(std::string_view ref) override;
  Result<std::string> blob(const Hash& hash) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) override;
  Result<std::vector<SearchHit>> search(const SearchAsk& ask) override;
  Result<> remove(SessionId session) override;
  Result<> redact(Redaction redaction) override {
    return inner_->store().redact(std::move(redaction));
  }
  bool is_shared() const override { return inner_->store().is_shared(); }
  Result<Lease> own(SessionId session) override;
  Result<std::vector<SessionId>> orphans(std::size_t limit) override;
  Result<std::vector<SessionId>> lost(std::span<const OwnedSession> owned) override;
  Result<> offer(const OwnedSession& owned, const std::string& home) override;
  std::uint64_t epoch() const override { return inner_->store().epoch(); }
  const std::string& log_id() const override { return inner_->store().log_id(); }

 private:
  void schedule_step();
  void step();
  // Later and less often than steps.
  void schedule_idle_step();
  CommitFault draw_fault();
  void step_with(CommitFault fault);
  void read_in_recovery() {
    if (!recovered_) universe_.crash_point(CrashPoint::in_recovery);
  }
  Result<> reach() const;
  void check_read_in_recovery(SessionId session, const ReadRange& range);

  Universe& universe_;
  Judge& judge_;
  std::shared_ptr<Life> life_;
  std::unique_ptr<SteppedStore> inner_;
  BootId boot_;
  std::int64_t cut_until_ms_ = 0;
  bool scheduled_ = false;
  bool idle_scheduled_ = false;
  bool recovered_ = false;
};

// Delivers the host's events to the runtime, which must apply them at once (C19).
class EventsPort final : public AgentctlEvents {
 public:
  EventsPort(Universe& universe, Runtime& runtime) : universe_(universe), runtime_(runtime) {}

  void on_attached(const ExecKey& exec) override { runtime_.on_attached(exec); }
  void on_frame(const ExecKey& exec, Frame frame) override {
    runtime_.on_frame(exec, std::move(frame));
  }
  void on_commands_acted(const ExecKey& exec, std::uint64_t number) override {
    runtime_.on_commands_acted(exec, number);
  }
  void on_detached(const ExecKey& exec) override;
  void on_gone(const ExecKey& exec, const ExecEnding& ending) override;

 private:
  void expect_unheard(const ExecKey& exec);

  Universe& universe_;
  Runtime& runtime_;
};

// One of several daemons: its name, its agents' home, and its connection to the others.
struct DaemonSeat {
  std::string node = {};
  std::string home = {};
  std::int64_t lease_ms = 0;
  std::function<std::unique_ptr<Peers>(LifePtr from, Loop& loop)> make_peers = {};
};

class Daemon {
 public:
  struct World {
    Universe& universe;
    Disk& disk;
    Host& host;
    Judge& judge;
  };
  Daemon(World world, DaemonSeat seat);
  ~Daemon();

  // Starts it now.
  void start();
  // Ends it now, like kill -9 (or, if drawn, a power cut); it is restarted after a while.
  void crash(const char* why);
  // The same, but it stays down until heal().
  void leave();
  // The same for the whole machine.
  void reboot(const char* why);
  // Crashes with the seed's probability, as after any step.
  void maybe_crash();
  // Stops it for a while, as with SIGSTOP.
  void pause(std::int64_t ms);
  // Cuts it off from the disk for a while, even across a restart.
  void cut(std::int64_t ms);
  bool is_cut() const { return parts_ && parts_->store.is_cut(); }
  // A marked place where it may crash.
  void reach(CrashPoint point);
  // Between two steps: removes the remains of a dead one.
  void reap();
  // Ends all faults. Starts the daemon if it is down.
  void heal();

  // Null while it is down. The code is real and may be called.
  Runtime* runtime() { return parts_ && !parts_->life->dead ? parts_->runtime.get() : nullptr; }
  // Null before it serves and while it is paused.
  Runtime* serving();
  const std::string& node() const { return seat_.node; }
  LifePtr life() const { return parts_ ? parts_->life : nullptr; }
  std::uint64_t crashes() const { return crashes_; }
  std::uint64_t reboots() const { return reboots_; }
  BootId boot_id() const { return boot_id_; }

 private:
  struct NotifierPort final : Notifier {
    NotifierPort(Judge& to, LifePtr of) : judge(to), life(std::move(of)) {}
    void notify(SessionId session, const Notify& what) override {
      if (!life->dead) judge.note_told(session, what);
    }
    Judge& judge;
    LifePtr life;
  };
  struct Parts {
    struct Ends {
      std::function<void(const Error&)> on_fatal;
      std::function<void()> on_cut;
    };
    Parts(const World& world, const DaemonSeat& seat, std::shared_ptr<Life> of, Ends ends);
    std::shared_ptr<Life> life;
    LifeLoop loop;
    StorePort store;
    std::unique_ptr<AgentctlPort> agentctls;
    NotifierPort notifier;
    std::unique_ptr<Peers> peers;
    std::unique_ptr<Runtime> runtime;
    std::unique_ptr<EventsPort> events;
  };

  bool is_one_of_several() const { return !seat_.node.empty(); }
  void die(const std::function<void()>& with_it);
  void check_recovery_bound(const LifePtr& life);
  BootId new_boot_id();
  RuntimeConfig make_config() const;
  void on_ready(const LifePtr& life, std::int64_t started_ms);

  Universe& universe_;
  Disk& disk_;
  Host& host_;
  Judge& judge_;
  DaemonSeat seat_;
  SimRandom random_;
  std::size_t sessions_in_memory_ = 0;  // 0: the default
  std::unique_ptr<Parts> parts_;
  BootId boot_id_;
  bool stays_down_ = false;
  std::int64_t cut_until_ms_ = 0;
  std::uint64_t served_life_ = 0;
  std::uint64_t crashes_ = 0;
  std::uint64_t reboots_ = 0;
};

}  // namespace perdure::sim
