// The daemons of a seed: one, or several on one disk that forward commands to each other, are
// stopped for longer than a lease, and find that others have taken over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/actors/daemon.h"

namespace perdure::sim {

class Daemons {
 public:
  Daemons(Daemon::World world, std::size_t count);

  bool are_several() const { return daemons_.size() > 1; }
  void start();
  // Between two steps: applies the seed's faults.
  void hurt();
  // Stops a single daemon for a while, as with SIGSTOP.
  void stall(std::int64_t ms);
  void reap();
  void crash(const char* why);
  // One of several, drawn by the seed, goes down until heal().
  void lose_one();
  // Only for a single daemon.
  void reboot(const char* why) { daemons_.front()->reboot(why); }
  void heal();

  // A serving daemon, drawn by the seed; null: none serves.
  Daemon* any();
  Runtime* serving();
  // Null if the name is unknown.
  Daemon* find(const std::string& node);
  // The serving daemon that holds the session; null: none.
  Runtime* owner(SessionId session);
  // A daemon keeps every session that it holds until another one has taken it (C19).
  void check_kept();
  // All serving daemons name the same owner (C19).
  void check_owner(SessionId session);
  // A session's owner while all daemons serve in a world without faults; empty: undetermined.
  std::string settled_owner(SessionId session);
  // Whether readers at that daemon have received the session's records up to this one.
  std::function<bool(const Daemon& daemon, SessionId session, Seq head)> have_seen =
      [](const Daemon&, SessionId, Seq) { return true; };
  // By its owner.
  Result<> erase(SessionId session);
  bool is_boot(BootId boot) const;
  std::uint64_t crashes() const;

 private:
  void reach(CrashPoint point);
  Daemon& draw_one();
  std::int64_t draw_absence_ms();
  void hint_one();
  void check_kept(Daemon& daemon, SessionId session);
  void check_followed(Daemon& daemon, const std::map<SessionId, Seq>& heads, bool is_first);

  Universe& universe_;
  Disk& disk_;
  Judge& judge_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::uint64_t pause_chance_ = 0;
  std::uint64_t cut_chance_ = 0;
  using LostAt = std::optional<std::int64_t>;
  std::map<std::uint64_t, std::map<SessionId, LostAt>> held_;  // by the daemon's life
};

}  // namespace perdure::sim
