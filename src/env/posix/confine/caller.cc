#include "env/posix/confine/caller.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/confine/cgroup.h"
#include "env/posix/confine/socket_holder.h"
#include "env/posix/process/proc.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace perdure {
namespace {

constexpr std::size_t ancestors_max = 128;
constexpr std::size_t environment_bytes_max = 4UL << 20;

CallerPlace unknown(std::string reason) { return {true, "", std::move(reason)}; }
const CallerPlace outside{false, "", ""};

// The /proc folder of one process. After that process has ended, nothing can be read through it,
// even if another process gets its pid.
class ProcFolder {
 public:
  explicit ProcFolder(std::int64_t pid)
      : folder_(open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  explicit operator bool() const { return bool(folder_); }

  std::optional<std::string> read_all(const char* name, std::size_t bytes_max) const {
    const Fd file(openat(folder_.get(), name, O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::string text;
    char buffer[4096];
    while (text.size() < bytes_max) {
      const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
  // The identity of a namespace; nullopt: not visible.
  std::optional<ino_t> name_space(const char* name) const {
    struct stat status{};
    if (fstatat(folder_.get(), name, &status, 0) != 0) return std::nullopt;
    return status.st_ino;
  }

 private:
  Fd folder_;
};

// The parts of /proc/PID/status that matter here; readable by everyone.
struct ProcStatus {
  std::int64_t parent = 0;
  std::uint64_t user = 0;
  std::size_t depth = 0;  // depth of its process namespace, relative to ours: 1 is ours
};

std::string_view line_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(name)) return line.substr(name.size());
    at = end + 1;
  }
  return {};
}

std::optional<ProcStatus> read_status(const ProcFolder& process) {
  const std::optional<std::string> text = process.read_all("status", 64UL << 10);
  if (!text) return std::nullopt;
  // The name in the first line may contain anything but a newline.
  const std::string_view parent = line_of(*text, "PPid:\t");
  const std::string_view user = line_of(*text, "Uid:\t");
  const std::string_view numbers = line_of(*text, "NSpid:\t");
  if (parent.empty() || user.empty() || numbers.empty()) return std::nullopt;
  ProcStatus status;
  status.parent = std::atoll(std::string(parent).c_str());
  status.user = std::strtoull(std::string(user).c_str(), nullptr, 10);
  status.depth = static_cast<std::size_t>(std::ranges::count(numbers, '\t')) + 1;
  return status;
}

// The environment with which a process was started, as the kernel keeps it.
std::string environment_value(const ProcFolder& process, std::string_view name) {
  const std::string text = process.read_all("environ", environment_bytes_max).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    const std::string_view entry = std::string_view(text).substr(at, end - at);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return std::string(entry.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return {};
}

// The session of a daemon that itself runs inside one: everything around it has this mark.
std::string_view own_session() {
  const char* const mark = std::getenv("PERDURE_SESSION");
  return mark ? mark : "";
}

// A process and its ancestors, itself first. nullopt: one has just ended, or there are too many.
std::optional<std::vector<ProcFolder>> ancestry(std::int64_t pid) {
  std::vector<ProcFolder> out;
  out.emplace_back(pid);
  while (out.size() <= ancestors_max) {
    const std::optional<ProcStatus> status = read_status(out.back());
    if (!status) return std::nullopt;
    if (status->parent <= 1) return out;
    // Opened before the child is read again: if the pid was reused, the parent has changed.
    ProcFolder parent(status->parent);
    const std::optional<ProcStatus> again = read_status(out.back());
    if (!again) return std::nullopt;
    if (again->parent != status->parent) continue;  // another process has just become its parent
    out.push_back(std::move(parent));
  }
  return std::nullopt;
}

// The mark of the topmost ancestor that has one: an agentctl is above everything that its agent
// starts, with any marks that the agent sets on its children. Reading from the top finds a
// session's processes by their agentctl, without their own environments, which may be huge. Empty:
// none; nullopt: unknown.
std::optional<std::string> topmost_mark(std::int64_t pid) {
  const std::optional<std::vector<ProcFolder>> processes = ancestry(pid);
  if (!processes) return std::nullopt;
  for (const ProcFolder& process : *processes | std::views::reverse) {
    std::string here = environment_value(process, "PERDURE_SESSION");
    if (!here.empty() && here != own_session()) return here;
    if (here.empty() && !read_status(process)) return std::nullopt;
  }
  return "";
}

struct OwnSpaces {
  std::optional<ino_t> process;
  std::optional<ino_t> user;
  std::optional<ino_t> mount;
};

const OwnSpaces& own_spaces() {
  static const OwnSpaces spaces = [] {
    const ProcFolder self(getpid());
    return OwnSpaces{self.name_space("ns/pid"), self.name_space("ns/user"),
                     self.name_space("ns/mnt")};
  }();
  return spaces;
}

// Why its namespaces or control group place it inside some session; empty: they do not.
std::string strange_spaces(const ProcFolder& process, const ProcStatus& status,
                           const CallerRules& rules) {
  if (status.depth > 1) return "it runs in another process namespace";
  const std::optional<ino_t> user = process.name_space("ns/user");
  // Root's processes are visible only to root, and no agent can become root here.
  const bool may_be_hidden = status.user == 0 && geteuid() != 0;
  if (!user && !may_be_hidden) return "it hides where it runs";
  if (user && user != own_spaces().user) return "it runs in another user namespace";
  if (names_session_group(process.read_all("cgroup", 64UL << 10).value_or(""))) {
    return "it runs in the control group of a session";
  }
  if (!rules.mounts_tell) return {};
  const std::optional<ino_t> mounts = process.name_space("ns/mnt");
  return mounts == own_spaces().mount ? "" : "it runs in another mount namespace";
}

bool has_ended(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN};
  return poll(&ended, 1, 0) != 0;
}

}  // namespace

CallerPlace place_of(const CallerProcess& caller, const CallerRules& rules) {
  // Of another process namespace, beside ours or above it: nothing there can be looked at.
  if (caller.pid <= 0) return unknown("it runs in a process namespace that the daemon cannot see");
  const ProcFolder process(caller.pid);
  const std::optional<ProcStatus> status = process ? read_status(process) : std::nullopt;
  if (!status) return unknown("the calling process has ended");
  const std::string strange = strange_spaces(process, *status, rules);
  std::optional<std::string> session = topmost_mark(caller.pid);
  // The pid belonged to this process all the time only if it is still alive.
  if (has_ended(caller.pidfd)) return unknown("the calling process has ended");
  if (!session) return unknown("the parents of the calling process cannot be told");
  if (!session->empty()) return {true, std::move(*session), ""};
  return strange.empty() ? outside : unknown(strange);
}

bool is_plainly_inside(std::int64_t pid, const CallerRules& rules) {
  const ProcFolder process(pid);
  if (!process) return false;
  const auto differs = [&](const char* name, std::optional<ino_t> own) {
    const std::optional<ino_t> there = process.name_space(name);
    return there && there != own;
  };
  const OwnSpaces& own = own_spaces();
  if (differs("ns/pid", own.process) || differs("ns/user", own.user)) return true;
  if (rules.mounts_tell && differs("ns/mnt", own.mount)) return true;
  return names_session_group(process.read_all("cgroup", 64UL << 10).value_or(""));
}

CallerPlace place_of_peer(int unix_socket, const CallerRules& rules) {
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(unix_socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return unknown("the kernel does not tell who called");
  }
  int number = -1;
  size = sizeof number;
  if (getsockopt(unix_socket, SOL_SOCKET, SO_PEERPIDFD, &number, &size) != 0) number = -1;
  const bool is_old = number < 0 && errno == ENOPROTOOPT;
  Fd pidfd(number);
  if (is_old && who.pid > 0) {
    // Before Linux 6.5 the kernel only tells a number, which may be another process's since. What
    // has that number now is the caller if it holds the other end: nothing else could have it but
    // what the caller started, or whoever took it from that.
    Result<Fd> opened = open_pidfd(who.pid);
    if (opened) pidfd = std::move(*opened);
    if (pidfd && !holds_other_end(who.pid, unix_socket)) {
      return unknown(
          "it is not seen to hold its connection, and kernels before Linux 6.5 do not "
          "prove who called");
    }
  }
  if (!pidfd && who.pid > 0) return unknown("the calling process has ended");
  return place_of({who.pid, pidfd.get()}, rules);
}

}  // namespace perdure
