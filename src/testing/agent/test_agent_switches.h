// The switches of the scripted test agent: how it departs from a well-behaved agent. Each has one
// name and a value in words; an unknown name or an invalid value is an error and changes nothing.
// docs/testagent.md explains them, and a test compares the names there with these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "demo/agent_lines.h"

namespace perdure::testagent {

// A load's or resume's behaviour instead of restoring the session.
struct OpenFaults {
  struct Replay {
    std::int64_t frames = -1;  // -1: the unmodified history
    bool after_answer = false;
    bool without_ids = false;
    bool merged = false;       // all text in one blob
    bool tools_twice = false;  // each tool call is mentioned twice
    std::int64_t gap_ms = 0;   // between two frames
  };
  bool missing = false;  // the ability is not advertised, and the method is unknown
  Replay replay;
  std::optional<demo::RpcFault> error;
  bool hang = false;
  bool other_id = false;
  bool empty_success = false;  // "restored" for any id, but the session is empty
  bool null_result = false;
  bool without_session_id = false;
  std::int64_t late_frames = 0;  // replay after the answer
  std::int64_t late_ms = 200;    // how long after it
};

enum class Death { killed, aborted, exited, half_line };
struct CrashAt {
  std::uint64_t frame = 0;
  Death death = Death::killed;
};

struct PermissionSwitch {
  std::int64_t count = 0;
  bool concurrent = false;
  bool reused_id = false;  // the same request id and tool call id each time
};

struct StdoutNoise {
  bool banner = false;
  bool ansi = false;
  bool crlf = false;
  bool no_final_newline = false;
  bool partial_utf8 = false;
};

struct RateLimit {
  std::int64_t reset_s = 0;
  bool as_text = false;  // a normal answer that describes the error
};

enum class ChildKind { none, child, setsid, reexec, stubborn };
enum class WhenBusy { queue, cancel_first, refuse };

struct Switches {
  OpenFaults load;
  OpenFaults resume;
  bool no_list = false;
  bool no_close = false;
  std::int64_t protocol = 1;
  std::string auth_required;  // new, prompt; empty: never
  std::int64_t slow_start_ms = 0;
  std::optional<std::int64_t> exit_at_start;
  ChildKind fork_child = ChildKind::none;
  bool exit_on_eof = true;
  bool ignores_sigterm = false;
  std::int64_t reads_stdin_lines = -1;  // then never again; -1: always
  std::int64_t stderr_bytes = 0;        // at the start and with each prompt

  bool never_complete = false;
  bool ignore_cancel = false;
  bool cancel_leaves_tools = false;  // a cancelled turn does not report the end of its open tool
  bool mcp_server = false;           // a child from the start, whose end is reported
  std::optional<CrashAt> crash_at;
  PermissionSwitch permission;
  bool permission_then_exit = false;
  bool exit_zero_mid_prompt = false;
  std::int64_t background_updates = 0;
  std::int64_t huge_chunk_bytes = 0;
  bool invalid_utf8 = false;
  bool invalid_json = false;
  StdoutNoise stdout_noise;
  std::optional<RateLimit> rate_limit;
  WhenBusy when_busy = WhenBusy::queue;
  std::int64_t pace_ms = 0;  // between two chunks

  bool mode_reset_on_load = false;
  bool same_minute_destroy = false;
  bool persist_only_on_clean_exit = false;
  bool persist_unprompted = false;
  bool usage_replay = false;
  std::int64_t clear_after = 0;    // forgets everything before this prompt's number
  std::int64_t compact_after = 0;  // keeps only a summary
  bool updates_before_new = false;
  bool mcp_refused = false;           // refuses any non-empty list of servers
  std::uint64_t odd_per_million = 0;  // probability of a misbehaviour per step, drawn from the seed
};

// `name` or `name=value`.
Result<> apply_switch(Switches& switches, std::string_view word);

// One switch per line; blank lines and lines with # are ignored. The error names the line.
Result<Switches> parse_scenario(std::string_view text);

// Every name, in the order of the documentation.
std::vector<std::string_view> switch_names();

}  // namespace perdure::testagent
