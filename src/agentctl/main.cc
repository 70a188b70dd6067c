// The program perdure-agentctl: the supervisor of one execution. `start` reads its bootstrap from
// stdin, answers with one line and then runs independently. `run` is the same as the main process
// of a container, with files instead of stdin and stdout. `delete` cleans up after a killed one. It
// has no configuration, log or terminal; all its output is frames.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "agentctl/supervisor/claim.h"
#include "agentctl/supervisor/services/hosted_workspace.h"
#include "agentctl/supervisor/supervisor.h"
#include "agentctl/workspace/git/git_runner.h"
#include "agentctl/workspace/git/worktree_maker.h"
#include "base/error_codes.h"
#include "base/failpoint.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/result.h"
#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/agentctl/worktree.h"
#include "env/posix/confine/cgroup.h"
#include "env/posix/confine/confine.h"
#include "env/posix/confine/hidden_folder.h"
#include "env/posix/confine/identity.h"
#include "env/posix/confine/limit_group.h"
#include "env/posix/confine/own_folders.h"
#include "env/posix/files/file_lock.h"
#include "env/posix/files/file_tree.h"
#include "env/posix/files/folder.h"
#include "env/posix/loop/loop.h"
#include "env/posix/loop/signals.h"
#include "env/posix/loop/unix_link.h"
#include "env/posix/process/detach.h"
#include "env/posix/process/posix_host.h"
#include "env/posix/process/processes.h"
#include "env/posix/process/program_pages.h"
#include "env/posix/world.h"

extern char** environ;

namespace perdure {
namespace {

constexpr std::string_view version = PERDURE_VERSION;
constexpr std::size_t bootstrap_bytes_max = 16UL << 20;
constexpr std::int64_t settled_ms = 2'000;       // after this, most startup code is unused
constexpr std::int64_t pages_again_ms = 60'000;  // then again for code that was used in between

constexpr std::string_view usage_text =
    "usage: perdure-agentctl start  < bootstrap.json\n"
    "       perdure-agentctl run FILE\n"
    "       perdure-agentctl delete < bootstrap.json\n"
    "       perdure-agentctl worktree < order.json\n"
    "       perdure-agentctl version\n"
    "\n"
    "Started by the daemon, one for each session; not meant for people.\n"
    "  start    runs the execution that the bootstrap describes; prints one line and detaches\n"
    "  run      the same without detaching, in a container: takes the bootstrap out of FILE and\n"
    "           writes the line to FILE.answer\n"
    "  delete   ends what a killed agentctl left running, and deletes its socket and spool\n"
    "  worktree makes a session's git worktree, confined as an agent is; prints one line\n";

void print(std::FILE* out, std::string_view text) { std::fwrite(text.data(), 1, text.size(), out); }

Result<std::string> read_message(std::FILE* from) {
  std::string text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, from)) {
    text.append(buffer, got);
    if (text.size() > bootstrap_bytes_max) {
      return fail(Code::limit_reached, "the message is longer than 16 MiB");
    }
  }
  return text;
}

Result<Bootstrap> read_bootstrap(std::FILE* from) {
  return decode_bootstrap(TRY(read_message(from)));
}

// The session's creator or the daemon requested the limits: no agent runs without them.
Result<> limit(PosixProcesses& processes, const Bootstrap& bootstrap) {
  const auto positive = [](std::int64_t number) {
    return static_cast<std::uint64_t>(number < 0 ? 0 : number);
  };
  const GroupLimits limits{.memory_bytes = positive(bootstrap.limits.memory_bytes),
                           .processes = positive(bootstrap.limits.processes),
                           .cpu_percent = positive(bootstrap.limits.cpu_percent)};
  if (!limits.any()) return {};
  processes.set_limits(TRY(LimitGroup::create(bootstrap.exec.text(), limits)));
  return {};
}

// The creator of the session may have put a symlink into the path since: its target counts.
Result<> check_cwd(const Bootstrap& bootstrap, const std::string& real) {
  std::vector<std::string> own;
  for (const std::string& folder : {bootstrap.hide.folder, bootstrap.hide.also}) {
    if (!folder.empty()) own.push_back(folder);
  }
  TRY(OwnFolders(std::move(own)).session_of(bootstrap.cwd, real));
  return {};
}

// Everything that one execution needs, built in the process that keeps running.
struct World {
  std::unique_ptr<EpollLoop> loop;
  std::unique_ptr<PosixClock> clock;
  std::unique_ptr<PosixProcesses> processes;
  std::unique_ptr<PosixFolder> run_folder;
  std::unique_ptr<PosixFolder> spool_folder;
  std::unique_ptr<FileTree> files;
  std::vector<FileLock> locks;
  std::optional<Cgroup> group;

  static Result<World> create(const Bootstrap& bootstrap, mode_t child_umask) {
    World world;
    // First the steps that leave nothing behind if they fail.
    world.files = TRY(open_file_tree(bootstrap.cwd, {.umask = child_umask}));
    TRY_VOID(check_cwd(bootstrap, world.files->root()));
    world.run_folder = TRY(PosixFolder::create(bootstrap.run_folder));
    // One agent per session (PROC1): only the holder of this lock may start one.
    world.locks.push_back(
        TRY(FileLock::try_acquire(*world.run_folder, session_lock_name(bootstrap.session))));
    TRY_VOID(check_start(*world.run_folder, bootstrap));
    world.spool_folder = TRY(PosixFolder::create(bootstrap.spool_folder));
    FAILPOINT("agentctl.before_claim");
    TRY_VOID(note_start(*world.run_folder, bootstrap));
    TRY_VOID(claim_spool(*world.spool_folder));
    FAILPOINT("agentctl.after_claim");
    world.clock = TRY(PosixClock::create());
    world.loop = TRY(EpollLoop::create());
    world.processes = PosixProcesses::create(
        *world.loop, {.child_umask = child_umask, .parent_death = ParentDeath::kill});
    TRY_VOID(limit(*world.processes, bootstrap));
    TRY_VOID(world.processes->become_subreaper());
    return world;
  }

  // Without a process namespace, a control group contains all processes that the agent starts, and
  // ends the rest after our death. Many machines do not offer one.
  void gather(const Bootstrap& bootstrap, const Confinement& confinement) {
    if (confinement.has_process_namespace || processes->is_limited()) return;
    Result<Cgroup> made = Cgroup::create(std::string(session_group_prefix) + bootstrap.exec.text());
    if (!made) return;
    group = std::move(*made);
    processes->set_cgroup(&*group);
  }
};

std::string encode_failure(const Error& error) {
  return encode_bootstrap_answer(
             {.code = std::string(code_name(error.code())), .message = error.message()}) +
         "\n";
}

bool is_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

// Hides from agents and shells: tokens, keys, the sockets of other sessions. `show` stays visible
// if it is named as a folder in one of the two, but not if a symlink leads there, since a session
// may have just created that symlink. Errors as for hide_folder().
Result<> hide_data(const HiddenFolders& folders, const std::vector<std::string>& show) {
  const auto hidden = [&](const std::string& path, const std::string& identity) {
    const std::string real = real_path(path);
    HiddenFolder out{.folder = real.empty() ? path : real, .identity = identity};
    for (const std::string& each : show) {
      for (const std::string& named : {path, out.folder}) {
        if (!is_in(each, named)) continue;
        out.show.push_back(out.folder + each.substr(named.size()));
        break;
      }
    }
    return out;
  };
  HiddenFolder data = hidden(folders.folder, folders.identity);
  // Each life of the daemon has a new socket. No process in a session may move it or replace it
  // with its own.
  const std::string run = data.folder + "/run";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run, error)) {
    if (entry.is_directory(error)) data.hide.push_back(entry.path());
  }
  if (!error) data.sealed.push_back(run);
  if (folders.also.empty()) return hide_folder(data);
  HiddenFolder also = hidden(folders.also, folders.also_identity);
  if (is_in(also.folder, data.folder)) return hide_folder(data);
  if (is_in(data.folder, also.folder)) {
    // This cover includes the data folder, which needs no separate one.
    also.sealed = data.sealed;
    also.hide = data.hide;
  } else {
    TRY_VOID(hide_folder(data));
  }
  return hide_folder(also);
}

// Where the machine does not allow it agents run all the same: the level says so, and SECURITY.md
// what it means. Where it does, no agent runs with less.
Result<Confinement> confine(const HiddenFolders& hide, const std::vector<std::string>& show,
                            Confinement reached) {
  if (reached.level == ConfinementLevel::none || hide.empty()) return reached;
  Result<> hidden = hide_data(hide, show);
  std::string lacking = "the data folder is visible: ";
  if (hidden) {
    hidden = seal_control_groups();
    lacking = "control groups can be changed: ";
  }
  if (hidden) return reached;
  if (hidden.error().code() != Code::unavailable) return std::unexpected(hidden.error());
  return Confinement{ConfinementLevel::partial, lacking + hidden.error().message(),
                     reached.has_process_namespace};
}

// Many idle agentctls may run, so only the pages in use stay in memory.
void release_pages_after(EpollLoop& loop, std::int64_t delay_ms) {
  loop.after_ms(delay_ms, [&loop] {
    release_program_pages();
    release_pages_after(loop, pages_again_ms);
  });
}

// The process that waits for the result of the start.
struct Starter {
  mode_t child_umask = 0;  // the starter's own
  ConfinedProcess self;
  std::string host_boot;
  std::move_only_function<Result<>(const std::string& line)> answer;
};

// Runs until the execution is over. Answers the starter when a daemon can attach.
Result<> run(const Bootstrap& bootstrap, Starter starter) {
  World world = TRY(World::create(bootstrap, starter.child_umask));
  ProcessIdentity self = TRY(identify_self());
  self.pid = starter.self.pid;
  // The view from outside: a container's /proc may show another boot id than the kernel's.
  self.host_boot = starter.host_boot;
  world.gather(bootstrap, starter.self.confinement);
  const Confinement confinement =
      TRY(confine(bootstrap.hide, {bootstrap.cwd}, starter.self.confinement));
  const PendingTasks pending(*world.loop);
  PosixRandom random;
  const std::string socket = bootstrap.exec.text() + ".sock";
  SupervisorIdentity identity{
      .instance = Ulid::make(world.clock->now().wall, random.next(), random.next()).text(),
      .build = std::string(version),
      .url = bootstrap.url.empty() ? "unix:" + bootstrap.run_folder + "/" + socket : bootstrap.url,
      .pid = self.pid,
      .pid_started = static_cast<std::int64_t>(self.started),
      .container_id = bootstrap.container_id,
      .confinement = std::string(confinement_name(confinement.level)),
      .confinement_reason = confinement.reason};
  const std::string instance = identity.instance;
  const std::string url = identity.url;
  HostedWorkspace workspace({*world.loop, *world.processes, *world.files}, bootstrap);
  Supervisor supervisor(
      {*world.clock, *world.loop, *world.processes, *world.spool_folder, &workspace, &workspace},
      bootstrap, std::move(identity), [&](const std::string&) { world.loop->stop(); });
  const std::unique_ptr<UnixListener> listener = TRY(UnixListener::listen(
      *world.loop, *world.run_folder, socket,
      [&](std::unique_ptr<Link> link) { supervisor.on_link(std::move(link)); }));
  const std::unique_ptr<SignalWatch> signals =
      TRY(SignalWatch::create(*world.loop, {SIGTERM, SIGINT, SIGHUP},
                              [&](int number) { supervisor.stop(strsignal(number)); }));
  supervisor.begin();
  FAILPOINT("agentctl.before_answer");
  TRY_VOID(starter.answer(
      encode_bootstrap_answer({.instance = instance,
                               .url = url,
                               .pid = self.pid,
                               .pid_started = static_cast<std::int64_t>(self.started),
                               .host_boot = self.host_boot}) +
      "\n"));
  release_pages_after(*world.loop, settled_ms);
  world.loop->run();
  if (world.group) (void)world.group->remove();  // fails if processes are still in it
  return {};
}

// The starter may have died or disconnected. Our one start is recorded, so this execution can never
// be started again. Another request for it finds us; without one, we end as an orphan does.
Result<> answer_starter(Detached& detached, const std::string& line) {
  const Result<> answered = detached.answer(line);
  const bool is_alone = !answered && answered.error().code() == Code::unavailable;
  return is_alone ? Result<>() : answered;
}

int start() {
  const char* const points = std::getenv("FAILPOINT");
  if (const Result<> armed = points ? arm_failpoints(points) : Result<>(); !armed) {
    print(stdout, encode_failure(armed.error()));
    return exit_failed;
  }
  Result<Bootstrap> bootstrap = read_bootstrap(stdin);
  if (!bootstrap) {
    print(stdout, encode_failure(bootstrap.error()));
    return exit_failed;
  }
  Result<Detached> detached = detach();
  if (!detached) {
    print(stdout, encode_failure(detached.error()));
    return exit_failed;
  }
  const Result<> done = [&] -> Result<> {
    std::string boot = TRY(host_boot());
    ConfinedProcess self{{ConfinementLevel::none, "sessions.confine is off"}, getpid()};
    if (!bootstrap->hide.empty()) self = TRY(enter_namespaces());
    return run(*bootstrap, {.child_umask = detached->umask_before(),
                            .self = std::move(self),
                            .host_boot = std::move(boot),
                            .answer = [&](const std::string& line) {
                              return answer_starter(*detached, line);
                            }});
  }();
  if (done) return 0;
  detached->refuse(encode_failure(done.error()));
  return exit_failed;
}

// Atomic, because the daemon waits for the file by its name.
Result<> write_answer(const std::string& path, const std::string& line) {
  const std::string unfinished = path + ".new";
  std::FILE* const file = std::fopen(unfinished.c_str(), "we");
  if (!file) return fail(Code::unavailable, unfinished + ": " + std::strerror(errno));
  const bool written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  return fail(Code::unavailable, path + ": " + std::strerror(errno));
}

// The image's variables apply unless the bootstrap sets them.
void add_own_environment(AgentLaunch& agent) {
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.starts_with("PERDURE_")) continue;
    agent.environment.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
}

// The bootstrap contains a secret and an environment, so it must not remain readable.
Result<Bootstrap> take_bootstrap(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (!file) return fail(Code::not_found, path + ": " + std::strerror(errno));
  Result<Bootstrap> bootstrap = read_bootstrap(file);
  std::fclose(file);
  unlink(path.c_str());
  if (bootstrap) add_own_environment(bootstrap->agent);
  return bootstrap;
}

int run_in_container(const std::string& path) {
  const std::string answer = path + ".answer";
  const mode_t umask_before = umask(077);
  const auto done = [&] -> Result<> {
    return run(TRY(take_bootstrap(path)),
               {.child_umask = umask_before,
                .self = {{ConfinementLevel::full, "", true}, getpid()},  // the container's
                .host_boot = TRY(host_boot()),
                .answer = [&](const std::string& line) { return write_answer(answer, line); }});
  }();
  if (done) return 0;
  print(stderr, encode_failure(done.error()));
  (void)write_answer(answer, encode_failure(done.error()));
  return exit_failed;
}

Result<> delete_remains(const Bootstrap& bootstrap) {
  const std::unique_ptr<EpollLoop> loop = TRY(EpollLoop::create());
  const auto processes = PosixProcesses::create(*loop);
  const std::size_t left = processes->kill_marked(exec_mark({bootstrap.exec, bootstrap.owner}));
  if (left > 0) {
    return fail(Code::unavailable, std::to_string(left) + " processes of it do not end");
  }
  PosixHost host(*loop);
  TRY_VOID(host.remove_file(bootstrap.run_folder, bootstrap.exec.text() + ".sock"));
  return host.remove_folder(bootstrap.spool_folder);
}

int delete_execution() {
  const auto deleted = [] -> Result<> { return delete_remains(TRY(read_bootstrap(stdin))); }();
  if (deleted) return 0;
  print(stderr, "perdure-agentctl delete: " + deleted.error().message() + "\n");
  return exit_failed;
}

// An empty git configuration, used instead of the user's.
Result<> make_git_folder(const std::string& path, const std::string& config) {
  const std::unique_ptr<PosixFolder> folder = TRY(PosixFolder::create(path));
  TRY_VOID(folder->append("config", config));
  TRY_VOID(folder->append("HEAD", "ref: refs/heads/none\n"));
  TRY(PosixFolder::create(path + "/refs"));
  TRY(PosixFolder::create(path + "/objects"));
  return {};
}

// As for an agent: what git starts sees and signals nobody else, and ends with this process. Where
// the machine does not allow it, git runs all the same.
Result<> confine_git(const WorktreeRequest& request) {
  if (request.hide.empty()) return {};
  const ConfinedProcess self = TRY(enter_namespaces(CallingProcess::waits));
  TRY(confine(request.hide, {request.path, request.repository}, self.confinement));
  return {};
}

Result<WorktreeAnswer> make_worktree() {
  const WorktreeRequest request = TRY(decode_worktree_request(TRY(read_message(stdin))));
  TRY_VOID(confine_git(request));
  const auto loop = TRY(EpollLoop::create());
  const auto processes =
      PosixProcesses::create(*loop, {.child_umask = umask(077), .parent_death = ParentDeath::kill});
  // The variable marks git as a process of the session, with no more rights than that.
  std::vector<std::string> environment{"PERDURE_SESSION=" + request.session.text()};
  for (char** entry = environ; *entry; ++entry) {
    if (!std::string_view(*entry).starts_with("PERDURE_")) environment.emplace_back(*entry);
  }
  GitRunner git({*loop, *processes, std::move(environment)});
  PosixRandom random;
  WorktreeMaker maker(git,
                      {.real_path = real_path,
                       .make_git_folder = make_git_folder,
                       .remove_folder =
                           [](const std::string& path) {
                             std::error_code ignored;
                             std::filesystem::remove_all(path, ignored);
                           }},
                      request, ".perdure-" + std::to_string(random.next()));
  Result<WorktreeAnswer> made = fail(Code::unavailable, "git did not answer");
  bool is_done = false;
  maker.start([&](Result<WorktreeAnswer> answer) {
    made = std::move(answer);
    is_done = true;
    loop->stop();
  });
  if (!is_done) loop->run();
  return made;
}

int answer_worktree() {
  const Result<WorktreeAnswer> made = make_worktree();
  const WorktreeAnswer refused{.code = made ? "" : std::string(code_name(made.error().code())),
                               .message = made ? "" : made.error().message()};
  print(stdout, encode_worktree_answer(made ? *made : refused) + "\n");
  return made ? 0 : exit_failed;
}

int run_verb(std::string_view verb) {
  if (verb == "worktree") return answer_worktree();
  if (verb == "start") return start();
  if (verb == "delete") return delete_execution();
  if (verb == "version" || verb == "--version") {
    print(stdout, "perdure-agentctl " + std::string(version) + "\n");
    return 0;
  }
  const bool asked = verb == "help" || verb == "--help" || verb == "-h";
  print(asked ? stdout : stderr, usage_text);
  return asked ? 0 : exit_usage;
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (argc == 3 && verb == "run") return perdure::run_in_container(argv[2]);
  return perdure::run_verb(argc == 2 ? verb : "");
}
