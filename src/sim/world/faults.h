// A seed's faults and their rates, drawn once. Swarm testing: each seed disables about half of
// them, so that a frequent fault does not hide the effect of a rare one. Rates are in parts per
// million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/world/prng.h"

namespace perdure::sim {

// The named places where a daemon may crash.
enum class CrashPoint {
  before_commit,
  after_commit,
  after_reply,
  between_effects,
  in_recovery,
  at_probe,
  count
};

struct Faults {
  // The daemon.
  std::uint64_t crash_step = 0;   // at any step
  std::uint64_t crash_armed = 0;  // one bit per CrashPoint
  std::uint64_t crash_point = 0;  // when an armed point is reached
  std::uint64_t reboot = 0;       // a daemon crash is a host crash
  std::uint64_t graceful = 0;     // a daemon ends in order
  std::int64_t restart_ms_max = 2000;
  // Agentctls and their links.
  std::uint64_t agentctl_crash = 0;  // per action of an agentctl
  std::uint64_t agentctl_pause = 0;
  std::uint64_t start_fails = 0;
  std::uint64_t kill_slow = 0;  // killing a process takes time
  std::uint64_t link_cut = 0;   // per message
  std::int64_t link_delay_ms_max = 20;
  // Agents, per message or decision.
  std::uint64_t agent_odd = 0;  // crash, hang, garbage …
  std::uint64_t open_odd = 0;   // lies and failures on the resume ladder
  std::uint64_t agent_forgets = 0;
  std::uint64_t long_turns = 0;  // a turn of hundreds of frames
  // Clients, per action.
  std::uint64_t client_odd = 0;
  std::uint64_t reader_slow = 0;
  // The disk, per commit.
  std::uint64_t sync_eio = 0;
  std::uint64_t disk_full = 0;
  std::uint64_t sync_slow = 0;
  std::uint64_t lose_tail = 500'000;  // a crash loses unsynced data
  std::uint64_t bit_flip = 0;         // per step, once
  std::uint64_t snapshot_flip = 0;    // per step; a snapshot is only a hint
  std::uint64_t folder_missing = 0;
  // The wall clock, per step.
  std::uint64_t clock_jump = 0;
  // Drawn by draw_later(), which also doubles crash_step in some seeds: the machine sleeps, or its
  // daemon is stopped; per step.
  std::uint64_t suspend = 0;
  std::uint64_t daemon_stall = 0;
  std::uint64_t newer_version = 0;     // per restart: a newer version ran in between
  std::int64_t process_numbers = 300;  // before process numbers are reused

  // Drawn by draw_meddling(): a client changes prompts on their way into a turn, and agents take
  // them late, or end a cancelled turn with an error.
  std::uint64_t meddling = 0;
  std::size_t sessions_in_memory = 0;  // the limit; 0: the default

  static Faults draw(Prng& prng);
  // Faults that were added later, from a separate stream: a seed without them runs as before.
  void draw_later(Prng& prng);
  void draw_meddling(Prng& prng);
  // No faults: the healed world.
  static Faults none();
  std::string text() const;
};

}  // namespace perdure::sim
