// The definition of an agent program: how it is started, what was measured, its quirks. The
// catalogue holds the built-in ones and those of the user's config, in the same form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "core/session/values.h"

namespace perdure {

// Where an agent differs from the others. For times, 0 means the default.
struct AgentQuirks {
  std::int64_t protocol_version = 1;
  std::int64_t load_settle_ms = 0;
  // An agent that names its files by the minute would overwrite one: a session is not loaded within
  // the slot of the wall clock, of this length, in which it was last opened.
  std::int64_t load_slot_ms = 0;
  std::int64_t stop_grace_ms = 0;
  std::int64_t stall_ms = 0;
  std::vector<std::string> clear_commands;
  bool fs = true;
  bool terminal = true;
  bool exits_on_eof = true;  // false: it ignores the end of its input and exits only on a signal
  bool wraps = false;        // the started process starts another one, which does the work
  bool cwd_bound = false;    // it finds a session only from the folder where it was created
  bool uuid_ids = false;     // ids of its sessions are UUIDs; another form is a separate error
  bool operator==(const AgentQuirks&) const = default;
  FIELDS {
    visit("protocol_version", self.protocol_version);
    visit("load_settle_ms", self.load_settle_ms);
    visit("load_slot_ms", self.load_slot_ms);
    visit("stop_grace_ms", self.stop_grace_ms);
    visit("stall_ms", self.stall_ms);
    visit("clear_commands", self.clear_commands);
    visit("fs", self.fs);
    visit("terminal", self.terminal);
    visit("exits_on_eof", self.exits_on_eof);
    visit("wraps", self.wraps);
    visit("cwd_bound", self.cwd_bound);
    visit("uuid_ids", self.uuid_ids);
  }
};

struct AgentDefinition {
  AgentProfile profile;  // profile.name is its name
  std::string title;     // for people
  std::vector<std::string> command;
  std::string npm;      // package@version that npx runs if the program is not on the PATH
  std::string install;  // the command that installs it; shown, never run
  std::map<std::string, std::string> env;  // set for the agent
  // Names passed on from the daemon's environment; a trailing * matches any rest. Those of
  // env_strip are never passed on.
  std::vector<std::string> env_pass;
  std::vector<std::string> env_strip;
  // K42: appended to the command of an agent that is to restore a session: `{session}` and, in
  // resume_at_args, `{message}` are replaced. Without a message, resume_at_args are omitted.
  std::vector<std::string> resume_args;
  std::vector<std::string> resume_at_args;
  std::string resume_command;
  std::string fork_command;
  std::string continue_command;
  std::string login_hint;
  // The default of its sessions: standalone or local_docker, and the image of the latter.
  std::string runtime;
  std::string image;
  bool measured = false;               // abilities were observed, not taken from documents
  std::string measured_version;        // of the program that was observed
  std::vector<std::string> abilities;  // session/… calls that it supports
  bool built_in = false;               // part of Perdure; false: from the user's config
  AgentQuirks quirks;
  bool operator==(const AgentDefinition&) const = default;
  FIELDS {
    self.profile.fields(visit);
    visit("title", self.title);
    visit("command", self.command);
    visit("npm", self.npm);
    visit("install", self.install);
    visit("env", self.env);
    visit("env_pass", self.env_pass);
    visit("env_strip", self.env_strip);
    visit("resume_args", self.resume_args);
    visit("resume_at_args", self.resume_at_args);
    visit("resume_command", self.resume_command);
    visit("fork_command", self.fork_command);
    visit("continue_command", self.continue_command);
    visit("login_hint", self.login_hint);
    visit("runtime", self.runtime);
    visit("image", self.image);
    visit("measured", self.measured);
    visit("measured_version", self.measured_version);
    visit("abilities", self.abilities);
    visit("built_in", self.built_in);
    visit("quirks", self.quirks);
  }
};

class AgentCatalog {
 public:
  // Replaces a definition of the same name.
  void add(AgentDefinition definition);
  // The error agent_unknown lists the existing names.
  Result<const AgentDefinition*> find(std::string_view name) const;
  const std::map<std::string, AgentDefinition, std::less<>>& all() const { return agents_; }
  // The agent of a session that names none.
  const std::string& default_name() const { return default_; }
  void set_default(std::string name) { default_ = std::move(name); }

 private:
  std::map<std::string, AgentDefinition, std::less<>> agents_;
  std::string default_ = "demo";
};

}  // namespace perdure
