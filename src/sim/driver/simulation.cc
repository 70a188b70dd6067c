#include "sim/driver/simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/probe.h"
#include "sim/actors/daemons.h"
#include "sim/actors/workload.h"
#include "sim/driver/probes.h"
#include "sim/judges/cancel_watch.h"
#include "sim/judges/judge.h"
#include "sim/judges/read_check.h"
#include "sim/world/disk.h"
#include "sim/world/host.h"
#include "sim/world/real_host.h"
#include "sim/world/scripted_host.h"
#include "sim/world/universe.h"

namespace perdure::sim {
namespace {

constexpr std::uint64_t heal_steps_max = 60'000;
constexpr std::int64_t heal_ms_max = 30 * 60'000;
constexpr std::int64_t care_every_ms = 2'000;
// A lease and the preceding heartbeat, two polls, and the cost of slow commits of reconcile.
constexpr std::int64_t takeover_ms = 8'000;
// A restart, a reconnect, and a disk that was full.
constexpr std::int64_t frames_ms_max = 10'000;

// An agentctl that was stopped may continue this much later.
constexpr std::int64_t pause_ms_max = 60'000;
constexpr std::int64_t stall_ms_max = 60'000;  // of a daemon

constexpr std::uint64_t scripted_every_seeds = 4;
constexpr std::uint64_t reboot_every_seeds = 5;
constexpr std::uint64_t several_every_seeds = 6;
constexpr std::uint64_t cancel_every_seeds = 3;
constexpr std::uint64_t fork_every_seeds = 5;

// Several daemons need real agentctls: the scripted ones only know one daemon.
std::size_t daemons_of(std::uint64_t seed, const SeedOptions& options) {
  if (options.store == StoreKind::sqlite) return 1;
  if (options.daemons > 0) return options.daemons;
  if (seed % several_every_seeds != 1) return 1;
  return 2 + seed / several_every_seeds % 2;
}

bool is_scripted(std::uint64_t seed, AgentctlKind kind) {
  if (kind == AgentctlKind::by_seed) return seed % scripted_every_seeds == 0;
  return kind == AgentctlKind::scripted;
}

std::unique_ptr<Host> make_host(bool scripted, Universe& universe, Judge& judge) {
  if (scripted) return std::make_unique<ScriptedHost>(universe, judge);
  return std::make_unique<RealHost>(universe, judge);
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SeedOptions& options)
      : options_(options),
        reboots_in_mid_turn_(seed % reboot_every_seeds == 0 && daemons_of(seed, options) == 1),
        cancels_in_mid_turn_(seed % cancel_every_seeds == 0),
        forks_all_(seed % fork_every_seeds == 2 && daemons_of(seed, options) == 1),
        is_scripted_(is_scripted(seed, options.agentctls) && daemons_of(seed, options) == 1),
        universe_(seed),
        disk_(options.store == StoreKind::sqlite ? make_sqlite_disk(universe_, seed)
                                                 : make_memory_disk()),
        judge_(universe_, *disk_),
        host_(make_host(is_scripted_, universe_, judge_)),
        daemons_({universe_, *disk_, *host_, judge_}, daemons_of(seed, options)),
        workload_(universe_, judge_, daemons_),
        sessions_in_memory_(universe_.faults.sessions_in_memory) {
    judge_.set_host(*host_);
    universe_.trace.set_printing(options.trace);
    on_probe([this](std::string_view name) {
      // The store's probes lie inside its commit, where the disk decides about a crash; the
      // simulator's own probes are not places in the daemon.
      if (!name.starts_with("store:") && !name.starts_with("sim:"))
        universe_.crash_point(CrashPoint::at_probe);
    });
  }
  ~Simulation() {
    on_probe({});
    universe_.scheduler.close();
  }

  SeedResult run() {
    universe_.trace.note("sim", 0, [&] {
      const bool is_sqlite = options_.store == StoreKind::sqlite;
      return std::string(is_sqlite ? "store: sqlite, " : "") + "faults: " + universe_.faults.text();
    });
    daemons_.start();
    workload_.start();
    safety_phase();
    const std::uint64_t safety_steps = steps_;
    if (!is_bad()) liveness_phase();
    if (!is_bad() && reboots_in_mid_turn_) reboot_in_mid_turn();
    if (!is_bad() && daemons_.are_several()) lose_one_in_mid_turn();
    if (!is_bad() && is_scripted_) meddle_in_mid_turn();
    if (!is_bad() && forks_all_) fork_all();
    if (!is_bad()) last_restart();
    if (!is_bad() && !daemons_.are_several() && sessions_in_memory_ > 0) check_memory();
    if (!is_bad() && cancels_in_mid_turn_) cancel_in_mid_turn();
    if (!is_bad()) delete_all();
    SeedResult result{.steps = steps_,
                      .safety_steps = safety_steps,
                      .crashes = daemons_.crashes(),
                      .violation = universe_.verdict.first()};
    for (const auto& [session, book] : judge_.ledgers()) result.records += book->records();
    result.trace_hash = universe_.trace.hash();
    return result;
  }

 private:
  bool is_bad() const { return universe_.verdict.is_bad(); }

  void step() {
    ++steps_;
    universe_.trace.begin_step(steps_, universe_.scheduler.next_time_ms());
    universe_.verdict.set_step(steps_);
    universe_.scheduler.run_next();
    daemons_.reap();
    host_->reap();
    if (universe_.healed) {
      watch_cancels();
    } else {
      hurt();
    }
    if (steps_ % 16 == 0 && !nobody_looks_) check_one_state();
  }

  void safety_phase() {
    while (!is_bad() && steps_ < options_.steps_max && !workload_.is_done()) step();
  }

  void hurt() {
    Prng& prng = universe_.prng;
    daemons_.hurt();
    host_->maybe_hurt();
    host_->reap();
    if (prng.chance(universe_.faults.clock_jump))
      universe_.clock.jump_wall(prng.between(-3'600'000, 3'600'000));
    if (!daemons_.are_several()) lose_time();
    if (prng.chance(universe_.faults.bit_flip)) flip_bit();
    if (prng.chance(universe_.faults.snapshot_flip)) flip_snapshot_bit(any_session());
  }

  // X23, H2. Several daemons are stopped one at a time, by Daemons::hurt().
  void lose_time() {
    Prng& prng = universe_.later_prng;
    if (prng.chance(universe_.faults.suspend)) {
      static constexpr std::int64_t longest_ms[] = {2'000, 60'000, 3'600'000};
      universe_.suspend(prng.between(1, longest_ms[prng.below(std::size(longest_ms))]));
    }
    // Scripted agentctls would also call into a stopped daemon.
    if (!is_scripted_ && prng.chance(universe_.faults.daemon_stall))
      daemons_.stall(prng.between(1, stall_ms_max));
  }

  void watch_cancels() {
    if (universe_.scheduler.now_ms() < watch_from_ms_) return;
    for (const auto& [session, book] : judge_.ledgers()) {
      if (judge_.is_damaged(session)) continue;
      cancels_.look(session, book->cancelling(), {universe_.scheduler.now_ms(), universe_.lives});
    }
  }

  void flip_snapshot_bit(SessionId session) {
    disk_->flip_snapshot_bit(session);
    judge_.set_snapshot_damaged(session);
  }

  void flip_bit() {
    universe_.faults.bit_flip = 0;  // only once
    const SessionId session = any_session();
    if (!session) return;
    const Seq seq = 1 + universe_.prng.below(judge_.ledger(session).records());
    if (!disk_->flip_bit(session, seq)) return;
    universe_.trace.note(
        "disk", seq, [&] { return "a bit flips in " + tail(session) + "/" + std::to_string(seq); });
    judge_.set_damaged(session);
  }

  SessionId any_session() {
    const auto& ledgers = judge_.ledgers();
    if (ledgers.empty()) return {};
    auto at = ledgers.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(universe_.prng.below(ledgers.size())));
    return at->second->records() > 0 ? at->first : SessionId();
  }

  void check_one_state() {
    const SessionId session = any_session();
    if (session) check_state(session);
    if (daemons_.are_several()) daemons_.check_kept();
  }

  void check_state(SessionId session) {
    Daemon* const at = daemons_.any();
    if (!at || judge_.is_damaged(session)) return;
    const LifePtr life = at->life();
    Runtime* const runtime = at->serving();
    const Acting acting(universe_.scheduler, life);
    const Result<State> state = runtime->state(session);
    if (life->dead) return at->reap();
    // A newly created session may be on disk before its actor knows of it; if all is well, the
    // actor knows it the next time.
    const bool unborn = !state && state.error().code() == Code::not_found &&
                        (!universe_.healed || unborn_.insert(session).second);
    // With several daemons, one whose store has failed is about to end.
    const bool is_ending = daemons_.are_several() && !state &&
                           state.error().code() == Code::unavailable && !universe_.healed;
    const bool is_half = judge_.ledger(session).is_copying();  // a fork in progress
    universe_.verdict.expect(state.has_value() || unborn || is_half || is_ending, "DISK3", [&] {
      return tail(session) + " cannot be read: " + state.error().message();
    });
    if (universe_.hears_late) judge_.catch_up(session);
    if (state) judge_.check_state(*state);
    for (const auto& [damaged, error] : runtime->damaged()) {
      universe_.verdict.expect(judge_.is_damaged(damaged), "DISK3", [&] {
        return tail(damaged) + " is called damaged: " + error.message();
      });
    }
    judge_.check_bytes(session, 1 + universe_.prng.below(judge_.ledger(session).records()));
  }

  void liveness_phase() {
    universe_.verdict.set_phase(Phase::liveness);
    universe_.trace.note("sim", 1, [] { return std::string("the world is healed"); });
    universe_.healed = true;
    watch_from_ms_ = universe_.scheduler.now_ms() + pause_ms_max;
    universe_.faults = Faults::none();
    universe_.disk_full_until_ms = 0;
    universe_.files.restore_all();
    host_->heal();
    daemons_.heal();
    if (daemons_.are_several()) {
      wait_for_owners();
    } else {
      wait_for_frames();
    }
    workload_.heal();
    come_to_rest();
    if (is_bad()) return;
    workload_.ask_all_again();
    come_to_rest();
    if (!is_bad()) workload_.check_asked_again();
  }

  // Runs until nothing waits for anything, or the bound is reached.
  void come_to_rest() {
    // Readers at a daemon without the session must receive the records without any poll.
    const bool looked = std::exchange(nobody_looks_, nobody_looks_ || daemons_.are_several());
    come_to_rest_looked_at();
    nobody_looks_ = looked;
  }

  void come_to_rest_looked_at() {
    const std::int64_t deadline_ms = universe_.scheduler.now_ms() + heal_ms_max;
    const std::uint64_t last_step = steps_ + heal_steps_max;
    bool quiet = false;
    schedule_care(quiet);
    while (!is_bad() && !quiet && steps_ < last_step && universe_.scheduler.now_ms() < deadline_ms)
      step();
    run_for(5'000);  // done effects leave the outbox a little later
    check_quiet();
    if (!is_bad() && !quiet) universe_.verdict.fail("Q1", "the world did not come to rest");
  }

  void schedule_care(bool& quiet) {
    universe_.after(care_every_ms, [this, &quiet] {
      quiet = workload_.care() && outboxes_are_empty();
      if (!quiet) schedule_care(quiet);
    });
  }

  bool outboxes_are_empty() {
    for (const auto& [session, book] : judge_.ledgers()) {
      if (!judge_.is_damaged(session) && disk_->outbox_size(session) > 0) return false;
    }
    return true;
  }

  void run_for(std::int64_t ms) {
    const std::int64_t until_ms = universe_.scheduler.now_ms() + ms;
    bool over = false;
    universe_.after(ms, [&over] { over = true; });
    while (!is_bad() && !over && universe_.scheduler.now_ms() <= until_ms) step();
  }

  void check_quiet() {
    for (const auto& [session, book] : judge_.ledgers()) {
      if (is_bad()) return;
      if (judge_.is_damaged(session) || book->records() == 0) continue;
      book->check_quiet();
      universe_.verdict.expect(disk_->outbox_size(session) == 0, "Q2", [&] {
        return tail(session) + ": " + std::to_string(disk_->outbox_size(session)) +
               " effects are left";
      });
      judge_.check_told(session);
      // Q5: a boot looks at exactly the open sessions.
      universe_.verdict.expect(disk_->is_open(session) == book->needs_reconcile(), "Q5", [&] {
        return tail(session) + ": listed as open, or not, against its journal";
      });
    }
    host_->check_quiet();
    universe_.verdict.expect(workload_.all_read(), "STREAM5", [&] { return workload_.unread(); });
  }

  // The machine goes down while every session works: sessions with that policy resume on their own
  // (C1), a few at a time.
  void reboot_in_mid_turn() {
    workload_.resume_all_at_boot();
    come_to_rest();
    if (is_bad()) return;
    workload_.ask_all_again();
    run_for(universe_.prng.between(20, 2'000));
    // C22: a session whose folder is missing reports that.
    const SessionId homeless = any_session();
    if (universe_.meddler_prng.chance(300'000) && homeless) {
      universe_.files.set_missing(judge_.ledger(homeless).fold().workspace.cwd, true);
    }
    std::set<SessionId> ready;
    for (const auto& [session, book] : judge_.ledgers()) {
      if (book->fold().exec.agent == AgentPhase::ready) ready.insert(session);
    }
    daemons_.reboot("in the middle of everything");
    daemons_.reap();
    if (universe_.meddler_prng.chance(400'000)) {  // its disk may also be full for a while
      universe_.was_disk_full = true;
      universe_.disk_full_until_ms =
          universe_.scheduler.now_ms() + universe_.meddler_prng.between(100, 20'000);
    }
    daemons_.heal();
    if (universe_.disk_full_until_ms > universe_.scheduler.now_ms()) {
      run_for(universe_.disk_full_until_ms - universe_.scheduler.now_ms() +
              2 * boot_resume_again_ms);
    }
    run_for(boot_resume_again_ms);
    universe_.files.restore_all();
    come_to_rest();
    for (const auto& [session, book] : judge_.ledgers()) {
      if (is_bad() || judge_.is_damaged(session) || book->records() == 0) continue;
      const State& state = book->fold();
      const bool was_lost =
          ready.contains(session) || (state.last_run && state.last_run->interrupted);
      const bool comes_back = state.policy.resume == ResumePolicy::on_boot && !state.archived &&
                              book->has_what_to_resume();
      const bool came = state.exec.agent == AgentPhase::ready || state.failure;
      universe_.verdict.expect(!was_lost || !comes_back || came, "C1", [&] {
        return tail(session) + ": was to be resumed at boot and was not";
      });
    }
  }

  // One of several daemons goes down for good while every session works: the others take over its
  // sessions unprompted (C1, C19).
  void lose_one_in_mid_turn() {
    workload_.ask_all_again();
    run_for(universe_.prng.between(20, 2'000));
    daemons_.lose_one();
    daemons_.reap();
    wait_for_owners();
    if (is_bad()) return;
    daemons_.heal();
    come_to_rest();
    for (const auto& [session, book] : judge_.ledgers()) {
      if (is_bad() || book->records() == 0 || judge_.is_damaged(session)) continue;
      daemons_.check_owner(session);
    }
  }

  // There must be enough snapshots, so that a long session is not folded from its beginning (S9).
  void check_snapshots(SessionId session, const Ledger& book) {
    const std::uint64_t boundaries = book.records() / snapshot_every_records;
    // A daemon that takes over a session may write one more.
    const bool fits =
        book.snapshots() <= boundaries + daemons_.crashes() + 2 || daemons_.are_several();
    const bool has_one = boundaries < 2 || book.snapshots() > 0;
    universe_.verdict.expect(fits && has_one, "J4", [&] {
      return tail(session) + ": " + std::to_string(book.snapshots()) + " snapshots of " +
             std::to_string(book.records()) + " records";
    });
  }

  // Frames from agents are read without any request, and also after a full disk.
  void wait_for_frames() {
    std::map<SessionId, FrameCursor> unread;
    for (const auto& [session, book] : judge_.ledgers()) {
      const Execution& exec = book->fold().exec;
      const std::optional<FrameCursor> cursor = disk_->cursor(session);
      const FrameNo last = cursor && cursor->exec == exec.id ? cursor->frame : 0;
      const bool is_behind = host_->find_frame({session, exec.id, exec.gen}, last + 1) != nullptr;
      if (is_behind && !exec.gone && !judge_.is_damaged(session)) unread[session] = {exec.id, last};
    }
    run_for(frames_ms_max);
    for (const auto& [session, before] : unread) {
      const std::optional<FrameCursor> now = disk_->cursor(session);
      universe_.verdict.expect(is_bad() || now != before, "Q2", [&] {
        return tail(session) + ": nobody reads on behind frame " + std::to_string(before.frame);
      });
    }
  }

  // Every open session gets an owner without any request.
  void wait_for_owners() {
    nobody_looks_ = true;
    run_for(takeover_ms);
    nobody_looks_ = false;
    for (const auto& [session, book] : judge_.ledgers()) {
      if (is_bad() || judge_.is_damaged(session) || !disk_->is_open(session)) continue;
      universe_.verdict.expect(daemons_.owner(session) != nullptr, "C19", [&] {
        return tail(session) + ": is open and no daemon has taken it";
      });
    }
  }

  // Agents ask, fail, crash, start badly and take steered prompts late, while a client interferes
  // with all of it.
  void meddle_in_mid_turn() {
    workload_.stop_all();
    come_to_rest();
    universe_.agents_are_busy = true;
    workload_.meddle_now();
    for (int round = 0; round < 4 && !is_bad(); ++round) {
      workload_.ask_all_again();
      run_for(20'000);
    }
    universe_.agents_are_busy = false;
    workload_.stop_meddling();
    come_to_rest();
  }

  // A fork copies records of a newer version (J6).
  void fork_all() {
    if (universe_.meddler_prng.chance(500'000)) universe_.newer_version_is_next = true;
    daemons_.crash("for a newer version");
    daemons_.reap();
    daemons_.heal();
    come_to_rest();
    if (is_bad()) return;
    workload_.fork_all();
    come_to_rest();
  }

  // A new daemon reads the same data that the old one reported.
  void last_restart() {
    daemons_.crash("for the last time");
    daemons_.reap();
    daemons_.heal();
    come_to_rest();
    universe_.verdict.expect(daemons_.serving() != nullptr, "Q5",
                             [] { return std::string("the daemon does not serve"); });
    for (const auto& [session, book] : judge_.ledgers()) {
      if (is_bad() || book->records() == 0) continue;
      unborn_.insert(session);
      check_state(session);
      check_found(session, *book);
      if (daemons_.are_several() && !judge_.is_damaged(session)) daemons_.check_owner(session);
      check_snapshots(session, *book);
    }
    judge_.check_all_bytes();
    if (is_bad()) return;
    Runtime* const runtime = daemons_.serving();
    workload_.check_kept(*runtime);
    ReadCheck reads(universe_, judge_, *disk_);
    reads.ask(*runtime);
    run_for(5'000);
    if (!is_bad()) reads.check_answered();
  }

  // Closed sessions are loaded on request and evicted when memory is full: no more than the limit
  // are in memory unless they are in use.
  void check_memory() {
    workload_.stop_all();
    come_to_rest();
    daemons_.crash("to read everything again");
    daemons_.reap();
    daemons_.heal();
    come_to_rest();
    if (is_bad()) return;
    Daemon& daemon = *daemons_.any();
    nobody_looks_ = true;  // only our own requests
    std::vector<SessionId> looked_at;
    for (const auto& [session, book] : judge_.ledgers()) {
      if (book->records() == 0 || judge_.is_damaged(session)) continue;
      {
        const Acting acting(universe_.scheduler, daemon.life());
        std::ignore = daemon.serving()->state(session);
      }
      looked_at.push_back(session);
      run_for(100);
    }
    nobody_looks_ = false;
    const auto idle = std::ranges::count_if(looked_at, [&](SessionId session) {
      return daemon.serving()->is_ours(session) && !disk_->is_open(session) &&
             daemon.serving()->connections(session) == 0;
    });
    universe_.verdict.expect(static_cast<std::size_t>(idle) <= sessions_in_memory_, "S9", [&] {
      return std::to_string(idle) + " closed sessions are in memory, where " +
             std::to_string(sessions_in_memory_) + " have room";
    });
  }

  // Agents never end their turns, and most ignore a cancel: it still ends the run (RUN5), also
  // across a restart.
  void cancel_in_mid_turn() {
    workload_.stop_all();
    come_to_rest();
    run_for(std::max<std::int64_t>(0, watch_from_ms_ - universe_.scheduler.now_ms()));
    if (is_bad()) return;
    universe_.agents_are_deaf = true;
    workload_.ask_all_again();
    run_for(universe_.prng.between(1'000, 10'000));
    workload_.cancel_all();
    if (universe_.prng.chance(300'000)) {
      run_for(universe_.prng.between(0, 5'000));
      daemons_.crash("while it cancels");
      daemons_.reap();
      daemons_.heal();
    }
    come_to_rest();
  }

  // U11: a session that still runs cannot be deleted; every other can, and is gone afterwards.
  void delete_all() {
    std::vector<SessionId> sessions;
    for (const auto& [session, book] : judge_.ledgers()) {
      if (!judge_.is_damaged(session) && book->records() > 0) sessions.push_back(session);
    }
    for (const SessionId session : sessions) {
      const Execution exec = judge_.ledger(session).fold().exec;
      const bool may_live = exec.status != ExecutorStatus::none && !exec.gone;
      if (!may_live) judge_.expect_removal(session);
      Result<> erased = daemons_.erase(session);
      const bool is_busy = !erased && erased.error().code() == Code::unavailable;
      if (daemons_.are_several() && is_busy) {  // our request made a daemon take it over
        run_for(2'000);
        erased = daemons_.erase(session);
      }
      const bool right = may_live ? !erased && erased.error().code() == Code::conflict
                                  : erased.has_value() && !daemons_.serving()->state(session);
      universe_.verdict.expect(right, "U11", [&] {
        return tail(session) + (erased ? ": is deleted" : ": " + erased.error().message());
      });
    }
  }

  // The current daemon holds every living execution and reports so; it names each unreadable
  // session.
  void check_found(SessionId session, const Ledger& book) {
    if (judge_.is_damaged(session)) {
      Runtime* const runtime = daemons_.serving();
      const Result<State> state = runtime->state(session);
      const bool named = runtime->damaged().contains(session);
      universe_.verdict.expect(state.has_value() || named, "DISK3",
                               [&] { return tail(session) + " cannot be read and is not named"; });
      return;
    }
    const Execution& exec = book.fold().exec;
    const bool may_live = exec.status != ExecutorStatus::none && !exec.gone;
    universe_.verdict.expect(!may_live || daemons_.is_boot(exec.boot), "D1", [&] {
      return tail(session) + ": its execution lives and nobody reattached it";
    });
    const bool may_stay = book.fold().policy.survive || daemons_.is_boot(book.exec_began());
    universe_.verdict.expect(!may_live || may_stay, "C9", [&] {
      return tail(session) + ": its agent was to end with the daemon that started it";
    });
  }

  SeedOptions options_;
  bool reboots_in_mid_turn_ = false;
  bool cancels_in_mid_turn_ = false;
  bool forks_all_ = false;
  bool is_scripted_ = false;
  Universe universe_;
  std::unique_ptr<Disk> disk_;
  Judge judge_;
  std::unique_ptr<Host> host_;
  Daemons daemons_;
  Workload workload_;
  CancelWatch cancels_{universe_.verdict};
  std::uint64_t steps_ = 0;
  bool nobody_looks_ = false;
  std::size_t sessions_in_memory_ = 0;
  std::int64_t watch_from_ms_ = 0;
  std::set<SessionId> unborn_;  // already excused once
};

}  // namespace

SeedResult run_seed(std::uint64_t seed, const SeedOptions& options) {
  Simulation simulation(seed, options);
  SeedResult result = simulation.run();
  result.seed = seed;
  return result;
}

}  // namespace perdure::sim
