#include "sim/actors/daemons.h"

#include <algorithm>
#include <utility>

#include "sim/actors/sim_peers.h"

namespace perdure::sim {
namespace {

constexpr std::int64_t lease_ms = 3'000;
constexpr std::int64_t hint_taken_ms = 100;
constexpr std::int64_t change_of_hands_ms = 500;
constexpr std::uint64_t hint_chance = 10'000;  // per step

}  // namespace

Daemons::Daemons(Daemon::World world, std::size_t count)
    : universe_(world.universe), disk_(world.disk), judge_(world.judge) {
  if (count == 1) {
    daemons_.push_back(std::make_unique<Daemon>(world, DaemonSeat{}));
    universe_.crash_point = [this](CrashPoint point) { daemons_.front()->reach(point); };
    return;
  }
  universe_.has_several_daemons = true;
  universe_.hears_late = true;
  pause_chance_ = universe_.prng.chance(600'000) ? 2'000 : 0;
  cut_chance_ = universe_.prng.chance(400'000) ? 2'000 : 0;
  const bool is_far = universe_.prng.chance(300'000);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    DaemonSeat seat{.node = name,
                    .home = is_far && i + 1 == count ? "far" : "near",
                    .lease_ms = lease_ms,
                    .make_peers = [this](LifePtr from, Loop&) {
                      return std::make_unique<SimPeers>(universe_, *this, std::move(from));
                    }};
    daemons_.push_back(std::make_unique<Daemon>(world, std::move(seat)));
  }
  universe_.crash_point = [this](CrashPoint point) { reach(point); };
}

// The daemon whose code is running has reached it.
void Daemons::reach(CrashPoint point) {
  const auto at = std::ranges::find_if(daemons_, [&](const auto& daemon) {
    return daemon->life() && daemon->life().get() == universe_.scheduler.acting;
  });
  if (at != daemons_.end()) (*at)->reach(point);
}

void Daemons::start() {
  for (const auto& daemon : daemons_) daemon->start();
}

void Daemons::hurt() {
  for (const auto& daemon : daemons_) daemon->maybe_crash();
  reap();
  if (are_several() && universe_.prng.chance(hint_chance)) hint_one();
  if (universe_.prng.chance(pause_chance_)) draw_one().pause(draw_absence_ms());
  if (universe_.prng.chance(cut_chance_)) draw_one().cut(draw_absence_ms());
}

Daemon& Daemons::draw_one() { return *daemons_[universe_.prng.below(daemons_.size())]; }

// From a short pause to several leases.
std::int64_t Daemons::draw_absence_ms() {
  return universe_.prng.between(lease_ms / 4, 4 * lease_ms);
}

// A hint that others have written may come at any time, for one session or for any.
void Daemons::hint_one() {
  Daemon* const to = any();
  if (!to || to->is_cut() || judge_.ledgers().empty()) return;
  const LifePtr life = to->life();
  const Acting acting(universe_.scheduler, life);
  if (universe_.prng.chance(500'000)) {
    auto at = judge_.ledgers().begin();
    std::advance(at, universe_.prng.below(judge_.ledgers().size()));
    return to->serving()->hint(std::vector{at->first});
  }
  std::map<SessionId, Seq> heads;
  for (const auto& [session, book] : judge_.ledgers()) heads[session] = disk_.head(session);
  to->serving()->hint({});
  universe_.after_in(life, hint_taken_ms, [this, to, heads] { check_followed(*to, heads, true); });
}

// A daemon that was notified of any change has read everything there was; it first releases
// sessions that it has lost.
void Daemons::check_followed(Daemon& daemon, const std::map<SessionId, Seq>& heads, bool is_first) {
  Runtime* const runtime = daemon.serving();
  if (!runtime || daemon.is_cut()) return;
  for (const auto& [session, head] : heads) {
    const State* const state = runtime->state_in_memory(session);
    if (!state || runtime->is_ours(session) || judge_.is_damaged(session)) continue;
    if (state->head >= head && have_seen(daemon, session, head)) continue;
    if (is_first) {
      return universe_.after_in(daemon.life(), hint_taken_ms,
                                [this, &daemon, heads] { check_followed(daemon, heads, false); });
    }
    universe_.verdict.fail("STREAM5",
                           daemon.node() + " was told, and is behind in " + tail(session));
  }
}

void Daemons::check_kept() {
  for (const auto& daemon : daemons_) {
    for (const auto& [session, book] : judge_.ledgers()) {
      if (daemon->serving() && !judge_.is_damaged(session)) check_kept(*daemon, session);
    }
  }
}

void Daemons::check_kept(Daemon& daemon, SessionId session) {
  const std::int64_t now_ms = universe_.scheduler.now_ms();
  std::map<SessionId, LostAt>& held = held_[daemon.life()->number];
  if (daemon.serving()->is_ours(session)) {
    held[session] = {};
    return;
  }
  const auto at = held.find(session);
  if (at == held.end()) return;
  if (!at->second) at->second = now_ms;
  // The daemon first releases a lost session, so look again a moment later.
  if (now_ms < *at->second + change_of_hands_ms) return;
  held.erase(at);
  const bool is_put_away = !disk_.is_open(session);  // no work is left: it is evicted to make room
  universe_.verdict.expect(is_put_away || disk_.owner(session) != daemon.node(), "C19", [&] {
    return daemon.node() + " has let go of " + tail(session) + ", which nobody took";
  });
}

void Daemons::check_owner(SessionId session) {
  std::string owner;
  for (const auto& daemon : daemons_) {
    Runtime* const runtime = daemon->serving();
    if (!runtime) continue;
    const Acting acting(universe_.scheduler, daemon->life());
    const Result<std::string> named = runtime->owner(session);
    const std::string name = !named ? "nobody" : named->empty() ? daemon->node() : *named;
    const Execution& exec = judge_.ledger(session).fold().exec;
    const bool may_live = exec.status != ExecutorStatus::none && !exec.gone;
    universe_.verdict.expect((runtime->liveness(session) == Liveness::dead) == !may_live, "C8",
                             [&] {
                               return daemon->node() + " calls " + tail(session) +
                                      " dead, or alive, against its journal";
                             });
    universe_.verdict.expect(named && (owner.empty() || name == owner), "C19", [&] {
      return tail(session) + " is " + owner + "'s, and " + daemon->node() + " says " + name + "'s";
    });
    owner = name;
  }
}

void Daemons::stall(std::int64_t ms) {
  if (!daemons_.front()->serving()) return;
  daemons_.front()->pause(ms);
  universe_.lost_ms += ms;
}

void Daemons::reap() {
  for (const auto& daemon : daemons_) daemon->reap();
}

void Daemons::crash(const char* why) {
  for (const auto& daemon : daemons_) daemon->crash(why);
}

void Daemons::lose_one() { draw_one().leave(); }

void Daemons::heal() {
  for (const auto& daemon : daemons_) daemon->heal();
}

Daemon* Daemons::any() {
  if (!are_several()) return daemons_.front()->serving() ? daemons_.front().get() : nullptr;
  std::vector<Daemon*> serving;
  for (const auto& daemon : daemons_) {
    if (daemon->serving()) serving.push_back(daemon.get());
  }
  return serving.empty() ? nullptr : serving[universe_.prng.below(serving.size())];
}

Runtime* Daemons::serving() {
  Daemon* const found = any();
  return found ? found->serving() : nullptr;
}

Daemon* Daemons::find(const std::string& node) {
  const auto at = std::ranges::find(daemons_, node, &Daemon::node);
  return at == daemons_.end() ? nullptr : at->get();
}

Runtime* Daemons::owner(SessionId session) {
  if (!are_several()) return serving();
  for (const auto& daemon : daemons_) {
    Runtime* const runtime = daemon->serving();
    if (runtime && runtime->is_ours(session)) return runtime;
  }
  return nullptr;
}

std::string Daemons::settled_owner(SessionId session) {
  const bool all_serve =
      std::ranges::all_of(daemons_, [](const auto& daemon) { return daemon->serving(); });
  if (!are_several() || !universe_.healed || !all_serve) return {};
  return owner(session) ? disk_.owner(session) : std::string();
}

Result<> Daemons::erase(SessionId session) {
  Result<> erased = fail(Code::unavailable, "no daemon serves");
  for (const auto& daemon : daemons_) {
    if (!daemon->serving()) continue;
    erased = daemon->serving()->erase(session);
    if (erased || erased.error().code() != Code::stale_owner) return erased;
  }
  return erased;
}

bool Daemons::is_boot(BootId boot) const {
  return std::ranges::any_of(daemons_,
                             [&](const auto& daemon) { return daemon->boot_id() == boot; });
}

std::uint64_t Daemons::crashes() const {
  std::uint64_t sum = 0;
  for (const auto& daemon : daemons_) sum += daemon->crashes();
  return sum;
}

}  // namespace perdure::sim
