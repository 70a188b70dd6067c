#include "perdure/offline/service.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/setup/data_folder.h"

extern char** environ;

namespace perdure {
namespace {

namespace fs = std::filesystem;

Result<std::string> unit_path() {
  const char* const given = std::getenv("XDG_CONFIG_HOME");
  if (given && given[0] == '/') return std::string(given) + "/systemd/user/perdure.service";
  const Places places = TRY(find_places());
  if (places.home.empty()) return fail(Code::unavailable, "no home folder is set");
  return places.home + "/.config/systemd/user/perdure.service";
}

// Its output goes where ours goes.
int systemctl(std::initializer_list<const char*> words) {
  std::vector<char*> arguments{const_cast<char*>("systemctl"), const_cast<char*>("--user")};
  for (const char* const word : words) arguments.push_back(const_cast<char*>(word));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, "systemctl", nullptr, nullptr, arguments.data(), environ) != 0) {
    return -1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string user_unit(const std::string& program) {
  return "[Unit]\n"
         "Description=Perdure keeps the work of AI coding agents alive\n"
         "\n"
         "[Service]\n"
         "Type=notify\n"
         "ExecStart=" +
         program +
         " serve\n"
         "Restart=on-failure\n"
         "RestartSec=1\n"
         "# A restart or an upgrade leaves the agents alone; the next daemon finds them again.\n"
         "KillMode=process\n"
         "OOMPolicy=continue\n"
         "Delegate=yes\n"
         "LimitNOFILE=65536\n"
         "# Agents inherit what stands here: only what they can live under.\n"
         "NoNewPrivileges=yes\n"
         "UMask=0077\n"
         "\n"
         "[Install]\n"
         "WantedBy=default.target\n";
}

Result<std::string> install_service(const std::string& program, bool enable) {
  const std::string path = TRY(unit_path());
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::ofstream file(path, std::ios::trunc);
  file << user_unit(program);
  file.close();
  if (error || !file) return fail(Code::unavailable, path + " cannot be written");
  std::string text = "wrote " + path + "\n";
  if (!enable) {
    return text +
           "start it now and at every login: systemctl --user enable --now perdure\n"
           "keep it running after logout:    loginctl enable-linger\n";
  }
  if (systemctl({"daemon-reload"}) != 0 || systemctl({"enable", "--now", "perdure"}) != 0) {
    return fail(Code::unavailable, text + "but systemctl --user did not start it");
  }
  return text +
         "it runs now and starts at every login; after logout too with: loginctl "
         "enable-linger\n";
}

Result<std::string> service_status() {
  const std::string path = TRY(unit_path());
  std::error_code error;
  if (!fs::exists(path, error)) { return "not installed as a service (perdure service install)\n"; }
  const int active = systemctl({"is-active", "perdure"});
  if (active < 0) return path + " exists, but systemctl was not found\n";
  return path + (active == 0 ? " is active\n" : " is not active\n");
}

}  // namespace perdure
