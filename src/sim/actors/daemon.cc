#include "sim/actors/daemon.h"

#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "daemon/runtime/shared.h"
#include "sim/actors/newer_version.h"

namespace perdure::sim {
namespace {

constexpr std::uint64_t crashes_max = 150;  // afterwards it stays up, so that a run advances
constexpr std::int64_t cut_look_ms = 50;
constexpr std::int64_t idle_ms_max = 2'000;
// Q5: it probes for two seconds, then serves; the rest covers slow commits of reconcile.
constexpr std::int64_t recovery_ms_max = reconcile_probe_ms + 1;

}  // namespace

Daemon::Parts::Parts(const World& world, const DaemonSeat& seat, std::shared_ptr<Life> of,
                     Ends ends)
    : life(std::move(of)),
      loop(world.universe.scheduler, life),
      store(world.universe, world.judge, life,
            world.disk.open(std::move(ends.on_fatal),
                            {.node = seat.node,
                             .home = seat.home,
                             .lease_ms = seat.lease_ms,
                             .now_ms = [&u = world.universe] { return u.scheduler.now_ms(); },
                             .on_cut = std::move(ends.on_cut)})),
      agentctls(world.host.make_port(life, loop,
                                     [this](SessionId session, std::uint64_t epoch) {
                                       return check_still_ours(store, {session, epoch}).has_value();
                                     })),
      notifier(world.judge, life),
      peers(seat.make_peers ? seat.make_peers(life, loop) : nullptr) {}

Daemon::Daemon(World world, DaemonSeat seat)
    : universe_(world.universe),
      disk_(world.disk),
      host_(world.host),
      judge_(world.judge),
      seat_(std::move(seat)),
      random_(universe_.prng.fork()),
      sessions_in_memory_(universe_.faults.sessions_in_memory) {}

Daemon::~Daemon() {
  if (parts_) parts_->life->dead = true;
}

Runtime* Daemon::serving() {
  Runtime* const found = runtime();
  if (!found || parts_->life->paused_until_ms > universe_.scheduler.now_ms()) return nullptr;
  return found->is_ready() ? found : nullptr;
}

BootId Daemon::new_boot_id() {
  IdSource ids(universe_.clock.now().wall, random_.next());
  return ids.next<BootId>();
}

RuntimeConfig Daemon::make_config() const {
  RuntimeConfig config{
      .boot = boot_id_, .wait_key = "sim wait key", .resume_parallel = 1, .home = seat_.home};
  if (sessions_in_memory_ > 0) config.actors_max = config.followed_max = sessions_in_memory_;
  return config;
}

void Daemon::start() {
  auto life = std::make_shared<Life>(Life{.number = ++universe_.lives});
  universe_.trace.note("daemon", life->number, [&] {
    return seat_.node + " starts, life " + std::to_string(life->number);
  });
  const Acting acting(universe_.scheduler, life);
  const auto on_fatal = [this, life](const Error&) {
    // DISK1: the process is gone within 1 s.
    universe_.after(universe_.prng.between(0, 900), [this, life] {
      if (!life->dead) crash("after a failed sync");
    });
  };
  const auto on_cut = [this, life] {
    if (!life->dead) crash("in the middle of a write");
  };
  boot_id_ = new_boot_id();
  parts_ = std::make_unique<Parts>(World{universe_, disk_, host_, judge_}, seat_, life,
                                   Parts::Ends{on_fatal, on_cut});
  parts_->store.set_boot(boot_id_);
  parts_->store.cut_until(cut_until_ms_);
  const bool is_downgrade = life->number > 1 && !is_one_of_several() && !universe_.healed &&
                            universe_.later_prng.chance(universe_.faults.newer_version);
  if (is_downgrade || std::exchange(universe_.newer_version_is_next, false)) {
    parts_->store.run_newer_version(universe_.clock.now().wall);
    if (life->dead) return;
  }
  if (is_one_of_several()) parts_->store.beat_every(seat_.lease_ms / 5);
  parts_->runtime = std::make_unique<Runtime>(
      Runtime::World{universe_.clock, random_, parts_->loop, universe_.files, parts_->store,
                     *parts_->agentctls, parts_->notifier, parts_->peers.get()},
      make_config());
  parts_->events = std::make_unique<EventsPort>(universe_, *parts_->runtime);
  parts_->agentctls->set_events(*parts_->events);
  const std::int64_t started_ms = universe_.scheduler.now_ms();
  parts_->runtime->boot([this, life, started_ms] {
    if (!life->dead) on_ready(life, started_ms);
  });
  check_recovery_bound(life);
}

// C1: before the daemon serves, reconcile has found every execution of an earlier life, or has
// searched for two seconds.
void Daemon::on_ready(const LifePtr& life, std::int64_t started_ms) {
  universe_.trace.note("daemon", life->number, [] { return "serves"; });
  parts_->store.set_recovered();
  served_life_ = life->number;
  if (universe_.scheduler.now_ms() - started_ms >= reconcile_probe_ms) return;
  for (const auto& [session, book] : judge_.ledgers()) {
    // Half a fork is not a session yet: its records describe another session's executions.
    if (judge_.is_damaged(session) || book->is_copying()) continue;
    if (is_one_of_several() && !parts_->runtime->is_ours(session)) continue;
    const Execution& exec = book->fold().exec;
    const bool may_live =
        exec.status != ExecutorStatus::none && !exec.gone && exec.home == seat_.home;
    universe_.verdict.expect(
        !may_live || exec.boot == boot_id_ || host_.was_found({session, exec.id, exec.gen}, life),
        "Q5", [&] { return tail(session) + ": serves before its execution was looked for"; });
  }
}

void Daemon::check_recovery_bound(const LifePtr& life) {
  if (is_one_of_several()) return;   // it may be paused, or wait for another daemon's lease
  if (!disk_.has_open_sessions()) {  // nothing to reconcile: it serves at once
    universe_.after_awake_in(life, 10, [this] {
      universe_.verdict.expect(parts_->runtime->is_ready(), "Q5",
                               [] { return std::string("waits for nothing before it serves"); });
    });
  }
  universe_.after_awake_in(life, recovery_ms_max, [this, life] {
    universe_.verdict.expect(parts_->runtime->is_ready() && served_life_ == life->number, "Q5",
                             [] { return std::string("recovery takes longer than its bound"); });
  });
}

void Daemon::reach(CrashPoint point) {
  if (!runtime() || universe_.healed || crashes_ >= crashes_max) return;
  const bool armed = (universe_.faults.crash_armed >> static_cast<std::uint64_t>(point)) & 1;
  if (!armed || !universe_.prng.chance(universe_.faults.crash_point)) return;
  static constexpr const char* names[] = {"before a commit", "after a commit", "after a reply",
                                          "between effects", "in recovery",    "at a probe"};
  crash(names[static_cast<std::size_t>(point)]);
}

void Daemon::maybe_crash() {
  if (crashes_ < crashes_max && universe_.prng.chance(universe_.faults.crash_step))
    crash("at a step");
}

void Daemon::crash(const char* why) {
  if (!parts_ || parts_->life->dead) return;
  // If several daemons share a machine, it does not reboot under one of them.
  if (!is_one_of_several() && universe_.prng.chance(universe_.faults.reboot)) return reboot(why);
  universe_.trace.note("daemon", crashes_ + 1, [&] { return std::string("dies ") + why; });
  die([] {});
}

void Daemon::reboot(const char* why) {
  if (!parts_ || parts_->life->dead) return;
  universe_.trace.note("daemon", crashes_ + 1,
                       [&] { return std::string("the host reboots ") + why; });
  die([this] {
    ++reboots_;
    host_.reboot();
    universe_.clock.reboot();
  });
}

void Daemon::die(const std::function<void()>& with_it) {
  ++crashes_;
  parts_->life->dead = true;
  const bool loses = universe_.prng.chance(universe_.faults.lose_tail);
  const CrashChoice choice = loses ? CrashChoice::lose_tail : CrashChoice::keep_tail;
  if (is_one_of_several()) {
    disk_.crash_one(parts_->store.epoch(), choice);
  } else {
    disk_.crash(choice);
  }
  judge_.on_crash(parts_->life->number);
  with_it();
  universe_.after(universe_.delay(universe_.faults.restart_ms_max), [this] {
    if (!runtime() && !stays_down_) start();
  });
}

void Daemon::leave() {
  crash("and stays down");
  stays_down_ = true;
}

void Daemon::reap() {
  if (parts_ && parts_->life->dead) parts_.reset();
}

void Daemon::pause(std::int64_t ms) {
  if (!serving()) return;
  universe_.trace.note("daemon", parts_->life->number, [&] {
    return seat_.node + " is stopped for " + std::to_string(ms) + " ms";
  });
  parts_->life->paused_until_ms = universe_.scheduler.now_ms() + ms;
}

void Daemon::cut(std::int64_t ms) {
  if (!runtime()) return;
  universe_.trace.note("daemon", parts_->life->number, [&] {
    return seat_.node + " is cut off from the disk for " + std::to_string(ms) + " ms";
  });
  cut_until_ms_ = universe_.scheduler.now_ms() + ms;
  parts_->store.cut_until(cut_until_ms_);
}

void Daemon::heal() {
  reap();
  stays_down_ = false;
  if (!runtime()) start();
  parts_->life->paused_until_ms = 0;
}

void EventsPort::on_detached(const ExecKey& exec) {
  runtime_.on_detached(exec);
  expect_unheard(exec);
}

void EventsPort::on_gone(const ExecKey& exec, const ExecEnding& ending) {
  runtime_.on_gone(exec, ending);
  expect_unheard(exec);
}

void EventsPort::expect_unheard(const ExecKey& exec) {
  const State* const state = runtime_.state_in_memory(exec.session);
  if (!state || state->exec.id != exec.exec || !runtime_.is_ours(exec.session)) return;
  universe_.verdict.expect(runtime_.liveness(exec.session) != Liveness::alive, "C19", [&] {
    return tail(exec.session) + ": its link is gone, and it is called alive";
  });
}

void StorePort::beat_every(std::int64_t ms) {
  if (!is_cut()) inner_->beat();
  universe_.after_in(life_, ms, [this, ms] { beat_every(ms); });
}

void StorePort::append(Append batch, Done done) {
  if (life_->dead) return;
  universe_.crash_point(CrashPoint::before_commit);
  if (life_->dead) return;
  const SessionId session = batch.session;
  const Judge::BatchNumber number = judge_.on_append(batch, {life_->number, boot_});
  inner_->append(std::move(batch), [this, life = life_, session, number,
                                    done = std::move(done)](Result<> result) mutable {
    if (life->dead) return;
    universe_.verdict.expect(!result || !life->sync_failed, "DISK1", [&] {
      return tail(session) + ": a commit is acknowledged after a failed sync";
    });
    universe_.trace.note("disk", result ? 1 : 0, [&] {
      return tail(session) + (result ? " commits" : " refused: " + result.error().message());
    });
    if (result) judge_.catch_up(session);
    judge_.on_ended(session, number);
    universe_.crash_point(CrashPoint::after_commit);
    if (!life->dead && done) done(std::move(result));
  });
  schedule_step();
}

void StorePort::run_newer_version(Timestamp at) {
  for (const auto& [session, book] : judge_.ledgers()) {
    const bool may_write =
        book->records() > 0 && !book->is_copying() && !judge_.is_damaged(session);
    if (!may_write || !universe_.later_prng.chance(500'000)) continue;
    const Result<RecordPage> last =
        inner_->store().read(session, {.after = book->records() - 1, .limit = 1});
    CHECK(last.has_value(), last ? "" : last.error().message());
    Append batch{.session = session,
                 .epoch = epoch(),
                 .expected_head = book->records(),
                 .records = newer_records(last->records.front(), at, universe_.later_prng)};
    universe_.trace.note("daemon", batch.records.size(),
                         [&] { return "a newer version writes to " + tail(session); });
    const Judge::BatchNumber number = judge_.on_append(batch, {life_->number, boot_});
    inner_->append(std::move(batch), [this, session, number](const Result<>& result) {
      if (life_->dead) return;
      CHECK(result.has_value(), result ? "" : result.error().message());
      judge_.catch_up(session);
      judge_.on_ended(session, number);
    });
    inner_->inject(CommitFault::none);
    inner_->step();
    if (life_->dead) return;
  }
}

void StorePort::schedule_step() {
  if (scheduled_) return;
  scheduled_ = true;
  universe_.after_in(life_, universe_.delay(10), [this] { step(); });
}

CommitFault StorePort::draw_fault() {
  if (universe_.disk_full_until_ms > universe_.scheduler.now_ms()) return CommitFault::disk_full;
  if (universe_.prng.chance(universe_.faults.sync_eio)) return CommitFault::eio_unknown;
  if (universe_.prng.chance(universe_.faults.sync_slow)) return CommitFault::slow_sync;
  if (universe_.prng.chance(universe_.faults.disk_full)) {
    universe_.disk_full_until_ms = universe_.scheduler.now_ms() + universe_.prng.between(1, 30'000);
    universe_.was_disk_full = true;
    return CommitFault::disk_full;
  }
  return CommitFault::none;
}

void StorePort::step() {
  scheduled_ = false;
  if (is_cut()) {
    scheduled_ = true;
    universe_.after_in(life_, cut_look_ms, [this] { step(); });
    return;
  }
  const CommitFault fault = draw_fault();
  step_with(fault);
  if (life_->dead) return;
  schedule_idle_step();
  if (inner_->is_idle()) return;
  if (fault != CommitFault::slow_sync) return schedule_step();
  scheduled_ = true;
  universe_.after_in(life_, universe_.prng.between(1, 2000), [this] { step(); });
}

void StorePort::schedule_idle_step() {
  if (idle_scheduled_ || !inner_->wants_idle_step()) return;
  idle_scheduled_ = true;
  universe_.after_in(life_, universe_.delay(idle_ms_max), [this] {
    idle_scheduled_ = false;
    inner_->inject(draw_fault());
    inner_->idle_step();
    if (!life_->dead) schedule_idle_step();
  });
}

// DISK1: after a failed sync, a store of this life does nothing more.
void StorePort::step_with(CommitFault fault) {
  const bool had_failed = life_->sync_failed;
  if (inner_->fails_by(fault)) life_->sync_failed = true;
  inner_->inject(fault);
  const bool did = inner_->step();
  universe_.verdict.expect(!had_failed || !did, "DISK1",
                           [] { return std::string("a second sync after a failed one"); });
}

bool StorePort::is_cut() const {
  return !universe_.healed && cut_until_ms_ > universe_.scheduler.now_ms();
}

Result<> StorePort::reach() const {
  if (is_cut()) return fail(Code::unavailable, "the store cannot be reached");
  return {};
}

// S9: a boot reads what follows the snapshot. Telling the history to an agent reads from before it.
void StorePort::check_read_in_recovery(SessionId session, const ReadRange& range) {
  if (recovered_ || judge_.may_lack_snapshot(session)) return;
  const Result<std::optional<StoredSnapshot>> stored = inner_->store().snapshot(session);
  if (!stored || !*stored) return;
  universe_.verdict.expect(range.after + 1 >= (*stored)->seq, "S9", [&] {
    return tail(session) + ": a boot reads from " + std::to_string(range.after) +
           " what the snapshot at " + std::to_string((*stored)->seq) + " has";
  });
}

Result<RecordPage> StorePort::read(SessionId session, ReadRange range) {
  read_in_recovery();
  TRY_VOID(reach());
  check_read_in_recovery(session, range);
  return inner_->store().read(session, range);
}
Result<SessionHead> StorePort::head(SessionId session) {
  read_in_recovery();
  TRY_VOID(reach());
  return inner_->store().head(session);
}
Result<std::optional<StoredSnapshot>> StorePort::snapshot(SessionId session) {
  TRY_VOID(reach());
  return inner_->store().snapshot(session);
}
Result<std::vector<OutboxRow>> StorePort::outbox(SessionId session) {
  read_in_recovery();
  TRY_VOID(reach());
  return inner_->store().outbox(session);
}
Result<std::optional<StoredAnswer>> StorePort::answer(std::string_view key) {
  TRY_VOID(reach());
  return inner_->store().answer(key);
}
Result<std::optional<SessionId>> StorePort::find_ref(std::string_view ref) {
  TRY_VOID(reach());
  return inner_->store().find_ref(ref);
}
Result<std::string> StorePort::blob(const Hash& hash) {
  TRY_VOID(reach());
  return inner_->store().blob(hash);
}
Result<std::vector<SessionId>> StorePort::open_sessions() {
  read_in_recovery();
  TRY_VOID(reach());
  return inner_->store().open_sessions();
}
Result<std::vector<ListedSession>> StorePort::list(SessionId after, std::size_t limit) {
  TRY_VOID(reach());
  return inner_->store().list(after, limit);
}
Result<Lease> StorePort::own(SessionId session) {
  TRY_VOID(reach());
  return inner_->store().own(session);
}
Result<std::vector<SessionId>> StorePort::orphans(std::size_t limit) {
  TRY_VOID(reach());
  return inner_->store().orphans(limit);
}
Result<std::vector<SessionId>> StorePort::lost(std::span<const OwnedSession> owned) {
  TRY_VOID(reach());
  return inner_->store().lost(owned);
}
Result<> StorePort::offer(const OwnedSession& owned, const std::string& home) {
  TRY_VOID(reach());
  return inner_->store().offer(owned, home);
}
Result<std::vector<SearchHit>> StorePort::search(const SearchAsk& ask) {
  return inner_->store().search(ask);
}
Result<> StorePort::remove(SessionId session) {
  Result<> removed = inner_->remove(session);
  if (removed) judge_.on_removed(session);
  return removed;
}

}  // namespace perdure::sim
