// The objects that the handlers use. The wiring owns them and keeps them alive as long as the API.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret_mask.h"
#include "core/agents/definition.h"
#include "core/agents/probe_report.h"
#include "core/auth/principal.h"
#include "core/wire/peer.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/audit/audit.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/runtime.h"
#include "env/env.h"
#include "net/message.h"

namespace perdure {

class MetricsText;

// A worktree to create for this session in the repository that contains `cwd`.
struct WorktreeOrder {
  SessionId session;
  std::string cwd;
  std::string branch;  // empty: named after the session
  // If `cwd` is a worktree that Perdure made: its repository, from the journal.
  std::string repository = {};
};

struct RemoteOrder {
  std::string remote;
  SessionId session;
  std::string cwd;                         // absolute, on the remote; empty: a folder is created
  std::optional<std::string> branch = {};  // if set: a worktree of the repository at cwd; as above
};

// A daemon on the same store, as GET /api/nodes shows it.
struct ServedNode {
  std::string name;
  std::string address;  // unix:/path, http(s)://host:port; empty: unknown
  std::string home;     // where its agents live
  std::int64_t heard_ms = 0;
  bool is_self = false;
  bool is_silent = false;
};

struct ApiWorld {
  Runtime& runtime;
  Node& node;
  SessionList& sessions;
  Clock& clock;
  Random& random;
  Loop& loop;
  Files& files;
  Workspaces& workspaces;
  const AgentCatalog& agents;
  // Records actions before they begin. Null in some tests: nothing is recorded.
  Audit* audit = nullptr;
  std::string version;
  BootId boot = {};                       // this daemon's life
  std::string workspaces_folder;          // holds the folders of sessions without a cwd
  Policy policy;                          // the default for a session
  std::string resume_on_open = "active";  // the page's setting (K6): active, always, never

  // The session whose own folder `cwd` is; a null id: not one of Perdure's folders.
  // invalid_argument: no session may work there. Without the hook everything is allowed.
  std::function<Result<SessionId>(const std::string& cwd)> folder_owner = {};
  // Which sessions a process inside a session can reach; null: only its own.
  std::shared_ptr<const SessionReach> reach = nullptr;

  // Creates the folder of a session without a cwd and returns its path; idempotent.
  std::function<Result<std::string>(SessionId session)> make_workspace;
  // Stores the values of a session's environment variables, outside the journal (K19). Answers
  // later, on the loop, after they are on disk.
  std::function<void(SessionId session, std::map<std::string, std::string> values,
                     std::move_only_function<void(Result<>)> done)>
      keep_environment;
  // The known secrets of a session: values of its environment and its MCP servers. Without the hook
  // only its own tokens are masked.
  std::function<SecretMask(SessionId session)> secrets_of;
  // Answers later, on the loop. Without the hook worktrees are refused.
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;
  std::function<void(WorktreeOrder order, OnWorktree done)> make_worktree;
  // Whether the container engine has the image; answers later, on the loop. Without the hook
  // sessions in containers are refused.
  std::function<void(std::string image, std::move_only_function<void(Result<>)> done)> find_image;
  std::string default_image = {};  // for container sessions that name no image
  // Finds or creates the folder of a session on another host. Answers later, on the loop;
  // remote_unavailable if that host does not answer. Without the hook such sessions are refused.
  std::function<void(RemoteOrder order, OnWorktree done)> make_remote_workspace;
  // Why the state of a session's agentctl is unknown; empty: it is known, or the reason is not.
  std::function<std::string(SessionId session)> doubt_about;
  // Adds what only the wiring knows to /metrics.
  std::function<void(MetricsText& text)> more_metrics;
  // Fails with the reason if limits of this kind cannot be enforced on this machine. Without the
  // hook all limits are accepted.
  std::function<Result<>(const AgentLimits& limits)> check_limits;
  // Whether a program that an agent needs is installed. Without the hook every program is.
  std::function<bool(const AgentDefinition& agent, const std::string& program)> has_program;
  // Shuts down in order and starts again (D6), with the program that is at its path now or with the
  // one that is running.
  enum class RestartWith { present_program, running_program };
  std::function<Result<>(RestartWith with)> restart;
  // Removes what was created for a session that is being deleted: its workspace, its environment.
  std::function<void(SessionId session)> forget_session;
  // Reads the whole journal in the background. `progress` is called on the loop, from time to time
  // and at the end.
  struct Verified {
    std::uint64_t sessions = 0;
    std::uint64_t sessions_done = 0;
    std::uint64_t records = 0;
    struct Damaged {
      std::string session;
      std::uint64_t good = 0;
      std::string what;
    };
    std::vector<Damaged> damaged;
    bool is_done = false;
    std::string error;
  };
  std::function<Result<>()> start_verify;
  std::function<Verified()> verified;
  // Folders with data that a clean start or a restore moved aside.
  std::function<std::vector<std::string>()> set_aside = {};
  // What belongs to no session, as sentences; taken away unless `dry_run`.
  struct Collected {
    std::vector<std::string> removed;
    std::uint64_t bytes = 0;
  };
  enum class Collect { look, take };
  std::function<Result<Collected>(Collect how)> collect;
  // Starts a real agent in a separate process and measures it. agent_unknown, agent_missing, or
  // conflict if it is already being probed.
  struct Probed {
    bool is_running = false;
    std::vector<ProbeStep> steps;       // from the current run, or the last one
    std::optional<ProbeReport> report;  // the most recent one
    std::string error;                  // why the last run produced none
  };
  std::function<Result<>(const std::string& agent)> start_probe;
  std::function<Probed(const std::string& agent)> probed;
  // For a store that several daemons share; empty if there is only one daemon.
  std::string node_name = {};
  std::string peer_key = {};  // signs the daemons' messages to each other
  std::function<Result<std::vector<ServedNode>>()> nodes = {};
  // Runtime::owner. Without the hook this daemon owns all sessions.
  std::function<Result<std::string>(SessionId session)> owner = {};
  // StoreEngine::owners.
  std::function<Result<std::map<SessionId, std::string>>(std::span<const SessionId> sessions)>
      owners = {};
  // Has another daemon answer a client's request. Answers later, on the loop: the route's response,
  // stale_owner if the daemon does not own the session, or unavailable if it is unreachable.
  using OnPeerAnswer = std::move_only_function<void(Result<HttpResponse>)>;
  std::function<void(const std::string& node, PeerCall call, OnPeerAnswer done)> call_peer = {};
  // Copies the journal into a new file while writes continue (S13). Answers on the loop.
  std::function<void(std::string path, std::move_only_function<void(Result<>)> done)> backup;
};

}  // namespace perdure
