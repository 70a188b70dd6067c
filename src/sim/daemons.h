// The daemons of a seed: one, or several on one disk that hand commands to each other, are stopped
// for longer than a lease and find that others have gone on without them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/daemon.h"

namespace perdure::sim {

class Daemons {
 public:
  Daemons(Daemon::World world, std::size_t count);

  bool are_several() const { return daemons_.size() > 1; }
  void start();
  // Between two steps: what the seed does to them.
  void hurt();
  // A single one is stopped for a while, as by SIGSTOP.
  void stall(std::int64_t ms);
  void reap();
  void crash(const char* why);
  // One of several, drawn, goes and stays down until heal().
  void lose_one();
  // Only of a single one.
  void reboot(const char* why) { daemons_.front()->reboot(why); }
  void heal();

  // One that serves, drawn; null: none does.
  Daemon* any();
  Runtime* serving();
  // Null for a name that is none.
  Daemon* find(const std::string& node);
  // The one that has the session in its hands; null: none that serves.
  Runtime* owner(SessionId session);
  // What a daemon has in its hands stays there until another one has taken it (C19).
  void check_kept();
  // Those that serve name the same owner (C19).
  void check_owner(SessionId session);
  // Whose a session is while all of them serve in a world without faults; empty: nobody can say.
  std::string settled_owner(SessionId session);
  // Whether readers at that daemon have been given the session's records up to this one.
  std::function<bool(const Daemon& daemon, SessionId session, Seq head)> have_seen =
      [](const Daemon&, SessionId, Seq) { return true; };
  // By whoever has it.
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
  std::map<std::uint64_t, std::map<SessionId, LostAt>> held_;  // by the life of the daemon
};

}  // namespace perdure::sim
