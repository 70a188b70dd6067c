#include "env_posix/confine.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env_posix/fd.h"
#include "env_posix/proc.h"

namespace perdure {
namespace {

Result<> refused(const std::string& what) {
  return fail(Code::unavailable, what + ": " + std::strerror(errno));
}

Result<> write_file(const char* path, const std::string& text) {
  const Fd file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || write(file.get(), text.data(), text.size()) < 0) return refused(path);
  return {};
}

// Ourselves, and nobody else, under our own number.
Result<> map_user(uid_t uid, gid_t gid) {
  TRY_VOID(write_file("/proc/self/setgroups", "deny"));
  TRY_VOID(
      write_file("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1"));
  return write_file("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
}

Result<> enter_namespace() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWNS) == 0) return {};
  if (errno != EPERM) return refused("mount namespace");
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return refused("user namespace");
  return map_user(uid, gid);
}

// The kernel locks the flags of mounts that came from another user namespace: they are kept.
Result<> cover(const std::string& folder, unsigned long flags) {
  if (mount("perdure", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | flags,
            "size=64k,mode=0700") != 0) {
    return refused("cover " + folder);
  }
  return {};
}

Result<> show_again(const Fd& folder, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(Code::unavailable, path + ": " + error.message());
  const std::string from = "/proc/self/fd/" + std::to_string(folder.get());
  if (mount(from.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return refused("show " + path);
  }
  return {};
}

// The environment a process was started with, as the kernel keeps it.
std::string environment_value(std::int64_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
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

}  // namespace

bool allows_mount_namespaces() {
  const pid_t child = fork();
  if (child == 0)
    _exit(unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

Result<> hide_folder(const HiddenFolder& hidden) {
  TRY_VOID(enter_namespace());
  // What we mount from here on stays ours; what others mount still arrives.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return refused("mounts");
  // Opened in the new namespace: a folder of another one cannot be shown here.
  std::map<std::string, Fd> shown;
  for (const std::string& path : hidden.show) {
    Fd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return refused(path);
    shown.emplace(path, std::move(folder));
  }
  TRY_VOID(cover(hidden.folder, 0));
  for (const auto& [path, folder] : shown) TRY_VOID(show_again(folder, path));
  for (const std::string& path : hidden.hide) TRY_VOID(cover(path, MS_RDONLY));
  if (mount(nullptr, hidden.folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV,
            nullptr) != 0) {
    return refused("seal " + hidden.folder);
  }
  return {};
}

Result<std::string> hosting_session_of(std::int64_t pid) {
  constexpr int ancestors_max = 1024;
  for (int i = 0; i < ancestors_max && pid > 1; ++i) {
    const Result<ProcStat> stat = read_proc_stat(pid);
    // An ancestor that has just ended: who took over its children is not known.
    if (!stat) return std::unexpected(stat.error());
    if (stat->ended()) return fail(Code::not_found, "the process has ended");
    if (std::string session = environment_value(pid, "PERDURE_SESSION"); !session.empty()) {
      return session;
    }
    pid = stat->parent;
  }
  return std::string();
}

std::map<std::int64_t, std::string> hosting_sessions() {
  std::map<std::int64_t, std::int64_t> parents;
  std::map<std::int64_t, std::string> sessions;
  for (const ProcStat& process : all_processes()) {
    parents.emplace(process.pid, process.parent);
    sessions.emplace(process.pid, environment_value(process.pid, "PERDURE_SESSION"));
  }
  for (auto& [pid, session] : sessions) {
    // Each step goes up; a pid that was taken anew meanwhile could close a circle.
    std::size_t steps = 0;
    for (auto at = parents.find(pid); session.empty() && at != parents.end();) {
      if (++steps > parents.size()) break;
      const auto above = sessions.find(at->second);
      if (above == sessions.end()) break;
      session = above->second;
      at = parents.find(at->second);
    }
  }
  return sessions;
}

}  // namespace perdure
