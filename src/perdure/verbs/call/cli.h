// The command line. main.cc calls cli_main and passes the functions that work on the data folder
// itself, without the daemon.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "client/api.h"
#include "env/file_tree.h"

namespace perdure::cli {

struct ServeOptions {
  std::vector<std::string> listen;  // as given; empty: the config's, or 127.0.0.1:7433
  std::string config;               // path; empty: the default one
  std::string tls_certificate;
  std::string tls_key;
  std::string advertise;   // shared database: address at which other daemons reach this one
  std::string executions;  // shared database: a folder shared by the daemons of one host
  std::int64_t lease_secs = 0;
  std::string node;          // its name on a shared database; empty: the host's name
  std::string store;         // the engine; empty: that of the data folder, or sqlite
  bool background = false;   // detach, and return once /readyz is 200
  bool clean_start = false;  // U12: archives the existing data first
  bool stop = false;         // stops the running daemon; starts none
};

struct DoctorCheck {
  std::string name;     // "disk", "sqlite", "agent claude"
  std::string verdict;  // ok, warn, fail
  std::string message;
  std::string advice;  // what to do; empty if ok
  FIELDS {
    visit("name", self.name);
    visit("verdict", self.verdict);
    visit("message", self.message);
    visit("advice", self.advice);
  }
};

// A session whose journal or blobs differ from what was written.
struct DamagedSession {
  std::string session;
  std::uint64_t good_records = 0;  // readable up to here
  std::string message;
  FIELDS {
    visit("session_id", self.session);
    visit("good_records", self.good_records);
    visit("message", self.message);
  }
};

struct VerifyReport {
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  std::vector<DamagedSession> damaged;
  FIELDS {
    visit("sessions", self.sessions);
    visit("records", self.records);
    visit("damaged", self.damaged);
  }
};

struct RepairReport {
  bool dry_run = false;
  std::vector<std::string> steps;  // steps done, or to be done: one sentence each
  FIELDS {
    visit("dry_run", self.dry_run);
    visit("steps", self.steps);
  }
};

struct FileReport {
  std::string file;
  std::uint64_t sessions = 0;
  std::uint64_t bytes = 0;
  std::vector<DamagedSession> damaged;  // after a restore: these are read-only
  FIELDS {
    visit("file", self.file);
    visit("sessions", self.sessions);
    visit("bytes", self.bytes);
    visit("damaged", self.damaged);
  }
};

struct GcReport {
  bool dry_run = true;
  std::uint64_t bytes = 0;           // that are, or would be, freed
  std::vector<std::string> removed;  // one sentence each
  FIELDS {
    visit("dry_run", self.dry_run);
    visit("bytes", self.bytes);
    visit("removed", self.removed);
  }
};

struct CopyReport {
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  std::uint64_t answers = 0;
  std::uint64_t blobs = 0;
  FIELDS {
    visit("sessions", self.sessions);
    visit("records", self.records);
    visit("answers", self.answers);
    visit("blobs", self.blobs);
  }
};

struct SalvageReport {
  std::vector<std::string> kept;  // copies of damaged files, by path
  std::uint64_t indexes_rebuilt = 0;
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  std::vector<DamagedSession> damaged;  // permanently: some of their records are lost
  FIELDS {
    visit("kept", self.kept);
    visit("indexes_rebuilt", self.indexes_rebuilt);
    visit("sessions", self.sessions);
    visit("records", self.records);
    visit("damaged", self.damaged);
  }
};

// A place is sqlite:FILE, files:FOLDER, or a path with a store.
struct CopyLocally {
  std::string from;
  std::string to;
  // Reports the current step and its progress from time to time.
  std::function<void(const std::string& sentence)> on_progress;
};
struct RepairLocally {
  std::string session;  // empty: all
  bool dry_run = false;
};
struct RestoreLocally {
  std::string file;
  bool replace = false;  // replaces existing data; otherwise a data folder that is not empty is an
                         // error
};
struct GcLocally {
  bool dry_run = true;
};
struct InstallService {
  bool enable = false;  // start it now and at every login
};

// Another host, and how to reach it.
struct AddRemote {
  std::string name;
  std::string target;                    // for ssh: user@host
  std::vector<std::string> ssh_options;  // words before the target
  std::string host;                      // that the daemon connects to; empty: as in ssh
  std::uint64_t port = 0;                // port of the outpost; 0: any, then kept
  std::string folder;                    // of the outpost, on that host; empty: below its home
  // Reports the current step from time to time.
  std::function<void(const std::string& sentence)> on_progress;
};
struct RemoteRow {
  std::string name;
  std::string target;
  std::string address;
  std::string fingerprint;
  FIELDS {
    visit("name", self.name);
    visit("target", self.target);
    visit("address", self.address);
    visit("fingerprint", self.fingerprint);
  }
};

// The arguments of `perdure acp`.
struct BridgeOptions {
  std::string agent;    // for new sessions; empty: the daemon's default
  std::string session;  // an id: session/new opens this session
};
// The connection to the daemon, and how to restart it if permitted; both outlive the bridge.
struct BridgeWorld {
  client::DaemonApi& daemon;
  std::function<Result<>()> revive;
};

// Functions that work on the data folder itself. If one is missing, its verb reports that this
// build lacks it (exit 1). `conflict`: a daemon holds the folder.
struct LocalVerbs {
  std::string version;
  std::function<int(const ServeOptions&)> serve;
  // Speaks ACP on stdin and stdout until the editor disconnects. Returns the exit code.
  std::function<int(const BridgeWorld&, const BridgeOptions&)> acp;
  std::function<std::vector<DoctorCheck>()> doctor;
  std::function<Result<VerifyReport>(const std::string& session)> verify;  // empty: all
  std::function<Result<CopyReport>(const CopyLocally&)> store_copy;
  // For a store at any place.
  std::function<Result<VerifyReport>(const std::string& place)> store_verify;
  std::function<Result<SalvageReport>(const std::string& place)> store_salvage;  // empty: our own
  std::function<Result<RepairReport>(const RepairLocally&)> repair;
  std::function<Result<FileReport>(const std::string& file)> backup;
  std::function<Result<FileReport>(const RestoreLocally&)> restore;
  std::function<Result<GcReport>(const GcLocally&)> gc;
  std::function<Result<std::string>(const InstallService&)> service_install;  // sentences
  std::function<Result<std::string>()> service_status;                        // sentences
  std::function<Result<std::string>()> config_show;                           // the TOML in effect
  std::function<Result<std::string>(const AddRemote&)> remote_add;            // sentences
  std::function<Result<std::vector<RemoteRow>>()> remote_list;
  std::function<Result<>(const std::string& name)> remote_remove;
  std::function<Result<std::string>(const std::string& name)> remote_check;  // sentences
  std::function<Result<std::string>(const std::string& name)> remote_start;  // sentences
  // For `adopt`: opens folders, and a database of OpenCode.
  std::function<Result<std::unique_ptr<FileTree>>(const std::string& root)> open_tree;
  std::function<Result<std::vector<std::string>>(const std::string& file)> opencode_sessions;
};

// Runs one command line and returns its exit code. Blocks.
int cli_main(int argc, char** argv, LocalVerbs local);

}  // namespace perdure::cli
