// Every step runs a system program, so that a person can do the same by hand.
#include "other_host.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr const char* path_text = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";

// The path of a program.
std::string program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return {};
}

ProgramRun here(std::vector<std::string> words) {
  words[0] = program(words[0]);
  if (words[0].empty()) return {.exit_code = 127, .output = "no such program"};
  return run_program(words, {path_text});
}

std::string first_child(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                     "/children");
  std::string child;
  file >> child;
  return child;
}

}  // namespace

Result<> OtherHost::prepare_here() {
  for (const char* const name : {"ip", "unshare", "nsenter", "mount"}) {
    if (program(name).empty()) {
      return fail(Code::unavailable, std::string("there is no program ") + name);
    }
  }
  if (unshare(CLONE_NEWNET) != 0) {
    return fail(Code::unavailable,
                std::string("no network namespace can be made: ") + std::strerror(errno));
  }
  const ProgramRun up = here({"ip", "link", "set", "lo", "up"});
  if (up.exit_code == 0) return {};
  return fail(Code::unavailable, "no network can be made: " + up.output);
}

OtherHost::OtherHost(std::string folder, std::string home)
    : folder_(std::move(folder)),
      home_(std::move(home)),
      environment_({path_text, "HOME=" + home_}) {
  fs::create_directories(folder_);
}

OtherHost::~OtherHost() { end(); }

void OtherHost::end() {
  if (keeper_ <= 0) return;
  if (init_ > 0) kill(init_, SIGKILL);
  kill(keeper_, SIGKILL);
  int status = 0;
  waitpid(keeper_, &status, 0);
  keeper_ = init_ = 0;
  here({"ip", "link", "del", "cable0"});
}

Result<> OtherHost::boot() {
  const std::string id = folder_ + "/boot_id";
  std::ofstream(id) << "00000000-0000-4000-8000-00000000000" << ++boots_ << "\n";
  const std::string first = "mount --bind '" + id +
                            "' /proc/sys/kernel/random/boot_id && ip link set lo up && "
                            "touch '" +
                            folder_ + "/up' && exec sleep infinity";
  fs::remove(folder_ + "/up");
  const std::string unshare_file = program("unshare");
  keeper_ = fork();
  if (keeper_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    execl(unshare_file.c_str(), "unshare", "--net", "--pid", "--mount", "--fork", "--mount-proc",
          "--kill-child=SIGKILL", "/bin/sh", "-c", first.c_str(), nullptr);
    _exit(127);
  }
  if (!until([&] { return fs::exists(folder_ + "/up"); }, 10'000)) {
    return fail(Code::unavailable, "the namespaces of another host cannot be made here");
  }
  init_ = std::atoi(first_child(keeper_).c_str());
  const std::string pid = std::to_string(init_);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1"},
           {"ip", "link", "set", "cable1", "netns", pid},
           {"ip", "addr", "add", "10.77.0.1/24", "dev", "cable0"},
           {"ip", "link", "set", "cable0", "up"},
           {"nsenter", "-t", pid, "-n", "ip", "addr", "add", "10.77.0.2/24", "dev", "cable1"},
           {"nsenter", "-t", pid, "-n", "ip", "link", "set", "cable1", "up"}}) {
    const ProgramRun done = here(words);
    if (done.exit_code != 0) return fail(Code::unavailable, "no cable: " + done.output);
  }
  return {};
}

Result<> OtherHost::reboot() {
  cut();
  end();
  return boot();
}

// At the far end: the daemon's own interface stays up, so that it gets no signal of the cut.
void OtherHost::cut() const {
  here({"nsenter", "-t", std::to_string(init_), "-n", "ip", "link", "set", "cable1", "down"});
}

void OtherHost::join() const {
  here({"nsenter", "-t", std::to_string(init_), "-n", "ip", "link", "set", "cable1", "up"});
}

ProgramRun OtherHost::run(std::vector<std::string> words) const {
  std::vector<std::string> all{
      program("nsenter"), "-t", std::to_string(init_), "-n", "-p", "-m", "--"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment_);
}

Result<OutpostSight> OtherHost::start_outpost() const {
  const ProgramRun started =
      run({PERDURE_OUTPOST, "start", "--folder", outpost_folder(), "--address", "10.77.0.2:0"});
  std::string line = started.output;
  while (line.ends_with('\n')) line.pop_back();
  OutpostSight sight = TRY(decode_sight(line));
  if (!sight.code.empty()) return fail(Code::unavailable, sight.message);
  return sight;
}

Result<std::string> OtherHost::start_sshd() {
  if (program("sshd").empty() || program("ssh-keygen").empty()) {
    return fail(Code::unavailable, "there is no sshd (openssh-server)");
  }
  const std::string at = folder_ + "/ssh";
  fs::create_directories(at);
  fs::permissions(at, fs::perms::owner_all);
  for (const char* const key : {"host", "user"}) {
    const ProgramRun made =
        here({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at + "/" + key});
    if (made.exit_code != 0) return fail(Code::unavailable, "ssh-keygen: " + made.output);
  }
  fs::copy_file(at + "/user.pub", at + "/authorized");
  std::ofstream(at + "/known") << address() << " " << read_text(at + "/host.pub");
  std::ofstream(at + "/config") << "HostKey " << at << "/host\nAuthorizedKeysFile " << at
                                << "/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
                                << "PasswordAuthentication no\nPermitRootLogin yes\n"
                                << "ListenAddress " << address() << "\n"
                                << "SetEnv HOME=" << home_ << "\n";
  run({"/bin/sh", "-c", "mount -t tmpfs tmpfs /run && mkdir -p /run/sshd"});
  const ProgramRun started = run({program("sshd"), "-f", at + "/config", "-E", at + "/log"});
  if (started.exit_code != 0) return fail(Code::unavailable, "sshd: " + started.output);
  return "-F none -i " + at + "/user -o UserKnownHostsFile=" + at +
         "/known -o BatchMode=yes -o ConnectTimeout=10";
}

}  // namespace perdure
