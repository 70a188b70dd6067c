#include "env/posix/confine/confine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <initializer_list>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

namespace perdure {
namespace {

// The path of a limit in the caller's user namespace.
std::string limit_path(std::string_view kind) {
  return "/proc/sys/user/max_" + std::string(kind) + "_namespaces";
}

// Whether the number of namespaces has reached its limit. A limit of 0 does not count: it means
// that the machine permits none at all.
bool is_used_up() {
  for (const char* const kind : {"user", "mnt", "pid"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(limit_path(kind)) >> limit && limit == 0) return false;
  }
  return true;
}

// unavailable: this machine does not allow it. limit_reached: it does, but not at the moment. An
// agent could cause that on purpose, so it must not lead to a less confined agent.
Result<> refused(const std::string& what) {
  const int why = errno;
  const bool is_transient = why == ENOMEM || why == EAGAIN || why == EUSERS || why == ENFILE ||
                            why == EMFILE || why == EINTR || (why == ENOSPC && is_used_up());
  return fail(is_transient ? Code::limit_reached : Code::unavailable,
              what + ": " + std::strerror(why));
}

Result<> write_file(const char* path, const std::string& text) {
  const Fd file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || write(file.get(), text.data(), text.size()) < 0) return refused(path);
  return {};
}

// Maps only ourselves, to our own id.
Result<> map_user(uid_t uid, gid_t gid) {
  TRY_VOID(write_file("/proc/self/setgroups", "deny"));
  TRY_VOID(
      write_file("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1"));
  return write_file("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
}

// Runs in our own user namespace, so that one session cannot exhaust the machine's namespaces.
// Control group namespaces are forbidden: with one, it could mount the groups of the daemon's user
// writable. Limits that a kernel does not know are skipped.
void share_limits() {
  constexpr std::uint64_t share = 64;  // one part in 64 of the machine's limit
  constexpr std::uint64_t least = 64;
  for (const char* const kind : {"user", "mnt", "pid", "net", "ipc", "uts", "time"}) {
    std::uint64_t limit = 0;
    std::ifstream(limit_path(kind)) >> limit;
    const std::uint64_t ours = std::max(limit / share, least);
    if (limit > ours) (void)write_file(limit_path(kind).c_str(), std::to_string(ours));
  }
  (void)write_file(limit_path("cgroup").c_str(), "0");
}

// How unshare() worked: with a user namespace, or without one.
enum class As : std::uint8_t { root, user };

Result<As> unshare_with(int flags) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(flags) == 0) return As::root;
  if (errno != EPERM) return std::unexpected(refused("namespaces").error());
  if (unshare(CLONE_NEWUSER | flags) != 0) {
    return std::unexpected(refused("user namespaces").error());
  }
  TRY_VOID(map_user(uid, gid));
  share_limits();
  return As::user;
}

// Our later mounts stay private; mounts by others still arrive.
Result<> keep_mounts_to_ourselves() {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return refused("mounts");
  return {};
}

// The /proc of the new process namespace. Numbers continue at the starter's, so that two sessions
// rarely use the same pids: programs write them into lock files.
Result<> show_own_processes(std::int64_t outer_pid) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount("proc", "/proc", "proc", flags, nullptr) != 0) return refused("a /proc of its own");
  (void)write_file("/proc/sys/kernel/ns_last_pid", std::to_string(outer_pid));
  return {};
}

// Between the calling and the continuing process is one that has the namespaces and starts the
// latter in them.
struct Handover {
  Pipe report;  // from the continuing process to the calling one: "ok", or the refusal
  Pipe number;  // the pid of the continuing process, from the one between
};

constexpr std::string_view went_on = "ok";

void tell(const Fd& pipe, std::string_view text) {
  // Without a reader, the result does not matter.
  [[maybe_unused]] const ssize_t written = write(pipe.get(), text.data(), text.size());
}

std::string read_all(const Fd& pipe) {
  std::string text;
  char buffer[512];
  while (true) {
    const ssize_t got = read(pipe.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Writes a refusal to a pipe: its code and message.
void tell(const Fd& pipe, const Error& why) {
  tell(pipe, std::string(code_name(why.code())) + " " + why.message());
}

Error read_refusal(const std::string& said) {
  const std::size_t space = said.find(' ');
  if (space == std::string::npos) return Error(Code::limit_reached, "a new process ended at once");
  return Error(parse_code(said.substr(0, space)), said.substr(space + 1));
}

[[noreturn]] void give_up(const Handover& handover, const Error& why) {
  tell(handover.report.write, why);
  _exit(1);
}

Confinement reached(As as) {
  std::uint64_t control_groups = 0;
  std::ifstream(limit_path("cgroup")) >> control_groups;
  if (as == As::user && control_groups != 0) {
    return {ConfinementLevel::partial, "namespaces of control groups cannot be forbidden", true};
  }
  if (as == As::user && geteuid() != 0) return {ConfinementLevel::full, "", true};
  return {ConfinementLevel::partial, "agents run as root, which can undo it", true};
}

// With the exit code of a child.
[[noreturn]] void end_as(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

// By SIGKILL, which reaches the first process of a namespace too.
void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

struct Caller {
  CallingProcess then;
  pid_t pid;
};

// The one between. Only now: a change of user makes the kernel forget what shall happen when the
// parent ends.
[[noreturn]] void stand_between(Handover& handover, pid_t first, const Caller& caller) {
  if (caller.then == CallingProcess::waits) {
    end_with_parent();
    if (getppid() != caller.pid) _exit(1);
  }
  tell(handover.number.write, std::to_string(first));
  handover.number.write.reset();
  handover.report.write.reset();
  if (caller.then == CallingProcess::waits) end_as(first);
  _exit(0);
}

// Returns in the process that goes on, and in no other.
ConfinedProcess go_on_in_namespaces(Handover handover, const Caller& caller) {
  handover.report.read.reset();
  const Result<As> as = unshare_with(CLONE_NEWNS | CLONE_NEWPID);
  if (!as) give_up(handover, as.error());
  if (const Result<> kept = keep_mounts_to_ourselves(); !kept) { give_up(handover, kept.error()); }
  const pid_t first = fork();
  if (first < 0) give_up(handover, refused("fork").error());
  if (first > 0) stand_between(handover, first, caller);
  // If the parent has ended already, no number comes.
  if (caller.then == CallingProcess::waits) end_with_parent();
  handover.number.write.reset();
  const std::int64_t pid = std::atoll(read_all(handover.number.read).c_str());
  if (pid == 0) give_up(handover, Error(Code::limit_reached, "the process between ended"));
  if (const Result<> shown = show_own_processes(pid); !shown) { give_up(handover, shown.error()); }
  // Without a mapped root, a program with extra rights has no effect anyway; this makes it certain.
  if (*as == As::user) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  tell(handover.report.write, went_on);
  return {reached(*as), pid};
}

}  // namespace

std::string_view confinement_name(ConfinementLevel level) {
  switch (level) {
    case ConfinementLevel::none: return "none";
    case ConfinementLevel::partial: return "partial";
    case ConfinementLevel::full: return "full";
  }
  return "none";
}

Result<ConfinedProcess> enter_namespaces(CallingProcess then) {
  Handover handover{TRY(make_pipe()), TRY(make_pipe())};
  const Caller caller{then, getpid()};
  const pid_t between = fork();
  if (between < 0) return system_failure("fork");
  if (between == 0) return go_on_in_namespaces(std::move(handover), caller);
  handover.report.write.reset();
  handover.number.write.reset();
  const std::string said = read_all(handover.report.read);
  if (said == went_on && then == CallingProcess::waits) end_as(between);
  while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {}
  if (said == went_on) _exit(0);
  const Error refusal = read_refusal(said);
  if (refusal.code() != Code::unavailable) return std::unexpected(refusal);
  const Result<> mounts = enter_mount_namespace();
  if (mounts) {
    return ConfinedProcess{
        {ConfinementLevel::partial, "no process namespace: " + refusal.message()}, getpid()};
  }
  if (mounts.error().code() != Code::unavailable) return std::unexpected(mounts.error());
  return ConfinedProcess{{ConfinementLevel::none, mounts.error().message()}, getpid()};
}

Confinement try_namespaces() {
  Result<Pipe> pipe = make_pipe();
  if (!pipe) return {ConfinementLevel::none, pipe.error().message()};
  const pid_t child = fork();
  if (child == 0) {
    const Result<ConfinedProcess> confined = enter_namespaces();
    if (!confined) {
      tell(pipe->write, "none 0" + confined.error().message());
      _exit(1);
    }
    const Confinement& found = confined->confinement;
    tell(pipe->write, std::string(confinement_name(found.level)) +
                          (found.has_process_namespace ? " 1" : " 0") + found.reason);
    _exit(0);
  }
  pipe->write.reset();
  const std::string said = child > 0 ? read_all(pipe->read) : "";
  if (child > 0) waitpid(child, nullptr, 0);
  const std::size_t space = said.find(' ');
  if (space == std::string::npos || said.size() < space + 2) {
    return {ConfinementLevel::none, "namespaces cannot be tried"};
  }
  Confinement found{ConfinementLevel::none, said.substr(space + 2), said[space + 1] == '1'};
  for (const auto level : {ConfinementLevel::partial, ConfinementLevel::full}) {
    if (said.substr(0, space) == confinement_name(level)) found.level = level;
  }
  return found;
}

Result<> enter_mount_namespace() {
  TRY(unshare_with(CLONE_NEWNS));
  return keep_mounts_to_ourselves();
}

}  // namespace perdure
