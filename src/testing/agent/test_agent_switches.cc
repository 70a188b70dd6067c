#include "testing/agent/test_agent_switches.h"

#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include "base/json/json.h"

namespace perdure::testagent {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char at) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = text.find(at);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return words;
}

Result<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(Code::invalid_argument, "'" + std::string(text) + "' is no whole number");
  }
  return value;
}

Result<std::int64_t> count(std::string_view text) {
  const std::int64_t value = TRY(whole_number(text));
  if (value < 0) return fail(Code::invalid_argument, "'" + std::string(text) + "' is negative");
  return value;
}

std::unexpected<Error> unknown_word(std::string_view word) {
  return fail(Code::invalid_argument, "'" + std::string(word) + "' is no value of this switch");
}

Result<> set_flag(bool& flag, std::string_view value) {
  if (!value.empty() && value != "yes" && value != "no") return unknown_word(value);
  flag = value != "no";
  return {};
}

// A flag of `Switches` by its member.
template <bool Switches::* member>
Result<> flag(Switches& switches, std::string_view value) {
  return set_flag(switches.*member, value);
}

// A count by its member; the name without a value means `otherwise`.
template <std::int64_t Switches::* member, std::int64_t otherwise>
Result<> number(Switches& switches, std::string_view value) {
  switches.*member = value.empty() ? otherwise : TRY(count(value));
  return {};
}

template <OpenFaults Switches::* member, bool OpenFaults::* fault>
Result<> open_flag(Switches& switches, std::string_view value) {
  return set_flag(switches.*member.*fault, value);
}

template <OpenFaults Switches::* member>
Result<> open_ok(Switches& switches, std::string_view value) {
  if (!value.empty() && value != "yes") return unknown_word(value);
  switches.*member = {};
  return {};
}

template <OpenFaults Switches::* member>
Result<> open_replay(Switches& switches, std::string_view value) {
  OpenFaults::Replay replay;
  for (const std::string_view word : split(value, ',')) {
    if (word == "all") {
      replay.frames = -1;
    } else if (word == "before") {
      replay.after_answer = false;
    } else if (word == "after") {
      replay.after_answer = true;
    } else if (word == "without_ids") {
      replay.without_ids = true;
    } else if (word == "merged") {
      replay.merged = true;
    } else if (word == "tools_twice") {
      replay.tools_twice = true;
    } else if (word.starts_with("gap_ms:")) {
      replay.gap_ms = TRY(count(word.substr(7)));
    } else {
      replay.frames = TRY(count(word));
    }
  }
  (switches.*member).replay = replay;
  return {};
}

// code,text,details
template <OpenFaults Switches::* member>
Result<> open_error(Switches& switches, std::string_view value) {
  demo::RpcFault fault{-32603, "Internal error", {}};
  const Words words = split(value, ',');
  if (!words.empty()) fault.code = TRY(whole_number(words[0]));
  if (words.size() > 1) fault.message = words[1];
  if (words.size() > 2) {
    // The details may contain commas: they are the whole rest.
    JsonWriter details;
    details.begin_object().key("details");
    details.string(std::string_view(words[2].data(), value.data() + value.size()));
    details.end_object();
    fault.details.text = std::move(details).take();
  }
  (switches.*member).error = std::move(fault);
  return {};
}

// frames,delay in milliseconds
Result<> late_replay_frames(Switches& switches, std::string_view value) {
  const Words words = split(value, ',');
  const std::int64_t frames = words.empty() ? 3 : TRY(count(words[0]));
  const std::int64_t late_ms = words.size() > 1 ? TRY(count(words[1])) : 200;
  switches.load.late_frames = frames;
  switches.load.late_ms = late_ms;
  return {};
}

Result<> resume_only(Switches& switches, std::string_view value) {
  TRY_VOID(set_flag(switches.load.missing, value));
  switches.resume.missing = false;
  return {};
}

// frame[:kill|abort|exit|half]
Result<> crash_at(Switches& switches, std::string_view value) {
  const Words words = split(value, ':');
  if (words.empty()) return fail(Code::invalid_argument, "crash_at needs the number of a frame");
  CrashAt crash;
  crash.frame = static_cast<std::uint64_t>(TRY(count(words[0])));
  if (words.size() > 1) {
    if (words[1] == "kill") {
      crash.death = Death::killed;
    } else if (words[1] == "abort") {
      crash.death = Death::aborted;
    } else if (words[1] == "exit") {
      crash.death = Death::exited;
    } else if (words[1] == "half") {
      crash.death = Death::half_line;
    } else {
      return unknown_word(words[1]);
    }
  }
  switches.crash_at = crash;
  return {};
}

Result<> fork_child(Switches& switches, std::string_view value) {
  if (value.empty() || value == "child") {
    switches.fork_child = ChildKind::child;
  } else if (value == "setsid") {
    switches.fork_child = ChildKind::setsid;
  } else if (value == "reexec" || value == "re-exec") {
    switches.fork_child = ChildKind::reexec;
  } else if (value == "no") {
    switches.fork_child = ChildKind::none;
  } else {
    return unknown_word(value);
  }
  return {};
}

Result<> permission(Switches& switches, std::string_view value) {
  PermissionSwitch permission{.count = 1};
  for (const std::string_view word : split(value, ',')) {
    if (word == "concurrent") {
      permission.concurrent = true;
    } else if (word == "reused_id") {
      permission.reused_id = true;
    } else {
      permission.count = TRY(count(word));
    }
  }
  switches.permission = permission;
  return {};
}

Result<> stdout_noise(Switches& switches, std::string_view value) {
  StdoutNoise noise;
  for (const std::string_view word : split(value.empty() ? "banner,ansi,crlf" : value, ',')) {
    if (word == "banner") {
      noise.banner = true;
    } else if (word == "ansi") {
      noise.ansi = true;
    } else if (word == "crlf") {
      noise.crlf = true;
    } else if (word == "no_final_newline") {
      noise.no_final_newline = true;
    } else if (word == "partial_utf8") {
      noise.partial_utf8 = true;
    } else if (word != "no") {
      return unknown_word(word);
    }
  }
  switches.stdout_noise = noise;
  return {};
}

// seconds[,text]
Result<> rate_limit(Switches& switches, std::string_view value) {
  RateLimit limit{.reset_s = 60};
  for (const std::string_view word : split(value, ',')) {
    if (word == "text") {
      limit.as_text = true;
    } else {
      limit.reset_s = TRY(count(word));
    }
  }
  switches.rate_limit = limit;
  return {};
}

Result<> auth_required(Switches& switches, std::string_view value) {
  if (!value.empty() && value != "new" && value != "prompt") return unknown_word(value);
  switches.auth_required = value.empty() ? "new" : value;
  return {};
}

Result<> protocol(Switches& switches, std::string_view value) {
  if (value != "1" && value != "2") return unknown_word(value);
  switches.protocol = value == "2" ? 2 : 1;
  return {};
}

Result<> when_busy(Switches& switches, std::string_view value) {
  if (value == "queue") {
    switches.when_busy = WhenBusy::queue;
  } else if (value == "cancel_first") {
    switches.when_busy = WhenBusy::cancel_first;
  } else if (value == "refuse") {
    switches.when_busy = WhenBusy::refuse;
  } else {
    return unknown_word(value);
  }
  return {};
}

Result<> exit_at_start(Switches& switches, std::string_view value) {
  switches.exit_at_start = value.empty() ? 1 : TRY(count(value));
  return {};
}

// The number of lines that it reads before it stops reading.
Result<> never_reads_stdin(Switches& switches, std::string_view value) {
  switches.reads_stdin_lines = value.empty() ? 0 : TRY(count(value));
  return {};
}

Result<> odd(Switches& switches, std::string_view value) {
  switches.odd_per_million = static_cast<std::uint64_t>(TRY(count(value)));
  return {};
}

struct Entry {
  std::string_view name;
  Result<> (*set)(Switches&, std::string_view value);
};

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr auto load = &Switches::load;
constexpr auto resume = &Switches::resume;

constexpr auto entries = std::to_array<Entry>({
    {"no_load", open_flag<load, &OpenFaults::missing>},
    {"load_ok", open_ok<load>},
    {"load_replay", open_replay<load>},
    {"load_error", open_error<load>},
    {"load_hang", open_flag<load, &OpenFaults::hang>},
    {"load_other_id", open_flag<load, &OpenFaults::other_id>},
    {"load_empty_success", open_flag<load, &OpenFaults::empty_success>},
    {"load_null_result", open_flag<load, &OpenFaults::null_result>},
    {"load_without_session_id", open_flag<load, &OpenFaults::without_session_id>},
    {"late_replay_frames", late_replay_frames},
    {"resume_only", resume_only},
    {"no_resume", open_flag<resume, &OpenFaults::missing>},
    {"resume_ok", open_ok<resume>},
    {"resume_error", open_error<resume>},
    {"resume_hang", open_flag<resume, &OpenFaults::hang>},
    {"resume_other_id", open_flag<resume, &OpenFaults::other_id>},
    {"resume_empty_success", open_flag<resume, &OpenFaults::empty_success>},
    {"resume_null_result", open_flag<resume, &OpenFaults::null_result>},
    {"resume_without_session_id", open_flag<resume, &OpenFaults::without_session_id>},
    {"mode_reset_on_load", flag<&Switches::mode_reset_on_load>},
    {"same_minute_destroy", flag<&Switches::same_minute_destroy>},
    {"persist_only_on_clean_exit", flag<&Switches::persist_only_on_clean_exit>},
    {"persist_unprompted", flag<&Switches::persist_unprompted>},
    {"usage_replay", flag<&Switches::usage_replay>},
    {"clear", number<&Switches::clear_after, 2>},
    {"compact", number<&Switches::compact_after, 2>},
    {"no_list", flag<&Switches::no_list>},
    {"no_close", flag<&Switches::no_close>},
    {"updates_before_new", flag<&Switches::updates_before_new>},
    {"mcp_refused", flag<&Switches::mcp_refused>},
    {"never_complete", flag<&Switches::never_complete>},
    {"ignore_cancel", flag<&Switches::ignore_cancel>},
    {"cancel_leaves_tools", flag<&Switches::cancel_leaves_tools>},
    {"crash_at", crash_at},
    {"exit_zero_mid_prompt", flag<&Switches::exit_zero_mid_prompt>},
    {"permission", permission},
    {"permission_then_exit", flag<&Switches::permission_then_exit>},
    {"background_updates", number<&Switches::background_updates, 3>},
    {"huge_chunk", number<&Switches::huge_chunk_bytes, mib>},
    {"invalid_utf8", flag<&Switches::invalid_utf8>},
    {"invalid_json", flag<&Switches::invalid_json>},
    {"stdout_noise", stdout_noise},
    {"floods_stderr", number<&Switches::stderr_bytes, mib>},
    {"rate_limit", rate_limit},
    {"when_busy", when_busy},
    {"pace_ms", number<&Switches::pace_ms, 20>},
    {"odd", odd},
    {"protocol", protocol},
    {"auth_required", auth_required},
    {"slow_start", number<&Switches::slow_start_ms, 3000>},
    {"exit_at_start", exit_at_start},
    {"fork_child", fork_child},
    {"mcp_server", flag<&Switches::mcp_server>},
    {"exit_on_eof", flag<&Switches::exit_on_eof>},
    {"ignores_sigterm", flag<&Switches::ignores_sigterm>},
    {"never_reads_stdin", never_reads_stdin},
});

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

Result<> apply_switch(Switches& switches, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = trimmed(word.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : trimmed(word.substr(equals + 1));
  for (const Entry& entry : entries) {
    if (entry.name != name) continue;
    Switches changed = switches;
    if (Result<> set = entry.set(changed, value); !set) {
      return std::unexpected(std::move(set).error().with_context("switch " + std::string(name)));
    }
    switches = std::move(changed);
    return {};
  }
  return fail(Code::invalid_argument, "there is no switch '" + std::string(name) + "'");
}

Result<Switches> parse_scenario(std::string_view text) {
  Switches switches;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view word = trimmed(line);
    if (word.empty() || word.starts_with('#')) continue;
    if (Result<> applied = apply_switch(switches, word); !applied) {
      return std::unexpected(
          std::move(applied).error().with_context("line " + std::to_string(number)));
    }
  }
  return switches;
}

std::vector<std::string_view> switch_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace perdure::testagent
