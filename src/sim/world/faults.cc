#include "sim/world/faults.h"

namespace perdure::sim {
namespace {

// Off half of the time; otherwise between zero and the maximum, small values more often.
std::uint64_t draw_rate(Prng& prng, std::uint64_t most) {
  if (prng.chance(500'000)) return 0;
  return most >> prng.below(6);
}

}  // namespace

Faults Faults::draw(Prng& prng) {
  Faults faults;
  faults.crash_step = draw_rate(prng, 10'000);
  for (std::uint64_t point = 0; point < static_cast<std::uint64_t>(CrashPoint::count); ++point) {
    if (prng.chance(250'000)) faults.crash_armed |= 1ULL << point;
  }
  faults.crash_point = draw_rate(prng, 250'000);
  faults.reboot = prng.chance(150'000) ? 200'000 : 0;
  faults.graceful = prng.chance(300'000) ? 300'000 : 0;
  faults.restart_ms_max = prng.chance(500'000) ? 50 : 30'000;
  faults.agentctl_crash = draw_rate(prng, 8'000);
  faults.agentctl_pause = draw_rate(prng, 8'000);
  faults.start_fails = draw_rate(prng, 200'000);
  faults.kill_slow = draw_rate(prng, 300'000);
  faults.link_cut = draw_rate(prng, 50'000);
  faults.link_delay_ms_max = prng.chance(500'000) ? 20 : prng.between(20, 5'000);
  faults.agent_odd = draw_rate(prng, 150'000);
  faults.open_odd = draw_rate(prng, 800'000);
  faults.agent_forgets = draw_rate(prng, 200'000);
  faults.long_turns = prng.chance(30'000) ? 500'000 : 5'000;
  faults.client_odd = draw_rate(prng, 300'000);
  faults.reader_slow = draw_rate(prng, 300'000);
  faults.sync_eio = draw_rate(prng, 10'000);
  faults.disk_full = draw_rate(prng, 20'000);
  faults.sync_slow = draw_rate(prng, 100'000);
  faults.lose_tail = prng.chance(500'000) ? 1'000'000 : prng.below(1'000'000);
  faults.bit_flip = prng.chance(100'000) ? 3'000 : 0;
  faults.snapshot_flip = prng.chance(200'000) ? 5'000 : 0;
  faults.folder_missing = draw_rate(prng, 50'000);
  faults.clock_jump = draw_rate(prng, 10'000);
  return faults;
}

void Faults::draw_later(Prng& prng) {
  suspend = prng.chance(150'000) ? 2'000 >> prng.below(4) : 0;
  if (prng.chance(250'000)) crash_step *= 2;
  process_numbers = prng.chance(250'000) ? prng.between(4, 24) : process_numbers;
  daemon_stall = prng.chance(150'000) ? 4'000 >> prng.below(4) : 0;
  newer_version = prng.chance(50'000) ? 300'000 : 0;
}

void Faults::draw_meddling(Prng& prng) {
  meddling = prng.chance(350'000) ? 300'000 : 0;
  sessions_in_memory = prng.chance(350'000) ? 1 + prng.below(3) : 0;
}

Faults Faults::none() {
  Faults faults;
  faults.lose_tail = 0;
  return faults;
}

std::string Faults::text() const {
  std::string out;
  const auto add = [&](const char* name, std::uint64_t value) {
    if (value != 0) out += std::string(out.empty() ? "" : " ") + name + "=" + std::to_string(value);
  };
  add("crash_step", crash_step);
  add("crash_armed", crash_armed);
  add("crash_point", crash_point);
  add("reboot", reboot);
  add("graceful", graceful);
  add("agentctl_crash", agentctl_crash);
  add("agentctl_pause", agentctl_pause);
  add("start_fails", start_fails);
  add("kill_slow", kill_slow);
  add("link_cut", link_cut);
  add("link_delay_ms_max", static_cast<std::uint64_t>(link_delay_ms_max));
  add("agent_odd", agent_odd);
  add("open_odd", open_odd);
  add("agent_forgets", agent_forgets);
  add("long_turns", long_turns);
  add("client_odd", client_odd);
  add("reader_slow", reader_slow);
  add("sync_eio", sync_eio);
  add("disk_full", disk_full);
  add("sync_slow", sync_slow);
  add("lose_tail", lose_tail);
  add("bit_flip", bit_flip);
  add("snapshot_flip", snapshot_flip);
  add("folder_missing", folder_missing);
  add("clock_jump", clock_jump);
  add("suspend", suspend);
  add("daemon_stall", daemon_stall);
  add("newer_version", newer_version);
  add("process_numbers", static_cast<std::uint64_t>(process_numbers));
  add("meddling", meddling);
  add("sessions_in_memory", sessions_in_memory);
  return out;
}

}  // namespace perdure::sim
