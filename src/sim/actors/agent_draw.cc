#include "sim/actors/agent_draw.h"

#include <iterator>
#include <string_view>

#include "base/check.h"

namespace perdure::sim {
namespace {

using testagent::apply_switch;
using testagent::Switches;

struct Oddity {
  const char* word;
  bool lossless;
};

constexpr Oddity oddities[] = {
    {"exit_zero_mid_prompt", true},
    {"permission=1", true},
    {"permission=2,concurrent", true},
    {"permission=2,concurrent,reused_id", true},
    {"permission_then_exit", true},
    {"background_updates=2", true},
    {"huge_chunk=100000", true},
    {"invalid_utf8", false},
    {"invalid_json", true},
    {"stdout_noise=banner,ansi,crlf", true},
    {"stdout_noise=partial_utf8,no_final_newline", true},
    {"floods_stderr=9000", true},
    {"ignore_cancel", true},
    {"ignore_cancel", true},
    {"cancel_leaves_tools", true},
    {"never_complete", true},
    {"ignores_sigterm", true},
    {"exit_on_eof=no", true},
    {"never_reads_stdin=3", true},
    {"never_reads_stdin=0", true},
    {"slow_start=70000", true},
    {"slow_start=3000", true},
    {"exit_at_start=1", true},
    {"fork_child=child", true},
    {"fork_child=setsid", true},
    {"rate_limit=60", true},
    {"rate_limit=3", true},
    {"rate_limit=5", true},
    {"rate_limit=8", true},
    {"auth_required=new", true},
    {"auth_required=prompt", true},
    {"updates_before_new", true},
    {"pace_ms=500", true},
    {"odd=100000", false},
    {"odd=20000", false},
    {"crash_at=1", true},
    {"crash_at=4:half", true},
    {"crash_at=7", true},
    {"crash_at=9:abort", true},
    {"crash_at=12:exit", true},
    {"same_minute_destroy", true},
    {"persist_only_on_clean_exit", true},
    {"persist_unprompted", true},
    {"mode_reset_on_load", true},
    {"usage_replay", true},
    {"clear=3", true},
    {"compact=2", true},
};

// Each line is one lie; its words belong together.
constexpr const char* lies[] = {
    "load_error load_replay=5,after,gap_ms:50",
    "load_error=-32603,no such session,Session not found",
    "load_error=-32002,Resource not found",
    "load_error",
    "load_hang",
    "load_other_id",
    "load_empty_success",
    "load_null_result",
    "load_without_session_id",
    "load_replay=5,after,gap_ms:50",
    "load_replay=all,without_ids,merged",
    "load_replay=all,tools_twice",
    "late_replay_frames=3,900",
    "resume_error=-32002,Session not found",
    "resume_error",
    "resume_hang",
    "resume_other_id",
    "resume_empty_success",
    "resume_null_result",
    "resume_without_session_id",
};

void add(DrawnSwitches& to, std::string_view words) {
  to.behaves = false;
  to.text += " " + std::string(words);
  // A blank may be part of a value: only a known name begins a word.
  for (std::size_t at = 0; at < words.size();) {
    std::size_t end = words.find(" load_", at);
    if (end == std::string_view::npos) end = words.size();
    const Result<> applied = apply_switch(to.switches, words.substr(at, end - at));
    CHECK(applied.has_value(), "a switch that the test agent does not have");
    at = end + 1;
  }
}

// So that the later rungs of the ladder are reached too.
void draw_deafness(DrawnSwitches& to, Prng& prng) {
  if (prng.chance(700'000)) add(to, "ignore_cancel");
  if (prng.chance(500'000)) add(to, "ignores_sigterm");
  if (prng.chance(500'000)) add(to, "exit_on_eof=no");
}

}  // namespace

Switches draw_abilities(Prng& prng) {
  Switches switches;
  if (prng.chance(400'000)) CHECK(apply_switch(switches, "no_resume").has_value());
  if (prng.chance(400'000)) CHECK(apply_switch(switches, "no_load").has_value());
  if (prng.chance(150'000)) CHECK(apply_switch(switches, "protocol=2").has_value());
  return switches;
}

DrawnSwitches draw_switches(Universe& universe, const Switches& abilities) {
  Prng& prng = universe.prng;
  DrawnSwitches drawn{.switches = abilities};
  if (universe.healed) {
    if (universe.agents_are_deaf) draw_deafness(drawn, prng);
    return drawn;
  }
  for (std::uint64_t chance = universe.faults.agent_odd * 4; prng.chance(chance); chance /= 2) {
    const Oddity& oddity = oddities[prng.below(std::size(oddities))];
    drawn.lossless = drawn.lossless && oddity.lossless;
    add(drawn, oddity.word);
  }
  if (prng.chance(universe.faults.open_odd)) {
    drawn.lossless = false;  // history may be repeated
    add(drawn, lies[prng.below(std::size(lies))]);
  }
  // An ability that the installation lacks cannot misbehave.
  drawn.switches.load.missing = abilities.load.missing;
  drawn.switches.resume.missing = abilities.resume.missing;
  return drawn;
}

std::string draw_script(Universe& universe) {
  static constexpr const char* usual[] = {"say 1",
                                          "say 2",
                                          "say 3",
                                          "think 1",
                                          "tool 1",
                                          "tool 2",
                                          "plan",
                                          "usage 5",
                                          "commands",
                                          "title new name",
                                          "permission 1",
                                          "permission 1",
                                          "permission 2 concurrent",
                                          "mode",
                                          "sleep 300",
                                          "background 1",
                                          "sleep_tool 200"};
  static constexpr const char* odd[] = {"hang",
                                        "crash",
                                        "crash segv",
                                        "exit 0",
                                        "exit 3",
                                        "error -32603 told to",
                                        "stop refusal",
                                        "stop max_tokens",
                                        "compact",
                                        "spawn_child setsid",
                                        "spawn_child child",
                                        "command child",
                                        "command setsid",
                                        "stderr 9000",
                                        "call fs/read_text_file {\"path\":\"/x\"}",
                                        "raw not json at all",
                                        "chunks 40 2000",
                                        "recall"};
  Prng& prng = universe.prng;
  std::string script;
  const auto add = [&](const char* verb) {
    if (!script.empty()) script += "; ";
    script += verb;
  };
  if (universe.healed) return universe.agents_are_deaf ? "say 1; hang" : "say 1; tool 1";
  const std::uint64_t length = 1 + prng.below(4);
  for (std::uint64_t i = 0; i < length; ++i) add(usual[prng.below(std::size(usual))]);
  if (prng.chance(universe.faults.agent_odd)) add(odd[prng.below(std::size(odd))]);
  // More than a window of frames, or more than the spool holds.
  if (prng.chance(universe.faults.long_turns)) {
    add(prng.chance(500'000) ? "say 400" : "flood 300000");
  }
  return script;
}

}  // namespace perdure::sim
