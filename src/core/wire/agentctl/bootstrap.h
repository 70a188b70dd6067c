// The one message that starts an agentctl, and its one answer. Both are JSON objects on one line
// with a version; an agentctl that does not know the version refuses to start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "core/session/values.h"
#include "core/wire/agentctl/hidden_folders.h"

namespace perdure {

inline constexpr std::int64_t bootstrap_version = 1;

// How long the agentctl waits for its agent; the defaults suit most agents.
struct AgentTimes {
  std::int64_t initialize_ms = 60'000;
  std::int64_t open_quiet_ms = 90'000;    // X8: without any sign of life while a session opens
  std::int64_t load_settle_ms = 300;      // R4: silence after a load's answer before it is done
  std::int64_t cancel_grace_ms = 10'000;  // then SIGTERM to the whole group
  std::int64_t term_grace_ms = 3'000;     // then SIGKILL
  std::int64_t stop_grace_ms = 2'000;     // from end of input to SIGTERM at an orderly stop (X12)
  std::int64_t stall_ms = 600'000;        // P6: no output for this long, no tool running: stalled
  std::int64_t backoff_ms = 1'000;  // P14: before the first restart after an early death; doubles
  std::int64_t run_ms = 0;          // a longer turn is ended and fails; 0: no limit
  Timestamp load_not_before;        // no session/load before this; zero: at once
  FIELDS {
    visit("initialize_ms", self.initialize_ms);
    visit("open_quiet_ms", self.open_quiet_ms);
    visit("load_settle_ms", self.load_settle_ms);
    visit("cancel_grace_ms", self.cancel_grace_ms);
    visit("term_grace_ms", self.term_grace_ms);
    visit("stop_grace_ms", self.stop_grace_ms);
    visit("stall_ms", self.stall_ms);
    visit("backoff_ms", self.backoff_ms);
    visit("run_ms", self.run_ms);
    visit("load_not_before", self.load_not_before);
  }
};

// The agent to run, from its profile. None of this enters the journal.
struct AgentLaunch {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::int64_t protocol_version = 1;
  bool fs = false;                          // offer fs/* to the agent
  bool terminal = false;                    // offer terminal/* to the agent
  bool steer = false;                       // accepts prompts during a turn
  RawJson mcp_servers;                      // an array; absent: none
  std::vector<std::string> clear_commands;  // X26: prompts that clear the agent's context
  AgentTimes times;
  FIELDS {
    visit("command", self.command);
    visit("environment", self.environment);
    visit("protocol_version", self.protocol_version);
    visit("fs", self.fs);
    visit("terminal", self.terminal);
    visit("steer", self.steer);
    visit("mcp_servers", self.mcp_servers);
    visit("clear_commands", self.clear_commands);
    visit("times", self.times);
  }
};

struct Bootstrap {
  std::int64_t version = bootstrap_version;
  SessionId session;
  ExecId exec;
  Gen gen = 0;
  std::string secret;  // required for every attach
  std::string owner;   // the data folder that it belongs to; distinguishes copies with the same ids
  std::string run_folder;  // holds <exec>.sock and <session>.lock
  std::string spool_folder;
  std::string cwd;
  // The socket's URL for the daemon if its paths differ from the agentctl's. Empty: the same.
  std::string url;
  std::string container_id;  // if it runs in one
  HiddenFolders hide;
  bool survive = true;  // C9: false: ends when the link to its daemon breaks
  AgentLimits limits;   // of the agent and all its descendants; the agent's times include run_ms
  std::uint64_t spool_bytes = spool_bytes_max;
  std::int64_t orphan_ms = 60'000;              // never attached for this long: it exits
  std::int64_t abandoned_ms = 7 * 86'400'000L;  // not attached for this long: it exits
  std::int64_t idle_ms = 600'000;               // not attached and idle for this long: it exits
  AgentLaunch agent;
  FIELDS {
    visit("v", self.version);
    visit("session_id", self.session);
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("secret", self.secret);
    visit("owner", self.owner);
    visit("run_folder", self.run_folder);
    visit("spool_folder", self.spool_folder);
    visit("cwd", self.cwd);
    visit("agentctl_url", self.url);
    visit("container_id", self.container_id);
    self.hide.fields(visit);
    visit("survive", self.survive);
    visit("limits", self.limits);
    visit("spool_bytes", self.spool_bytes);
    visit("orphan_ms", self.orphan_ms);
    visit("abandoned_ms", self.abandoned_ms);
    visit("idle_ms", self.idle_ms);
    visit("agent", self.agent);
  }
};

struct BootstrapAnswer {
  std::int64_t version = bootstrap_version;
  std::string instance;
  std::string url;
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;
  std::string host_boot;
  std::string code;  // empty: it runs. Otherwise a code of base/result.h, and nothing was left
                     // behind
  std::string message;
  FIELDS {
    visit("v", self.version);
    visit("instance", self.instance);
    visit("agentctl_url", self.url);
    visit("pid", self.pid);
    visit("pid_started", self.pid_started);
    visit("host_boot", self.host_boot);
    visit("code", self.code);
    visit("message", self.message);
  }
};

// Identifies a process: NAME=value in the environment of the agentctl and all its descendants. A
// copy of a data folder has the same ids but another owner: its daemon must not end our agents.
struct OwnedExec {
  ExecId exec;
  std::string owner;
};
std::string exec_mark(const OwnedExec& owned);
// The name of the file in the run folder that is locked while a session's agent runs.
std::string session_lock_name(SessionId session);
std::string session_mark(const Bootstrap& bootstrap);
// All marks, with the plain ids for people and programs to read.
std::vector<std::string> marks_of(const Bootstrap& bootstrap);

std::string encode_bootstrap(const Bootstrap& bootstrap);
// Any bytes. format_too_new for another version. Unknown members are rejected, too: an agentctl
// must not run an agent under rules that it does not understand.
Result<Bootstrap> decode_bootstrap(std::string_view text);
std::string encode_bootstrap_answer(const BootstrapAnswer& answer);
Result<BootstrapAnswer> decode_bootstrap_answer(std::string_view text);

}  // namespace perdure
