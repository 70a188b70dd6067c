// All parts of a running daemon. One thread runs everything but the store. Members are declared in
// the order of their construction and destroyed in reverse.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/client/worktree.h"
#include "base/result.h"
#include "core/agents/definition.h"
#include "core/auth/listen.h"
#include "daemon/acp_socket.h"
#include "daemon/api/api.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/api/routes/session/command_routes.h"
#include "daemon/api/streams/stream_slots.h"
#include "daemon/api/world.h"
#include "daemon/api/ws/ws.h"
#include "daemon/cluster/peers.h"
#include "daemon/hosting/container/docker_engine.h"
#include "daemon/hosting/local_agentctls.h"
#include "daemon/launch/agent_launch.h"
#include "daemon/launch/probe_runs.h"
#include "daemon/launch/remotes.h"
#include "daemon/notify/notify.h"
#include "daemon/registry/node.h"
#include "daemon/rules/rules.h"
#include "daemon/runtime/audit/audit.h"
#include "daemon/runtime/runtime.h"
#include "daemon/serve.h"
#include "daemon/setup/config.h"
#include "daemon/setup/data_folder.h"
#include "daemon/setup/log.h"
#include "daemon/setup/threads/caller_thread.h"
#include "daemon/setup/threads/disk_thread.h"
#include "daemon/setup/threads/store_thread.h"
#include "daemon/setup/threads/verify_thread.h"
#include "env/posix/confine/confine.h"
#include "env/posix/confine/tcp_caller.h"
#include "env/posix/loop/loop.h"
#include "env/posix/loop/shared_loop.h"
#include "env/posix/loop/signals.h"
#include "env/posix/process/posix_host.h"
#include "env/posix/process/processes.h"
#include "env/posix/world.h"
#include "net/io.h"
#include "net/server/listeners.h"
#include "net/server/server.h"
#include "store/engine.h"

namespace perdure {

// Whether this machine can enforce such limits; unavailable gives the reason.
Result<> can_limit(const AgentLimits& limits);

class Daemon final : private Notifier {
 public:
  // Shared by all lives of a daemon in one process.
  struct Lives {
    KeptListeners listeners = {};
    std::optional<std::int64_t> inside_restart_ms = {};  // since boot; asked for inside a session
    std::string agentctl = {};  // the copy that is started; empty: none was made yet
  };
  struct Setting {
    ServeOptions options;
    Places places;
    Config config;
    std::shared_ptr<Lives> lives;
  };
  // Takes the lock, opens the store, binds the sockets. conflict: another daemon has the folder.
  static Result<std::unique_ptr<Daemon>> create(Setting setting);
  ~Daemon() override;

  // Runs until a signal ends it. Calls `ready` when reconcile is done and requests are served.
  void run(std::move_only_function<void()> ready);

  // A restart was requested (D6); the caller performs it after this object is destroyed.
  bool is_restarting() const { return restarting_; }
  ApiWorld::RestartWith restart_with() const { return restart_with_; }
  // ADDRESS:PORT on which it listens.
  const std::string& listening() const { return listening_; }
  // http://127.0.0.1:7433
  const std::string& url() const { return url_; }
  // The same with a launch token that can be used once.
  std::string launch_url();

 private:
  explicit Daemon(Setting setting);
  Result<> open_data();
  void keep_agentctl();
  Result<> open_store();
  Result<> make_agents();
  Result<> make_api();
  Result<> open_audit();
  void note_start();
  void note_stop(std::string_view why);
  std::map<std::string, std::string> remotes_now() const;
  void watch_remotes();
  void look_at_remotes();
  void give_hooks();
  void give_folder_hooks();
  // For a store that several daemons share: who the others are, and how to reach them.
  Result<> meet_peers();
  void give_peer_hooks();
  Result<> announce(const ListenAddress& address);
  // Called from another thread after other daemons may have written these sessions.
  void hear_of(std::vector<SessionId> sessions);
  void add_routes();
  void add_metrics(MetricsText& text);
  Result<> listen();
  void stop(int signal);
  void end();
  Result<> restart(ApiWorld::RestartWith with);
  void look_at_limits();
  void make_engine();
  // K33: removes containers of this data folder that no session refers to.
  void look_at_containers();
  void forget_session(SessionId session);
  void notify(SessionId session, const Notify& what) override;
  LaunchSetting launch_setting() const;
  Result<Bootstrap> launch(const LaunchSpec& spec);
  // Tells the gate where callers come from.
  void add_origins(GateConfig& gate);

  Setting setting_;
  std::unique_ptr<DataFolder> data_;
  std::string key_;   // derives wait secrets and agentctls' secrets
  std::string home_;  // where our agents live, for daemons on one store; empty: only one place
  std::string node_name_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<EpollLoop> loop_;
  std::unique_ptr<SharedLoop> shared_loop_;
  std::unique_ptr<HttpIo> io_;
  std::unique_ptr<PosixClock> clock_;
  PosixRandom random_;
  PosixFiles files_;
  std::unique_ptr<SignalWatch> signals_;
  std::unique_ptr<PosixProcesses> processes_;
  std::unique_ptr<PosixHost> host_;
  std::unique_ptr<PendingTasks> pending_;
  std::unique_ptr<DiskThread> disk_thread_;
  std::unique_ptr<StoreEngine> store_;
  std::unique_ptr<StoreThread> store_thread_;
  AgentCatalog agents_;
  std::unique_ptr<Notifications> notifications_;
  std::unique_ptr<DockerEngine> engine_;
  std::unique_ptr<Remotes> remotes_;
  std::unique_ptr<LocalAgentctls> agentctls_;
  std::unique_ptr<HttpPeers> peers_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<Audit> audit_;
  std::unique_ptr<Worktrees> worktrees_;
  std::unique_ptr<ProbeRuns> probes_;
  std::unique_ptr<ApiWorld> world_;
  std::unique_ptr<SessionCommands> commands_;
  std::unique_ptr<Api> api_;
  StreamSlots slots_;
  std::unique_ptr<ReadRoutes> reads_;
  std::unique_ptr<RuleAnswerer> rules_;
  std::unique_ptr<WsServer> ws_;
  std::unique_ptr<AcpServer> acp_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<VerifyThread> verifying_;
  std::map<std::string, std::string> remotes_known_;  // name and version of the file
  Confinement confinement_;                           // how far agents can be confined here
  std::unique_ptr<TcpCallers> callers_;
  std::unique_ptr<CallerThread> caller_thread_;
  AgentLimits limits_;  // the default for sessions
  std::string url_;
  std::string listening_;
  std::int64_t began_ms_ = 0;
  BootId boot_;
  bool stopping_ = false;
  bool restarting_ = false;
  ApiWorld::RestartWith restart_with_ = ApiWorld::RestartWith::running_program;
};

}  // namespace perdure
