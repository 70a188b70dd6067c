// podman keeps everything below its own folder and uses runc; dockerd makes no bridge.
#include "engine_process.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_client.h"
#include "base/check.h"
#include "daemon_process.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> plain_environment(const std::string& folder) {
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + folder,
          "CONTAINERS_CONF=" + folder + "/containers.conf"};
}

std::string found_program(const std::string& name) {
  for (const char* place :
       {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
    const std::string path = std::string(place) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// The paths of the loader and the libraries that a program needs.
std::vector<std::string> libraries_of(const std::string& program) {
  std::vector<std::string> out;
  std::istringstream words(run_program({found_program("ldd"), program}, {"PATH=/usr/bin"}).output);
  for (std::string word; words >> word;) {
    if (word.starts_with('/') && fs::exists(word)) out.push_back(word);
  }
  return out;
}

void copy_into(const std::string& root, const std::string& path) {
  fs::create_directories(root + fs::path(path).parent_path().string());
  fs::copy_file(path, root + path, fs::copy_options::overwrite_existing);
}

// Engines leave mounts below their folders; the innermost is unmounted first.
void unmount_below(const std::string& folder) {
  std::vector<std::string> points;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string point;
    for (int i = 0; i < 5; ++i) fields >> point;
    if (point.starts_with(folder + "/")) points.push_back(point);
  }
  std::ranges::reverse(points);
  for (const std::string& point : points) umount2(point.c_str(), MNT_DETACH);
}

}  // namespace

EngineProcess::EngineProcess(EngineKind kind) : kind_(kind) {
  const char* const temporary = std::getenv("TMPDIR");
  folder_ = std::string(temporary ? temporary : "/tmp") + "/perdure-engine-XXXXXX";
  CHECK(mkdtemp(folder_.data()) != nullptr);
}

EngineProcess::~EngineProcess() {
  if (pid_ > 0) {
    remove_all();
    kill(pid_, SIGTERM);
    int status = 0;
    if (!until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, 20'000)) kill_engine();
  }
  unmount_below(folder_);
  std::error_code none;
  fs::remove_all(folder_, none);
}

std::string EngineProcess::config_lines() const {
  return "[containers]\nsocket = '" + socket() + "'\nnetwork = 'none'\n";
}

std::vector<std::string> EngineProcess::words() const {
  if (kind_ == EngineKind::docker) {
    return {found_program("dockerd"),
            "--data-root",
            folder_ + "/d",
            "--exec-root",
            folder_ + "/e",
            "--pidfile",
            folder_ + "/p",
            "-H",
            "unix://" + socket(),
            "--bridge=none",
            "--iptables=false",
            "--ip6tables=false",
            "--storage-driver=overlay2"};
  }
  return {found_program("podman"),
          "--root",
          folder_ + "/store",
          "--runroot",
          folder_ + "/run",
          "--tmpdir",
          folder_ + "/tmp",
          "--storage-driver",
          "overlay",
          "--cgroup-manager",
          "cgroupfs",
          "--events-backend",
          "file",
          "system",
          "service",
          "--time=0",
          "unix://" + socket()};
}

Result<> EngineProcess::prepare() {
  if (geteuid() != 0) return fail(Code::unavailable, "an engine of our own needs root");
  const char* const program = kind_ == EngineKind::docker ? "dockerd" : "podman";
  for (const char* needed : {program, "runc", "busybox", "tar", "ldd"}) {
    if (found_program(needed).empty()) {
      return fail(Code::unavailable, std::string(needed) + " is not installed");
    }
  }
  std::ofstream(folder_ + "/containers.conf")
      << "[containers]\ndefault_ulimits = ['nofile=16384:16384', 'nproc=16384:16384']\n"
      << "[engine]\nruntime = 'runc'\ncgroup_manager = 'cgroupfs'\nevents_logger = 'file'\n";
  TRY_VOID(start());
  return make_image();
}

Result<> EngineProcess::start() {
  const std::vector<std::string> wanted = words();
  const std::vector<std::string> environment = plain_environment(folder_);
  std::vector<char*> arguments;
  for (const std::string& word : wanted) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (const std::string& each : environment) variables.push_back(const_cast<char*>(each.c_str()));
  variables.push_back(nullptr);
  const std::string log = folder_ + "/engine.log";
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // podman's monitors write a file into their working folder
    if (chdir(folder_.c_str()) != 0) _exit(126);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
    dup2(output, 1);
    dup2(output, 2);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  close(output);
  return until_answers();
}

Result<> EngineProcess::until_answers() {
  bool ended = false;
  const bool answers = until(
      [&] {
        int status = 0;
        ended = waitpid(pid_, &status, WNOHANG) == pid_;
        return ended || call("GET", "/info").status == 200;
      },
      60'000);
  if (ended) pid_ = 0;
  if (answers && !ended) return {};
  const std::string log = read_text(folder_ + "/engine.log");
  return fail(Code::unavailable,
              "the engine does not run here: " +
                  log.substr(log.size() - std::min<std::size_t>(400, log.size())));
}

void EngineProcess::kill_engine() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

EngineProcess::Answer EngineProcess::call(const std::string& method, const std::string& target,
                                          const std::string& body) {
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  HttpRequest request{.method = method, .target = "/v1.41" + target, .body = body};
  const bool is_json = body.starts_with('{');
  if (!body.empty()) {
    request.headers.push_back({"Content-Type", is_json ? "application/json" : "application/x-tar"});
  }
  const Result<HttpResponse> answer =
      http_call(*io, {.unix_folder = folder_, .unix_name = "engine.sock"}, std::move(request));
  if (!answer) return {};
  return {answer->status, answer->body};
}

Result<> EngineProcess::make_image() {
  const std::string root = folder_ + "/root";
  fs::remove_all(root);
  copy_into(root, found_program("busybox"));
  for (const char* name : {"sh", "sleep", "cat", "ls"}) {
    fs::create_directories(root + "/bin");
    fs::create_symlink(found_program("busybox"), root + "/bin/" + name);
  }
  // At its own path, so that a daemon's config means the same inside and outside.
  for (const char* program : {PERDURE_TESTAGENT, PERDURE_AGENTCTL}) {
    for (const std::string& path : libraries_of(program)) copy_into(root, path);
  }
  copy_into(root, PERDURE_TESTAGENT);
  const std::string tar = folder_ + "/image.tar";
  const ProgramRun packed =
      run_program({found_program("tar"), "-C", root, "-cf", tar, "."}, plain_environment(folder_));
  if (packed.exit_code != 0) return fail(Code::unavailable, "tar: " + packed.output);
  const Answer made = call(
      "POST", "/images/create?fromSrc=-&repo=localhost/perdure-test&tag=latest", read_text(tar));
  if (made.status == 200) return {};
  return fail(Code::unavailable, "the engine takes no image: " + made.body);
}

std::vector<std::string> EngineProcess::containers() {
  std::vector<std::string> out;
  const std::string listed = R"({"all":)" + call("GET", "/containers/json?all=true").body + "}";
  for (const std::string& each : json_list(listed, "all")) out.push_back(json_at(each, "Id"));
  return out;
}

void EngineProcess::remove_all() {
  for (const std::string& id : containers()) {
    call("POST", "/containers/" + id + "/kill?signal=KILL");
    call("DELETE", "/containers/" + id + "?force=true&v=true");
  }
}

}  // namespace perdure
