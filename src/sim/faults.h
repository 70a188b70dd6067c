// Which faults a seed has, and how often: drawn once. Swarm testing: about half of them are off in
// any one seed, so that a frequent fault cannot hide what a rare one would show. Chances are in
// parts per million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/prng.h"

namespace perdure::sim {

// The named places at which a daemon may be told to die.
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
  std::uint64_t crash_armed = 0;  // bit per CrashPoint
  std::uint64_t crash_point = 0;  // when an armed point is reached
  std::uint64_t reboot = 0;       // a crash of the daemon is one of the host
  std::uint64_t graceful = 0;     // an end of the daemon is an orderly one
  std::int64_t restart_ms_max = 2000;
  // agentctls and their links.
  std::uint64_t agentctl_crash = 0;  // per thing an agentctl does
  std::uint64_t agentctl_pause = 0;
  std::uint64_t start_fails = 0;
  std::uint64_t kill_slow = 0;  // a killed process takes its time
  std::uint64_t link_cut = 0;   // per message
  std::int64_t link_delay_ms_max = 20;
  // Agents, per message or decision of theirs.
  std::uint64_t agent_odd = 0;  // crash, hang, garbage …
  std::uint64_t open_odd = 0;   // lies and failures on the resume ladder
  std::uint64_t agent_forgets = 0;
  std::uint64_t long_turns = 0;  // a turn of hundreds of frames
  // Clients, per thing they do.
  std::uint64_t client_odd = 0;
  std::uint64_t reader_slow = 0;
  // The disk, per commit.
  std::uint64_t sync_eio = 0;
  std::uint64_t disk_full = 0;
  std::uint64_t sync_slow = 0;
  std::uint64_t lose_tail = 500'000;  // a crash takes what was not synced
  std::uint64_t bit_flip = 0;         // per step, once
  std::uint64_t snapshot_flip = 0;    // per step: a snapshot is only a hint
  std::uint64_t folder_missing = 0;
  // The wall clock, per step.
  std::uint64_t clock_jump = 0;
  // Drawn by draw_later(), which also doubles crash_step in some: the machine sleeps, or its daemon
  // is stopped; per step.
  std::uint64_t suspend = 0;
  std::uint64_t daemon_stall = 0;
  std::uint64_t newer_version = 0;     // per restart: one ran in between
  std::int64_t process_numbers = 300;  // then they are used again

  // Drawn by draw_meddling(): somebody meddles with what is on its way into a turn, and agents take
  // it late, or end a turn that is cancelled with an error.
  std::uint64_t meddling = 0;
  std::size_t sessions_in_memory = 0;  // so many only; 0: as many as usual

  static Faults draw(Prng& prng);
  // Faults that came later, from a stream of their own: a seed that has none of them is the run
  // that it was before.
  void draw_later(Prng& prng);
  void draw_meddling(Prng& prng);
  // No faults at all: the world after it was healed.
  static Faults none();
  std::string text() const;
};

}  // namespace perdure::sim
