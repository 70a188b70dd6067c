// The one message that starts an agentctl, and its one answer. Both are JSON objects on one line
// and carry their version; an agentctl that does not know the version refuses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "session/values.h"
#include "wire/hidden_folders.h"

namespace perdure {

inline constexpr std::int64_t bootstrap_version = 1;

// How long the agentctl waits for its agent; each has a default that suits most.
struct AgentTimes {
  std::int64_t initialize_ms = 60'000;
  std::int64_t open_quiet_ms = 90'000;  // X8: without any sign of life while a session is opened
  std::int64_t load_settle_ms = 300;    // R4: quiet behind a load's answer before it counts as done
  std::int64_t cancel_grace_ms = 10'000;  // then SIGTERM to the whole group
  std::int64_t term_grace_ms = 3'000;     // then SIGKILL
  std::int64_t stop_grace_ms = 2'000;  // between end of input and SIGTERM at an orderly stop (X12)
  std::int64_t stall_ms = 600'000;  // P6: quiet for so long, no tool in flight: said to be stalled
  std::int64_t backoff_ms = 1'000;  // P14: before the first restart of one that died early; doubles
  std::int64_t run_ms = 0;          // a turn of which more is ended, and has failed; 0: no limit
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

// The agent to run, from its profile. Nothing here enters the journal.
struct AgentLaunch {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::int64_t protocol_version = 1;
  bool fs = false;                          // fs/* is offered to the agent
  bool terminal = false;                    // terminal/* is offered to the agent
  bool steer = false;                       // takes a prompt into a running turn
  RawJson mcp_servers;                      // an array; absent: none
  std::vector<std::string> clear_commands;  // X26: prompts after which the agent knows nothing more
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
  std::string secret;  // every attach must show it
  std::string owner;   // the data folder that it belongs to; the same ids in a copy are not ours
  std::string run_folder;  // holds <exec>.sock and <session>.lock
  std::string spool_folder;
  std::string cwd;
  // How the daemon reaches the socket, where its paths are not those of the agentctl. Empty: alike.
  std::string url;
  std::string container_id;  // where it runs in one
  HiddenFolders hide;
  bool survive = true;  // C9: false: ends with the link of its daemon
  AgentLimits limits;   // of the agent and all that it starts; run_ms is among the agent's times
  std::uint64_t spool_bytes = spool_bytes_max;
  std::int64_t orphan_ms = 60'000;              // nobody ever attached: it ends
  std::int64_t abandoned_ms = 7 * 86'400'000L;  // nobody attached for so long: it ends
  std::int64_t idle_ms = 600'000;               // nobody attached, nothing running: it ends
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
  std::string code;  // empty: it runs. Else a code of base/result.h, and nothing was left behind
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

// Whose a process is: NAME=value in the environment of the agentctl and of all that is below it. A
// copy of a data folder has the same ids, and another owner: its daemon must not end our agents.
struct OwnedExec {
  ExecId exec;
  std::string owner;
};
std::string exec_mark(const OwnedExec& owned);
// Of the file in the run folder that whoever runs a session's agent holds.
std::string session_lock_name(SessionId session);
std::string session_mark(const Bootstrap& bootstrap);
// All of them, with the plain ids for people and programs to read.
std::vector<std::string> marks_of(const Bootstrap& bootstrap);

std::string encode_bootstrap(const Bootstrap& bootstrap);
// Any bytes. format_too_new for another version; members that are not known are refused too: an
// agentctl must not run an agent under rules that it does not understand.
Result<Bootstrap> decode_bootstrap(std::string_view text);
std::string encode_bootstrap_answer(const BootstrapAnswer& answer);
Result<BootstrapAnswer> decode_bootstrap_answer(std::string_view text);

}  // namespace perdure
