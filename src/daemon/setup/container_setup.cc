#include "daemon/setup/container_setup.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "daemon/setup/git_mounts.h"

namespace perdure {
namespace {

bool is_socket(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

// The user's own sockets come first: they need no additional rights.
std::vector<std::string> usual_sockets() {
  std::vector<std::string> out;
  if (const char* const runtime = std::getenv("XDG_RUNTIME_DIR")) {
    out.push_back(std::string(runtime) + "/docker.sock");
    out.push_back(std::string(runtime) + "/podman/podman.sock");
  }
  out.emplace_back("/run/docker.sock");
  out.emplace_back("/var/run/docker.sock");
  out.emplace_back("/run/podman/podman.sock");
  return out;
}

}  // namespace

Result<ContainerMount> parse_mount(const std::string& text) {
  const std::size_t first = text.find(':');
  if (first == std::string::npos) {
    return fail(Code::invalid_argument, "containers.mounts: '" + text + "' has no colon");
  }
  ContainerMount mount{.source = text.substr(0, first), .target = text.substr(first + 1)};
  if (mount.target.ends_with(":ro")) {
    mount.read_only = true;
    mount.target.resize(mount.target.size() - 3);
  }
  const bool is_whole =
      mount.source.starts_with('/') && mount.target.starts_with('/') && !mount.target.contains(':');
  if (is_whole) return mount;
  return fail(Code::invalid_argument,
              "containers.mounts: '" + text + "' must be /HOST:/CONTAINER or /HOST:/CONTAINER:ro");
}

Result<std::string> find_engine_socket(const ContainerSettings& settings) {
  if (!settings.socket.empty()) return settings.socket;
  if (const char* const named = std::getenv("DOCKER_HOST"); named && *named != '\0') {
    const std::string_view text(named);
    constexpr std::string_view scheme = "unix://";
    if (text.starts_with(scheme)) return std::string(text.substr(scheme.size()));
    return fail(Code::engine_unavailable,
                "DOCKER_HOST is not a unix socket; a container shares folders with this machine, "
                "so its engine must run here: set containers.socket");
  }
  for (const std::string& path : usual_sockets()) {
    if (is_socket(path)) return path;
  }
  return fail(Code::engine_unavailable,
              "no container engine found: install docker or podman and start it "
              "(systemctl start docker, or systemctl start podman.socket), or set "
              "containers.socket");
}

ContainerPlan make_container_plan(const ContainerSetup& setup, const LaunchSpec& spec,
                                  const Bootstrap& bootstrap) {
  ContainerPlan plan{.image = spec.image,
                     .agentctl = setup.agentctl,
                     .mounts = {},
                     .user = std::to_string(geteuid()) + ":" + std::to_string(getegid()),
                     .network = setup.settings.network,
                     .limits = {bootstrap.limits.memory_bytes, bootstrap.limits.processes,
                                bootstrap.limits.cpu_percent}};
  for (const std::string& text : setup.settings.mounts) {
    if (Result<ContainerMount> mount = parse_mount(text)) plan.mounts.push_back(*mount);
  }
  // Only the journal is trusted for a worktree's repository: the container controls its .git file.
  const Workspace& workspace = spec.workspace;
  std::vector<ContainerMount> git =
      worktree_mounts({workspace.worktree_path, workspace.worktree_repository});
  if (git.empty()) git = folder_mounts(workspace.cwd);
  plan.mounts.insert(plan.mounts.end(), git.begin(), git.end());
  return plan;
}

}  // namespace perdure
