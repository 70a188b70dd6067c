#include "env_posix/own_folders.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "env_posix/kernel_files.h"

namespace perdure {
namespace {

bool is_below(std::string_view path, std::string_view folder) {
  return folder == "/" ? path.size() > 1
                       : path.size() > folder.size() && path.starts_with(folder) &&
                             path[folder.size()] == '/';
}

// workspaces/session_<id>[/…] or worktrees/<id>[/…]
std::optional<SessionId> made_for(std::string_view rest) {
  for (const std::string_view prefix : {"workspaces/session_", "worktrees/"}) {
    if (!rest.starts_with(prefix)) continue;
    const std::string_view name = rest.substr(prefix.size());
    const Result<SessionId> session = SessionId::parse(name.substr(0, name.find('/')));
    if (session) return *session;
  }
  return std::nullopt;
}

Error refused(const std::string& cwd, const std::string& own) {
  return {Code::invalid_argument,
          "cwd: " + cwd + " is, contains or lies in " + own +
              ", which holds Perdure's own files. Choose another folder, or keep Perdure's data "
              "elsewhere (PERDURE_HOME)"};
}

}  // namespace

SessionId named_session(std::string_view cwd) {
  for (std::size_t at = cwd.find('/'); at != std::string_view::npos; at = cwd.find('/', at + 1)) {
    if (const std::optional<SessionId> session = made_for(cwd.substr(at + 1))) return *session;
  }
  return {};
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(realpath(path.c_str(), nullptr),
                                                          &std::free);
  return found ? std::string(found.get()) : std::string();
}

Result<SessionId> OwnFolders::session_of(const std::string& cwd) const {
  const std::string real = real_path(cwd);
  if (!real.empty()) return session_of(cwd, real);
  return fail(Code::workspace_missing, "the folder " + cwd + " does not exist");
}

Result<SessionId> OwnFolders::session_of(const std::string& cwd, const std::string& real) const {
  if (const std::string_view kernel = kernel_file_system_at(real); !kernel.empty()) {
    return fail(Code::invalid_argument, "cwd: " + cwd + " lies on " + std::string(kernel) +
                                            ", a file system of the kernel. Choose a folder of "
                                            "files");
  }
  SessionId session;
  for (const std::string& path : paths_) {
    const std::string own = real_path(path);
    if (own.empty()) continue;
    if (real == own || is_below(own, real)) return std::unexpected(refused(cwd, path));
    if (!is_below(real, own)) continue;
    const std::string_view rest = std::string_view(real).substr(own.size() + 1);
    const std::optional<SessionId> found = made_for(rest);
    std::string_view given(cwd);
    while (given.size() > 1 && given.ends_with('/')) given.remove_suffix(1);
    const auto names = [&](const std::string& folder) {
      return is_below(given, folder) && given.substr(folder.size() + 1) == rest;
    };
    if (!found || (!names(path) && !names(own))) return std::unexpected(refused(cwd, path));
    session = *found;
  }
  return session;
}

}  // namespace perdure
