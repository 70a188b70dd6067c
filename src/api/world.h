// What the handlers work on. The wiring owns all of it and keeps it alive for as long as the API.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "agents/probe_report.h"
#include "auth/principal.h"
#include "base/result.h"
#include "base/secret_mask.h"
#include "env/env.h"
#include "http/message.h"
#include "runtime/audit.h"
#include "runtime/node.h"
#include "runtime/runtime.h"
#include "runtime/session_list.h"
#include "wire/peer.h"

namespace perdure {

class MetricsText;

// A worktree of the repository that `cwd` is in, for this session.
struct WorktreeOrder {
  SessionId session;
  std::string cwd;
  std::string branch;  // empty: one named after the session
  // Of a worktree at `cwd` that Perdure made: its repository, as the journal knows it.
  std::string repository = {};
};

struct RemoteOrder {
  std::string remote;
  SessionId session;
  std::string cwd;                         // absolute, there; empty: a folder of its own is made
  std::optional<std::string> branch = {};  // given: a worktree of the repository at cwd; as above
};

// A daemon on the same store, as GET /api/nodes shows it.
struct ServedNode {
  std::string name;
  std::string address;  // unix:/path, http(s)://host:port; empty: not known
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
  // Where actions are noted before they begin. Without it nothing is noted, as in some tests.
  Audit* audit = nullptr;
  std::string version;
  BootId boot = {};                       // this daemon's life
  std::string workspaces_folder;          // for sessions without a cwd
  Policy policy;                          // of a session that says nothing else
  std::string resume_on_open = "active";  // of the page (K6): active, always, never

  // Which session's own folder `cwd` is; a null id: it has nothing to do with Perdure's folders.
  // invalid_argument: nobody may work there. Without the hook everything is allowed.
  std::function<Result<SessionId>(const std::string& cwd)> folder_owner = {};
  // Which sessions a process inside a session reaches; null: its own one.
  std::shared_ptr<const SessionReach> reach = nullptr;

  // Makes the folder of a session without a cwd and gives its path. Asked twice it gives the same.
  std::function<Result<std::string>(SessionId session)> make_workspace;
  // Keeps the values of a session's environment variables, outside of the journal (K19). Answers
  // later, on the loop, once they are on the disk.
  std::function<void(SessionId session, std::map<std::string, std::string> values,
                     std::move_only_function<void(Result<>)> done)>
      keep_environment;
  // What Perdure knows to be secret of a session: values of its environment and its MCP servers.
  // Without the hook only its own tokens are hidden.
  std::function<SecretMask(SessionId session)> secrets_of;
  // Answers later, on the loop. Without one worktrees are refused.
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;
  std::function<void(WorktreeOrder order, OnWorktree done)> make_worktree;
  // Whether the container engine has the image; answers later, on the loop. Without the hook
  // sessions in containers are refused.
  std::function<void(std::string image, std::move_only_function<void(Result<>)> done)> find_image;
  std::string default_image = {};  // of sessions in containers that name none
  // The folder of a session on another host: looked for there, or made there. Answers later, on the
  // loop; remote_unavailable when that host does not. Without the hook such sessions are refused.
  std::function<void(RemoteOrder order, OnWorktree done)> make_remote_workspace;
  // Why nothing is known of a session's agentctl just now; empty: it is, or nobody knows why.
  std::function<std::string(SessionId session)> doubt_about;
  // Adds what only the wiring knows to /metrics.
  std::function<void(MetricsText& text)> more_metrics;
  // Why limits of this kind cannot be kept on this machine; nothing: they can. Without the hook
  // nothing is refused.
  std::function<Result<>(const AgentLimits& limits)> check_limits;
  // Whether a program that an agent needs is on this machine. Without the hook everything is.
  std::function<bool(const AgentDefinition& agent, const std::string& program)> has_program;
  // Ends in good order and starts again (D6): under the program that lies at its path now, or under
  // the one that runs.
  enum class RestartWith { present_program, running_program };
  std::function<Result<>(RestartWith with)> restart;
  // Takes away what was made for a session that is deleted: its workspace, its environment.
  std::function<void(SessionId session)> forget_session;
  // Reads the whole journal beside everything else. `progress` is called on the loop, now and then
  // and with the end.
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
  // Starts an agent for real and measures it, in a process of its own. agent_unknown,
  // agent_missing, conflict while it is being probed.
  struct Probed {
    bool is_running = false;
    std::vector<ProbeStep> steps;       // of the run that is under way, or that was last
    std::optional<ProbeReport> report;  // the last that there is
    std::string error;                  // why the last run gave none
  };
  std::function<Result<>(const std::string& agent)> start_probe;
  std::function<Probed(const std::string& agent)> probed;
  // Of a store that several daemons share; without a name there is one.
  std::string node_name = {};
  std::string peer_key = {};  // signs what they say to each other
  std::function<Result<std::vector<ServedNode>>()> nodes = {};
  // Runtime::owner. Without the hook all sessions are this daemon's.
  std::function<Result<std::string>(SessionId session)> owner = {};
  // StoreEngine::owners.
  std::function<Result<std::map<SessionId, std::string>>(std::span<const SessionId> sessions)>
      owners = {};
  // Has another daemon answer a client's request. Answers later, on the loop: what its route said;
  // stale_owner when the session is not that one's, unavailable when it cannot be reached.
  using OnPeerAnswer = std::move_only_function<void(Result<HttpResponse>)>;
  std::function<void(const std::string& node, PeerCall call, OnPeerAnswer done)> call_peer = {};
  // Copies the journal into a new file while it goes on being written (S13). Answers on the loop.
  std::function<void(std::string path, std::move_only_function<void(Result<>)> done)> backup;
};

}  // namespace perdure
