#include "main/daemon.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/profiles.h"
#include "api/audit_routes.h"
#include "api/care_routes.h"
#include "api/metrics_routes.h"
#include "api/node_routes.h"
#include "api/openapi.h"
#include "api/peer_routes.h"
#include "api/transfer_routes.h"
#include "api/workspace_routes.h"
#include "auth/listen.h"
#include "base/failpoint.h"
#include "base/hash.h"
#include "base/limits.h"
#include "env_posix/caller.h"
#include "env_posix/kept_program.h"
#include "http/static_files.h"
#include "main/open_journal.h"
#include "runtime/lineage.h"
#include "runtime/removal.h"
#include "runtime/shared.h"
#include "wire/search_text.h"

namespace perdure {
namespace {

constexpr std::string_view version = PERDURE_VERSION;
// D5: without a port of the user's choosing, the next ones are tried.
constexpr std::uint16_t ports_tried = 16;
constexpr int exit_storage = 70;
constexpr std::int64_t stop_grace_ms = 300;

struct Listen {
  std::string host;  // as given
  std::uint16_t port = 0;
};

Result<Listen> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return fail(Code::invalid_argument, "listen is ADDRESS:PORT, such as 127.0.0.1:7433");
  }
  Listen out{.host = text.substr(0, colon)};
  const std::string port = text.substr(colon + 1);
  const auto [at, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || at != port.data() + port.size()) {
    return fail(Code::invalid_argument, "'" + port + "' is no port");
  }
  return out;
}

// Clients leave descriptors to stores, agentctls and files.
std::size_t connections_of_clients() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return connections_max;
  }
  const auto all = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(connections_max, all - std::min(descriptors_reserved, all / 2));
}

// One who has a token leaves some connections to others, however many streams it may open.
std::size_t connections_of_credential(std::size_t all, std::size_t streams) {
  return std::min(std::max(connections_per_credential_max, 2 * streams), all - all / 8);
}

// S12: whether the file is still the one that was there at the first look that found one.
std::function<bool()> same_file(std::string path) {
  return [path = std::move(path), known = std::optional<std::pair<dev_t, ino_t>>()] mutable {
    struct stat now{};
    if (stat(path.c_str(), &now) != 0) return false;
    const std::pair<dev_t, ino_t> found(now.st_dev, now.st_ino);
    if (!known) known = found;
    return *known == found;
  };
}

}  // namespace

Daemon::Daemon(Setting setting)
    : setting_(std::move(setting)), slots_(setting_.config.streams_per_principal_max) {}

Result<std::unique_ptr<Daemon>> Daemon::create(Setting setting) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(setting)));
  TRY_VOID(daemon->open_data());
  TRY_VOID(daemon->open_store());
  TRY_VOID(daemon->make_agents());
  TRY_VOID(daemon->make_api());
  TRY_VOID(daemon->listen());
  return daemon;
}

Daemon::~Daemon() {
  if (log_ && stopping_) log_->note("stopped");
  // No callback may find half a daemon: first who calls from outside, then who is called.
  server_.reset();
  caller_thread_.reset();
  acp_.reset();
  ws_.reset();
  rules_.reset();
  reads_.reset();
  api_.reset();
  commands_.reset();
  peers_.reset();
  runtime_.reset();
  verifying_.reset();
  agentctls_.reset();
  remotes_.reset();
  engine_.reset();
  store_thread_.reset();
  if (!store_) return;
  if (const Result<> shut = store_->shut_down(); !shut && log_) log_->warn(shut.error().message());
}

Result<> Daemon::open_data() {
  // Forks, so before there is any thread.
  if (setting_.config.confine) confinement_ = try_namespaces();
  data_ = TRY(DataFolder::open(setting_.places.data));
  TRY_VOID(data_->lock());
  if (!setting_.config.executions.empty()) {
    TRY_VOID(data_->share_executions(setting_.config.executions));
  }
  log_ = TRY(Log::open({.file = data_->logs() + "/perdure.log",
                        .bytes_max = setting_.config.log_bytes_max,
                        .files = setting_.config.log_files,
                        .also_stderr = !setting_.options.background}));
  log_->hide(config_secrets(setting_.config));
  keep_agentctl();
  loop_ = TRY(EpollLoop::create());
  shared_loop_ = std::make_unique<SharedLoop>(*loop_);
  io_ = HttpIo::create();
  io_->drive(loop_->descriptor(), [this] { loop_->pump(); });
  clock_ = TRY(PosixClock::create());
  signals_ = TRY(
      SignalWatch::create(*loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int number) { stop(number); }));
  processes_ = PosixProcesses::create(*loop_);
  host_ = std::make_unique<PosixHost>(*loop_);
  pending_ = std::make_unique<PendingTasks>(*loop_);
  disk_thread_ = std::make_unique<DiskThread>(*shared_loop_);
  return {};
}

// Sessions can write the folder that it was installed to, and it starts outside of them all. It is
// taken once per process: a restart that was asked for from inside a session takes no other one.
// Without it the journal is served all the same.
void Daemon::keep_agentctl() {
  std::string& kept = setting_.lives->agentctl;
  if (!kept.empty()) return;
  kept = data_->programs() + "/perdure-agentctl";
  const Result<> done = keep_program({.from = setting_.options.agentctl, .to = kept});
  if (!done) log_->error("agents may not start: " + done.error().message());
}

Result<> Daemon::open_store() {
  // S7: the key of a life before is there and its journal is not. Starting empty would hide that.
  const bool create = !data_->was_used();
  const StorePlace place = TRY(choose_journal(data_->path(), setting_.options.store));
  OpenJournal order{.on_fatal =
                        [log = log_.get()](const Error& error) {
                          // DISK1: what was in flight is unknown. Nobody is answered; recovery
                          // reads the truth.
                          const bool is_replaced = error.code() == Code::stale_owner;
                          log->error((is_replaced ? "the daemon ends: "
                                                  : "the disk failed, so the daemon ends: ") +
                                     error.message());
                          log->flush();
                          _exit(exit_storage);
                        },
                    .search_piece = search_piece,
                    .is_there = {},
                    .create = create};
  if (place.engine != EngineName::postgres) {
    if (data_->shares_executions()) {
      return fail(Code::invalid_argument, "executions are shared by daemons on one database only");
    }
    order.is_there = same_file(landmark(place));
  } else {
    order.home = TRY(data_->home());
    if (!create) order.new_shared_key = TRY(data_->key());
    order.on_changed = [this](std::vector<SessionId> sessions) { hear_of(std::move(sessions)); };
    order.on_redacted = [this](std::vector<SessionId> sessions) {
      shared_loop_->post([this, sessions = std::move(sessions)] {
        if (runtime_) runtime_->forget_text(sessions);
      });
    };
    if (const std::int64_t lease = setting_.config.lease_secs; lease > 0) {
      order.lease = std::chrono::seconds(lease);
    }
  }
  const std::string home = order.home;
  Result<std::unique_ptr<StoreEngine>> store = open_journal(place, std::move(order));
  if (!store) {
    Error error = std::move(store).error().with_context(
        place.engine == EngineName::postgres ? "the database" : landmark(place));
    if (create) return std::unexpected(std::move(error));
    std::error_code ignored;
    if (error.code() == Code::damaged && std::filesystem::exists(landmark(place), ignored)) {
      return fail(error.code(), error.message() +
                                    " (what can be read is brought back by: perdure store salvage; "
                                    "or restore a backup with: perdure restore FILE)");
    }
    return fail(error.code(), error.message() +
                                  " (other data is here, so no empty journal is made; restore a "
                                  "backup with: perdure restore FILE)");
  }
  store_ = std::move(*store);
  for (const std::string& note : store_->notes()) log_->warn("journal: " + note);
  TRY_VOID(note_journal(data_->path(), place));
  // Only now: it says that there is a journal, so a start that was cut off leaves none.
  key_ = TRY(data_->key());
  if (store_->is_shared()) {
    home_ = home;
    node_name_ = place.node;
    key_ = TRY(store_->shared_key());
  }
  store_thread_ = std::make_unique<StoreThread>(
      *store_, StoreThread::Care{.now = [this] { return clock_->now().wall; }});
  return {};
}

// What the machine cannot keep is said, once, and not kept; the time of a run is ours to keep.
void Daemon::look_at_limits() {
  limits_ = setting_.config.limits;
  if (const Result<> can = can_limit(limits_); !can) {
    log_->warn("limits.memory_bytes, .processes and .cpu_percent are not kept: " +
               can.error().message());
    limits_ = {.run_ms = limits_.run_ms};
  }
}

Result<> Daemon::make_agents() {
  look_at_limits();
  agents_.add(demo_agent_definition(setting_.options.program));
  for (const AgentDefinition& agent : known_agents()) agents_.add(agent);
  for (const AgentDefinition& agent : setting_.config.agents) agents_.add(agent);
  TRY(agents_.find(setting_.config.default_agent));
  agents_.set_default(setting_.config.default_agent);
  const NotifySettings& notify = setting_.config.notify;
  notifications_ =
      TRY(Notifications::create({*clock_, *shared_loop_, *processes_, *io_},
                                {.webhook_url = notify.webhook_url,
                                 .webhook_secret = notify.webhook_secret,
                                 .command = notify.command,
                                 .command_environment = agentctl_environment(setting_.places),
                                 .events = notify.events,
                                 .debounce_ms = notify.debounce_ms}));
  agentctls_ = std::make_unique<LocalAgentctls>(
      LocalPorts{*clock_, *shared_loop_, *processes_, *host_},
      LocalSetting{.agentctl_command = {setting_.lives->agentctl},
                   .environment = agentctl_environment(setting_.places),
                   .when_stale = store_->is_shared() ? WhenStale::wait : WhenStale::end,
                   .is_still_ours =
                       [this](SessionId session, std::uint64_t epoch) {
                         return check_still_ours(*store_, {session, epoch}).has_value();
                       }},
      MakeBootstraps{
          .to_start = [this](const LaunchSpec& spec) { return launch(spec); },
          .to_attach =
              [this](const LaunchSpec& spec) { return make_identity(launch_setting(), spec); }});
  make_engine();
  boot_ = IdSource(clock_->now().wall, random_.next()).next<BootId>();
  TRY_VOID(meet_peers());
  runtime_ = std::make_unique<Runtime>(
      Runtime::World{*clock_, random_, *shared_loop_, files_, *store_, *agentctls_,
                     static_cast<Notifier&>(*this), peers_.get()},
      RuntimeConfig{.boot = boot_,
                    .wait_key = key_,
                    .resume_parallel = setting_.config.resume_parallel,
                    .home = home_,
                    .on_look = [this] {
                      if (node_) std::ignore = node_->catch_up();
                      if (audit_ && store_->is_shared()) std::ignore = audit_->catch_up();
                    }});
  agentctls_->set_events(*runtime_);
  agentctls_->set_limits(
      {.live_max = setting_.config.live_agents_max, .workspaces_max = workspaces_live_max});
  agentctls_->set_lineage([this](SessionId session) { return top_of_lineage(*runtime_, session); });
  return {};
}

Result<Bootstrap> Daemon::launch(const LaunchSpec& spec) {
  Bootstrap bootstrap = TRY(make_launch(launch_setting(), spec));
  SecretMask secrets;
  for (const auto& [name, value] : bootstrap.agent.environment) secrets.add(name, value);
  secrets.add_mcp_servers(bootstrap.agent.mcp_servers);
  log_->hide(secrets);
  return bootstrap;
}

LaunchSetting Daemon::launch_setting() const {
  return {.data = *data_,
          .places = setting_.places,
          .agents = agents_,
          .config = setting_.config,
          .key = key_,
          .limits = limits_,
          .shares_folder = [this](SessionId session, SessionId owner) {
            return stems_from(*runtime_, session, owner);
          }};
}

Result<> Daemon::make_api() {
  node_ = TRY(Node::open({*clock_, random_, *shared_loop_, *store_}));
  TRY_VOID(open_audit());
  // A deletion that a crash cut short is finished before anybody can see the session.
  TRY(finish_removals(*store_, node_->state()));
  const bool confine = setting_.config.confine;
  worktrees_ = std::make_unique<Worktrees>(
      Worktrees::Ports{*shared_loop_, *processes_},
      Worktrees::Setting{.agentctl_command = {setting_.lives->agentctl},
                         .environment = agentctl_environment(setting_.places),
                         .hide = confine ? data_->hidden() : HiddenFolders()});
  probes_ = std::make_unique<ProbeRuns>(
      ProbeRuns::Ports{*shared_loop_, *processes_},
      ProbeRuns::Setting{.folder = data_->probes(),
                         // The file that runs, whatever lies at its path by now.
                         .command = {"/proc/self/exe", "probe-agent"},
                         .environment = agentctl_environment(setting_.places)});
  world_ = std::make_unique<ApiWorld>(ApiWorld{.runtime = *runtime_,
                                               .node = *node_,
                                               .sessions = runtime_->sessions(),
                                               .clock = *clock_,
                                               .random = random_,
                                               .loop = *shared_loop_,
                                               .files = files_,
                                               .workspaces = *agentctls_,
                                               .agents = agents_,
                                               .audit = audit_.get(),
                                               .version = std::string(version),
                                               .boot = boot_,
                                               .workspaces_folder = data_->workspaces(),
                                               .policy = setting_.config.policy,
                                               .resume_on_open = setting_.config.resume_on_open});
  give_hooks();
  give_peer_hooks();
  const std::string token = TRY(data_->token());
  GateConfig gate{.admin_token = sha256(token), .uid = geteuid(), .reach = world_->reach};
  add_origins(gate);
  for (const std::string& url : setting_.config.public_urls) {
    TRY_VOID(gate.names.add_public_url(url));
  }
  // The others call us by it.
  if (const std::string& url = setting_.config.advertise; url.starts_with("http")) {
    TRY_VOID(gate.names.add_public_url(url));
  }
  api_ =
      std::make_unique<Api>(Gate::World{*node_, *clock_, random_}, *shared_loop_, std::move(gate),
                            Api::Options{.is_ready = [this] { return runtime_->is_ready(); },
                                         .shell =
                                             [](const HttpRequest& request) {
                                               return answer_static_file(embedded_files(), request);
                                             },
                                         .audit = audit_.get()});
  add_routes();
  return {};
}

void Daemon::add_routes() {
  Router& router = api_->router();
  commands_ = std::make_unique<SessionCommands>(*world_);
  reads_ = std::make_unique<ReadRoutes>(*world_, slots_, [this](const Principal& principal) {
    return api_->gate().still_valid(principal);
  });
  ws_ = std::make_unique<WsServer>(reads_->streams(), *commands_);
  acp_ = std::make_unique<AcpServer>(
      reads_->streams(), LocalApi{router, api_->gate(), *shared_loop_, *clock_, random_},
      world_->version);
  rules_ = std::make_unique<RuleAnswerer>(*runtime_, *node_, world_->workspaces, audit_.get());
  reads_->add_to(router);
  add_session_command_routes(router, *commands_);
  add_wait_routes(router, *commands_);
  add_agent_routes(router, *world_);
  add_workspace_routes(router, reads_->streams());
  add_metrics_route(router, *world_);
  add_care_routes(router, *world_);
  add_transfer_routes(router, reads_->streams());
  add_login_routes(router, *world_, api_->gate());
  add_token_routes(router, *world_, api_->gate());
  add_task_routes(router, *world_);
  add_audit_routes(router, reads_->streams());
  add_rule_routes(router, *world_);
  add_ws_route(router, *ws_);
  add_peer_routes(router, *world_);
  router.set_elsewhere(
      [this](Route& route, Call& call) { return send_to_owner(*world_, route, call); });
  acp_->add_to(router);
  add_openapi_route(router, world_->version);
}

void Daemon::add_metrics(MetricsText& text) {
  const EngineTotals stats = store_->totals();
  text.family("perdure_store_commits_total", "counter", "Commits of the journal, each one fsync.");
  text.sample("perdure_store_commits_total", {}, static_cast<double>(stats.commits));
  text.family("perdure_store_appends_total", "counter", "Batches of sessions in those commits.");
  text.sample("perdure_store_appends_total", {}, static_cast<double>(stats.appends));
  text.family("perdure_store_disk_full", "gauge", "1 while the disk is full.");
  text.sample("perdure_store_disk_full", {}, stats.disk_full ? 1 : 0);
  text.family("perdure_store_unavailable", "gauge", "1 while the database cannot be reached.");
  text.sample("perdure_store_unavailable", {}, stats.unavailable ? 1 : 0);
  write_histogram(text, "perdure_store_commit_seconds", "Time of a commit, fsync included.",
                  store_thread_->commit_times());
  text.family("perdure_connections", "gauge", "Open connections of clients.");
  text.sample("perdure_connections", {}, static_cast<double>(server_->connections()));
  text.family("perdure_streams", "gauge", "Open streams and sockets that read sessions.");
  text.sample("perdure_streams", {}, static_cast<double>(reads_->open_streams()));
  text.family("perdure_executions", "gauge", "Agentctls that are alive, or not known to be gone.");
  text.sample("perdure_executions", {}, static_cast<double>(agentctls_->held()));
  if (store_->is_shared()) {
    const Result<std::vector<StoreNode>> nodes = peers_->nodes();
    const auto silent = nodes ? std::ranges::count_if(*nodes, &StoreNode::is_silent) : 0;
    text.family("perdure_nodes", "gauge", "Daemons on the database, by whether they are heard of.");
    text.sample(
        "perdure_nodes", {{"state", "heard"}},
        nodes ? static_cast<double>(static_cast<std::ptrdiff_t>(nodes->size()) - silent) : 0);
    text.sample("perdure_nodes", {{"state", "silent"}}, static_cast<double>(silent));
  }
  text.family("perdure_notifications_total", "counter", "Notifications, by what became of them.");
  text.sample("perdure_notifications_total", {{"outcome", "delivered"}},
              static_cast<double>(notifications_->delivered()));
  text.sample("perdure_notifications_total", {{"outcome", "given_up"}},
              static_cast<double>(notifications_->given_up()));
}

Result<> Daemon::listen() {
  const Config& config = setting_.config;
  KeptListeners& kept = setting_.lives->listeners;
  const std::size_t all = connections_of_clients();
  server_ = HttpServer::create(
      *io_, *api_,
      {.connections_max = all,
       .per_credential_max = connections_of_credential(all, config.streams_per_principal_max)},
      &kept);
  TRY_VOID(server_->listen_unix(data_->run(), "perdure.sock"));
  const bool tls = !config.tls_certificate.empty();
  Listen wanted = TRY(parse_listen(config.listen));
  const ListenAddress address =
      TRY(check_listen_host(wanted.host, tls ? Transport::tls : Transport::plain));
  std::optional<TlsFiles> files;
  if (tls) files = TlsFiles{config.tls_certificate, config.tls_key};
  Result<std::uint16_t> port = server_->listen_tcp({address.host, wanted.port}, files);
  for (std::uint16_t i = 1; !port && !config.listen_given && i < ports_tried; ++i) {
    const auto next = static_cast<std::uint16_t>(wanted.port + i);
    port = server_->listen_tcp({address.host, next}, files);
  }
  if (!port) return std::unexpected(std::move(port).error());
  kept.close_unused();
  OwnNames& names = api_->gate().names();
  names.add_listener(address, *port, tls ? Scheme::https : Scheme::http);
  url_ = names.shown_url();
  listening_ = wanted.host + ":" + std::to_string(*port);
  return announce(address);
}

// A caller that cannot be told from one inside a session counts as inside, and may answer
// nothing.
void Daemon::add_origins(GateConfig& gate) {
  const CallerRules rules{.mounts_tell = confinement_.level == ConfinementLevel::partial &&
                                         !confinement_.has_process_namespace};
  callers_ = std::make_unique<TcpCallers>(rules);
  caller_thread_ = std::make_unique<CallerThread>(*callers_, *shared_loop_);
  const auto named = [](const CallerPlace& place) {
    if (!place.inside) return CallerOrigin{};
    const Result<SessionId> session = SessionId::parse(place.session);
    return session ? CallerOrigin{*session, ""} : CallerOrigin{unknown_session(), place.reason};
  };
  const auto ends_of = [](const HttpPeer& peer) {
    return TcpEnds{peer.address, peer.port, peer.local_address, peer.local_port};
  };
  gate.local_origin = [rules, named](int descriptor) {
    return named(place_of_peer(descriptor, rules));
  };
  gate.tcp_origin = [this, named, ends_of](const HttpPeer& peer) -> std::optional<CallerOrigin> {
    const std::optional<CallerPlace> place = callers_->find_soon(ends_of(peer));
    if (!place) return std::nullopt;
    return named(*place);
  };
  gate.find_tcp_origin = [this, named, ends_of](std::shared_ptr<const HttpPeer> peer,
                                                std::move_only_function<void(CallerOrigin)> done) {
    caller_thread_->find(ends_of(*peer), [named, done = std::move(done)](
                                             CallerPlace place) mutable { done(named(place)); });
  };
}

std::string Daemon::launch_url() {
  const Principal self{.id = "system", .scope = Scope::admin};
  audit_->note({.what = "launch.create", .by = self.id, .how = "daemon"});
  return url_ + "/#launch=" + api_->gate().make_launch_token(self);
}

void Daemon::notify(SessionId session, const Notify& what) {
  const Result<State> state = runtime_->state(session);
  Notification told{.event = std::string(enum_text(what.what)),
                    .session = session,
                    .run = what.run,
                    .at = clock_->now().wall};
  if (state) {
    told.title = state->title;
    told.agent = state->agent.name;
    told.folder = state->workspace.cwd;
    if (what.what == NotifyWhat::needs_input && !state->permissions.empty()) {
      told.text = state->permissions.rbegin()->second.title;
      told.permission = state->permissions.rbegin()->first.text();
    } else if (state->failure) {
      told.text = state->failure->message;
    }
    // It goes to other programs, and over the network.
    SecretMask secrets = secrets_of(launch_setting(), session, *state);
    secrets.add(config_secrets(setting_.config));
    told.title = secrets.mask(told.title);
    told.text = secrets.mask(told.text);
  }
  notifications_->tell(std::move(told));
}

void Daemon::run(std::move_only_function<void()> ready) {
  began_ms_ = clock_->now().since_boot.ms;
  log_->note("perdure " + std::string(version) + " starts on " + data_->path() + ", pid " +
             std::to_string(getpid()));
  note_start();
  runtime_->boot([this, ready = std::move(ready)] mutable {
    for (const auto& [session, error] : runtime_->damaged()) {
      log_->error("session " + session.text() +
                  " is damaged and served read-only: " + error.message());
    }
    log_->note("serves " + url_);
    look_at_containers();
    ready();
  });
  io_->run();
}

void Daemon::stop(int signal) {
  log_->note(std::string("told to stop: ") + strsignal(signal));
  note_stop(std::string("signal: ") + strsignal(signal));
  restarting_ = false;  // whoever says stop does not mean again
  if (stopping_) return io_->stop();
  end();
}

void Daemon::end() {
  stopping_ = true;
  // To a service manager a restart is none of its business: the process stays.
  if (!restarting_) {
    tell_service_manager("STOPPING=1");
    setting_.lives->listeners.close();
  }
  server_->stop_accepting();
  FAILPOINT("shutdown");
  // What was accepted is in the store already; answers on their way get a moment.
  loop_->after_ms(stop_grace_ms, [this] { io_->stop(); });
}

}  // namespace perdure
