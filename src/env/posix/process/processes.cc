#include "env/posix/process/processes.h"

#include <algorithm>
#include <set>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "env/posix/process/posix_process.h"
#include "env/posix/process/proc.h"
#include "env/posix/process/terminal.h"

namespace perdure {
namespace {

// These and their descendants at any depth.
std::set<std::int64_t> with_descendants(const std::vector<ProcStat>& processes,
                                        std::set<std::int64_t> found) {
  // A child may have a lower pid than its parent, so repeat until nothing is added.
  for (std::size_t before = ~0UL; before != found.size();) {
    before = found.size();
    for (const ProcStat& process : processes) {
      if (found.contains(process.parent)) found.insert(process.pid);
    }
  }
  return found;
}

enum class Reach { marked, marked_or_shed, descendants };

// Every process of a session is started with this in its environment.
constexpr std::string_view exec_mark_name = "PERDURE_EXEC_MARK";

struct Victim {
  pid_t pid;
  Fd pidfd;
};

// Orphans that were reparented to us and removed their mark. `is_ours` identifies the children that
// we started and still hold.
std::set<std::int64_t> shed_marks(const std::vector<ProcStat>& processes, const auto& is_ours) {
  std::set<std::int64_t> roots;
  for (const ProcStat& process : processes) {
    const bool fell_to_us =
        process.parent == getpid() && !process.ended() && !is_ours(static_cast<pid_t>(process.pid));
    if (fell_to_us && !environment_names(process, exec_mark_name)) roots.insert(process.pid);
  }
  return with_descendants(processes, std::move(roots));
}

std::vector<Victim> find_victims(const std::string& mark, Reach reach, const auto& is_ours) {
  const std::vector<ProcStat> processes = all_processes();
  std::set<std::int64_t> descendants;
  if (reach == Reach::descendants) descendants = with_descendants(processes, {getpid()});
  if (reach == Reach::marked_or_shed) descendants = shed_marks(processes, is_ours);
  std::vector<Victim> victims;
  for (const ProcStat& process : processes) {
    if (process.pid == getpid() || process.ended()) continue;
    const bool is_meant = descendants.contains(process.pid) ||
                          (reach != Reach::descendants && environment_has(process, mark));
    if (!is_meant) continue;
    if (auto pidfd = open_pidfd(process)) {
      victims.push_back({static_cast<pid_t>(process.pid), std::move(*pidfd)});
    }
  }
  return victims;
}

// Until it has ended or the time is over.
void wait_for_end(const Fd& pidfd, std::int64_t until_ms) {
  pollfd ended{.fd = pidfd.get(), .events = POLLIN};
  const std::int64_t left_ms = std::max<std::int64_t>(0, until_ms - boottime_ms());
  poll(&ended, 1, static_cast<int>(left_ms));
}

// Whether it had ended and was reaped now. Never waits.
bool reap(pid_t pid) {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG) == 0 &&
         ended.si_pid == pid;
}

}  // namespace

std::int64_t boottime_ms() {
  timespec now{};
  CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::unique_ptr<PosixProcesses> PosixProcesses::create(EpollLoop& loop, ProcessesSetting setting) {
  // Writing to a child that closed its stdin must fail with an error and not kill us.
  signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<PosixProcesses>(new PosixProcesses(loop, std::move(setting)));
}

PosixProcesses::~PosixProcesses() {
  CHECK(living_.empty(), "a process outlives its maker");
  const std::int64_t until_ms = boottime_ms() + kill_wait_ms;
  for (const auto& [pid, leaving] : leaving_) {
    wait_for_end(leaving.pidfd, until_ms);
    reap(pid);
  }
}

Result<std::unique_ptr<Process>> PosixProcesses::spawn(const SpawnSpec& spec,
                                                       ProcessEvents& events) {
  const SpawnSetting setting{
      .umask = setting_.child_umask,
      .parent_death = setting_.parent_death,
      .cgroup_members = cgroups_,
  };
  ProcessEnds ours;
  // The child's ends must be closed when this returns, or we would never see the end of file.
  Pipe input;
  Pipe output;
  Pipe error_output;
  Terminal terminal;
  SpawnStdio theirs;
  if (spec.terminal) {
    terminal = TRY(open_terminal(*spec.terminal));
    const int end = terminal.child_end.get();
    theirs = {end, end, end};
    ours.output = std::move(terminal.master);
    ours.terminal = true;
  } else {
    input = TRY(make_pipe());
    output = TRY(make_pipe());
    error_output = TRY(make_pipe());
    theirs = {input.read.get(), output.write.get(), error_output.write.get()};
    ours.input = std::move(input.write);
    ours.output = std::move(output.read);
    ours.error_output = std::move(error_output.read);
  }
  TRY_VOID(ours.prepare());
  const auto oom_kills = setting_.oom_counter.read();
  SpawnedChild child = TRY(spawn_child(spec, theirs, setting));
  auto process = std::make_unique<PosixProcess>(*this, events, std::move(child), std::move(ours));
  process->set_oom_kills_before(oom_kills);
  return process;
}

void PosixProcesses::set_cgroup(const Cgroup* group) {
  cgroups_.clear();
  if (group != nullptr) cgroups_.push_back(group->members().get());
}

void PosixProcesses::set_limits(LimitGroup group) {
  limits_ = std::move(group);
  cgroups_ = limits_->members();
  if (std::optional<OomCounter> counter = limits_->oom_counter()) setting_.oom_counter = *counter;
}

void PosixProcesses::forget(pid_t pid, Fd pidfd) {
  living_.erase(pid);
  if (reap(pid)) return;
  Leaving& leaving = leaving_[pid];
  leaving.pidfd = std::move(pidfd);
  leaving.watch = loop_.watch(leaving.pidfd, Interest::read, [this, pid](Ready) {
    reap(pid);
    leaving_.erase(pid);
  });
}

Result<> PosixProcesses::become_subreaper() {
  if (child_signals_) return {};
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return system_failure("become a subreaper");
  child_signals_ = TRY(SignalWatch::create(loop_, {SIGCHLD}, [this](int) { reap_orphans(); }));
  reap_orphans();
  return {};
}

void PosixProcesses::reap_orphans() {
  while (true) {
    siginfo_t ended{};
    // Does not reap: our own children are left to their Process.
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    // The kernel would return this child again and never the ones after it.
    if (is_ours(ended.si_pid)) return reap_orphans_among_others();
    reap(ended.si_pid);
    ++orphans_reaped_;
  }
}

void PosixProcesses::reap_orphans_among_others() {
  for (const ProcStat& process : all_processes()) {
    const auto pid = static_cast<pid_t>(process.pid);
    if (process.parent != getpid() || !process.ended() || is_ours(pid)) continue;
    reap(pid);
    ++orphans_reaped_;
  }
}

std::size_t PosixProcesses::kill_until_clean(auto&& find) {
  const std::int64_t until_ms = boottime_ms() + kill_wait_ms;
  // A process that is forking, or in the middle of an exec without an environment yet, can be
  // missed: only two consecutive empty scans count.
  for (int clean = 0; clean < 2;) {
    const std::vector<Victim> victims = find();
    clean = victims.empty() ? clean + 1 : 0;
    if (!victims.empty() && boottime_ms() >= until_ms) return victims.size();
    for (const Victim& victim : victims) {
      // If sending fails, it has just ended, as intended.
      if (!send_signal(victim.pidfd, SIGKILL)) continue;
      if (const auto own = living_.find(victim.pid); own != living_.end()) own->second->note_kill();
    }
    for (const Victim& victim : victims) wait_for_end(victim.pidfd, until_ms);
  }
  if (child_signals_) reap_orphans();
  return 0;
}

std::size_t PosixProcesses::kill_marked(const std::string& mark) {
  CHECK(mark.find('=') + 1 > 1, "a mark is NAME=value");
  std::string_view exec;
  if (mark.starts_with(exec_mark_name)) {
    exec = std::string_view(mark).substr(exec_mark_name.size() + 1);
    exec = exec.substr(0, exec.find('@'));
  }
  kill_session_groups(exec);
  const Reach reach = child_signals_ ? Reach::marked_or_shed : Reach::marked;
  const auto ours = [this](pid_t pid) { return is_ours(pid); };
  const std::size_t left = kill_until_clean([&] { return find_victims(mark, reach, ours); });
  remove_session_groups(exec);
  return left;
}

std::size_t PosixProcesses::kill_descendants() {
  const auto ours = [this](pid_t pid) { return is_ours(pid); };
  return kill_until_clean([&] { return find_victims({}, Reach::descendants, ours); });
}

ProcessSet PosixProcesses::offspring(const Family& family) {
  const std::vector<ProcStat> processes = all_processes();
  std::set<std::int64_t> roots = {family.root};
  for (const ProcStat& process : processes) {
    const bool fell_to_us = process.parent == getpid() && !is_ours(static_cast<pid_t>(process.pid));
    if (fell_to_us && environment_has(process, family.mark)) roots.insert(process.pid);
  }
  const std::set<std::int64_t> members = with_descendants(processes, std::move(roots));
  ProcessSet living;
  for (const ProcStat& process : processes) {
    if (process.ended() || process.pid == family.root || !members.contains(process.pid)) continue;
    living.insert({process.pid, process.started});
  }
  return living;
}

ProcessSet PosixProcesses::signal_each(const ProcessSet& wanted, int number) {
  const std::vector<ProcStat> processes = all_processes();
  std::set<std::int64_t> roots;
  for (const ProcStat& process : processes) {
    if (wanted.contains({process.pid, process.started})) roots.insert(process.pid);
  }
  const std::set<std::int64_t> members = with_descendants(processes, std::move(roots));
  ProcessSet reached;
  for (const ProcStat& process : processes) {
    if (process.ended() || !members.contains(process.pid)) continue;
    const Result<Fd> pidfd = open_pidfd(process);
    if (pidfd && send_signal(*pidfd, number)) reached.insert({process.pid, process.started});
  }
  return reached;
}

}  // namespace perdure
