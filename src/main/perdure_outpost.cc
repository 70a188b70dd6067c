// The program perdure-outpost: the part of Perdure that a daemon needs on another host. One runs
// per user and folder there. It is static, like agentctl, and keeps its state in files, so a
// successor has the same certificate, secret and port.
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/hash.h"
#include "base/result.h"
#include "env_posix/detach.h"
#include "env_posix/file_lock.h"
#include "env_posix/folder.h"
#include "env_posix/hidden_folder.h"
#include "env_posix/identity.h"
#include "env_posix/kept_program.h"
#include "env_posix/loop.h"
#include "env_posix/own_folders.h"
#include "env_posix/posix_host.h"
#include "env_posix/processes.h"
#include "env_posix/signals.h"
#include "env_posix/world.h"
#include "http/certificate.h"
#include "http/io.h"
#include "http/secure_link.h"
#include "main/worktree.h"
#include "outpost/outpost.h"
#include "wire/outpost.h"

extern char** environ;

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view version = PERDURE_VERSION;
constexpr std::size_t file_bytes_max = 4096;
constexpr const char* sight_name = "outpost.json";
constexpr int replace_rounds = 100;  // each takes 50 ms

constexpr std::string_view usage_text =
    "usage: perdure-outpost start  [--folder DIR] [--address HOST:PORT] [--replace]\n"
    "       perdure-outpost listen [--folder DIR] [--address HOST:PORT]\n"
    "       perdure-outpost version\n"
    "\n"
    "Runs agentctls on this host for a daemon on another one; see docs/operations/remote.md.\n"
    "  start    detaches and prints one line: port, fingerprint of the certificate, secret. Where\n"
    "           one runs already, prints that of it; with --replace it is ended first\n"
    "  listen   the same without detaching, for a service manager\n"
    "DIR is ~/.local/share/perdure-outpost, and HOST:PORT 0.0.0.0:0, unless said otherwise. The\n"
    "port of the first start is kept where none is named.\n";

struct Options {
  std::string folder;
  std::string host = "0.0.0.0";
  std::uint16_t port = 0;
  bool replace = false;
};

void print(std::FILE* out, std::string_view text) { std::fwrite(text.data(), 1, text.size(), out); }

Result<> read_address(std::string_view text, Options& out) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto [at, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || error != std::errc() || at != port.data() + port.size()) {
    return fail(Code::invalid_argument, "--address is HOST:PORT, such as 0.0.0.0:7434");
  }
  out.host = text.substr(0, colon);
  if (out.host.starts_with('[') && out.host.ends_with(']')) {
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  return {};
}

Result<Options> read_options(int argc, char** argv) {
  Options out;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--replace") {
      out.replace = true;
    } else if (word == "--folder" && has_value) {
      out.folder = argv[++i];
    } else if (word == "--address" && has_value) {
      TRY_VOID(read_address(argv[++i], out));
    } else {
      return fail(Code::invalid_argument, "what is '" + std::string(word) + "'?");
    }
  }
  if (out.folder.empty()) {
    const char* const home = std::getenv("HOME");
    if (!home || *home != '/') return fail(Code::unavailable, "HOME is not set: name a --folder");
    out.folder = std::string(home) + "/.local/share/perdure-outpost";
  }
  out.folder = fs::absolute(out.folder).lexically_normal().string();
  return out;
}

// 0700 from its creation; an existing one must be accessible only to us.
Result<std::unique_ptr<PosixFolder>> open_own_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::unique_ptr<PosixFolder> folder = TRY(PosixFolder::create(path));
  TRY_VOID(folder->check_private());
  return folder;
}

Result<std::string> read_secret(PosixFolder& folder) {
  Result<std::string> found = folder.read("secret", 0, file_bytes_max);
  if (found) {
    while (found->ends_with('\n')) found->pop_back();
    if (found->size() == 64) return found;
    return fail(Code::damaged, "the file secret does not hold one");
  }
  PosixRandom random;
  std::string seed;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t bits = random.next();
    seed.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  const std::string secret = sha256(seed).hex();
  TRY_VOID(folder.replace("secret", secret + "\n"));
  return secret;
}

std::optional<OutpostSight> read_sight(PosixFolder& folder) {
  const Result<std::string> text = folder.read(sight_name, 0, file_bytes_max);
  Result<OutpostSight> sight = decode_sight(text.value_or(""));
  if (!sight) return std::nullopt;
  return *sight;
}

// Another process may have this number by now: only the one that wrote it gets the signal.
Result<> ask_to_leave(const OutpostSight& sight, int number) {
  ProcessIdentity who{.pid = sight.pid, .started = sight.pid_started, .host_boot = sight.host_boot};
  if (sight.host_boot.empty()) {
    // An older version recorded only the pid, so the process is identified by its program.
    std::error_code error;
    const std::string exe = "/proc/" + std::to_string(sight.pid) + "/exe";
    const std::string program = fs::read_symlink(exe, error).filename().string();
    if (!program.starts_with("perdure-outpost")) {
      return fail(Code::conflict, "process " + std::to_string(sight.pid) +
                                      " is not the outpost that runs here; end that one first");
    }
    who = TRY(identify_process(sight.pid));
  }
  const Result<> sent = signal_process(who, number);
  // A process that has ended releases its lock shortly.
  if (sent || sent.error().code() == Code::not_found) return {};
  return sent;
}

// The lock decides which outpost runs; the pid in the file only says which process to signal.
Result<std::optional<FileLock>> take_lock(PosixFolder& folder, const Options& options) {
  for (int round = 0;; ++round) {
    Result<FileLock> lock = FileLock::try_acquire(folder, "lock");
    if (lock) return std::optional<FileLock>(std::move(*lock));
    if (lock.error().code() != Code::conflict) return std::unexpected(lock.error());
    if (!options.replace) return std::nullopt;
    const std::optional<OutpostSight> sight = read_sight(folder);
    if (round >= replace_rounds || !sight || sight->pid <= 1) {
      return fail(Code::conflict, "the outpost that runs here does not end");
    }
    if (round % 20 == 0) TRY_VOID(ask_to_leave(*sight, round < 40 ? SIGTERM : SIGKILL));
    usleep(50'000);
  }
}

// This host's environment, for agents and for git.
std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const bool is_passed = equals != std::string_view::npos && !name.starts_with("PERDURE_") &&
                           !name.starts_with("SSH_") && name != "OLDPWD" && name != "PWD" &&
                           name != "_" && name != "SHLVL";
    if (is_passed) out.emplace(name, text.substr(equals + 1));
  }
  out.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  return out;
}

std::string agentctl_beside_us() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "perdure-agentctl").string();
}

// A copy in our own folder: sessions can write the place that ours was installed to, and it starts
// outside of them all. Where it cannot be made, each start says what is missing.
std::string keep_agentctl(const std::string& own_folder) {
  const std::string folder = own_folder + "/programs";
  const std::string kept = folder + "/perdure-agentctl";
  if (PosixFolder::create(folder)) (void)keep_program({.from = agentctl_beside_us(), .to = kept});
  return kept;
}

Result<std::unique_ptr<SecureListener>> listen_at(HttpIo& io, const Options& options,
                                                  const TlsFiles& files, std::uint16_t kept_port,
                                                  SecureListener::OnLink on_link) {
  return SecureListener::listen(
      io,
      {.host = options.host, .port = options.port != 0 ? options.port : kept_port, .files = files},
      std::move(on_link));
}

using Answer = std::move_only_function<Result<>(const std::string& line)>;

struct Terms {
  Options options;
  mode_t child_umask = 022;
  Answer answer;
};

Result<> serve(PosixFolder& folder, const std::string& secret, Terms terms) {
  const Options& options = terms.options;
  const TlsFiles files{options.folder + "/tls.pem", options.folder + "/tls.key"};
  if (!certificate_fingerprint(files.certificate)) {
    TRY_VOID(make_certificate(files, "perdure-outpost"));
  }
  const Hash fingerprint = TRY(certificate_fingerprint(files.certificate));
  const auto loop = TRY(EpollLoop::create());
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  io->drive(loop->descriptor(), [&] { loop->pump(); });
  const auto processes = PosixProcesses::create(*loop, {.child_umask = terms.child_umask});
  PosixHost host(*loop);
  const PendingTasks pending(*loop);
  PosixFiles disk;
  const ProcessIdentity self = TRY(identify_self());
  const auto environment = own_environment();
  const OwnFolders own({options.folder});
  std::vector<std::string> git_environment{"PATH=" + environment.at("PATH")};
  if (const auto home = environment.find("HOME"); home != environment.end()) {
    git_environment.push_back("HOME=" + home->second);
  }
  const HiddenFolders hide{.folder = options.folder,
                           .identity = folder_identity(folder.descriptor().get()),
                           .also = {},
                           .also_identity = {}};
  const std::string agentctl = keep_agentctl(options.folder);
  Worktrees worktrees(
      {*loop, *processes},
      {.agentctl_command = {agentctl}, .environment = std::move(git_environment), .hide = hide});
  Outpost outpost({.loop = *loop,
                   .processes = *processes,
                   .host = host,
                   .files = disk,
                   .make_worktree =
                       [&](const OutpostPorts::Worktree& order, auto done) {
                         worktrees.add({order.session, order.repository, order.path, order.branch},
                                       std::move(done));
                       },
                   .folder_owner = [&](const std::string& cwd) { return own.session_of(cwd); }},
                  {.folder = options.folder,
                   .hide = hide,
                   .secret = sha256(secret),
                   .agentctl_command = {agentctl},
                   .environment = environment,
                   .build = std::string(version),
                   .host_boot = self.host_boot});
  const std::optional<OutpostSight> before = read_sight(folder);
  const auto listener = TRY(listen_at(
      *io, options, files, before ? static_cast<std::uint16_t>(before->port) : std::uint16_t{0},
      [&](std::unique_ptr<SecureLink> link) {
        const std::string source = link->source();
        outpost.on_link(std::move(link), source);
      }));
  const auto signals =
      TRY(SignalWatch::create(*loop, {SIGTERM, SIGINT, SIGHUP}, [&](int) { io->stop(); }));
  OutpostSight sight{.build = std::string(version),
                     .port = listener->port(),
                     .fingerprint = fingerprint.hex(),
                     .pid = self.pid,
                     .pid_started = self.started,
                     .host_boot = self.host_boot};
  TRY_VOID(folder.replace(sight_name, encode_line(sight)));
  sight.secret = secret;
  TRY_VOID(terms.answer(encode_line(sight)));
  io->run();
  return {};
}

Result<> run(Terms terms) {
  const auto folder = TRY(open_own_folder(terms.options.folder));
  const std::string secret = TRY(read_secret(*folder));
  const std::optional<FileLock> lock = TRY(take_lock(*folder, terms.options));
  if (lock) return serve(*folder, secret, std::move(terms));
  std::optional<OutpostSight> sight = read_sight(*folder);
  if (!sight) return fail(Code::conflict, "an outpost is starting here; try again");
  sight->secret = secret;
  sight->was_running = true;
  return terms.answer(encode_line(*sight));
}

std::string encode_failure(const Error& error) {
  return encode_line(OutpostSight{.build = std::string(version),
                                  .code = std::string(code_name(error.code())),
                                  .message = error.message()});
}

int start(Options options) {
  Result<Detached> detached = detach();
  if (!detached) {
    print(stdout, encode_failure(detached.error()));
    return exit_failed;
  }
  const Result<> done =
      run({.options = std::move(options),
           .child_umask = detached->umask_before(),
           .answer = [&](const std::string& line) { return detached->answer(line); }});
  if (done) return 0;
  detached->refuse(encode_failure(done.error()));
  return exit_failed;
}

int listen(Options options) {
  const mode_t before = umask(077);
  const Result<> done = run({.options = std::move(options),
                             .child_umask = before,
                             .answer = [](const std::string& line) -> Result<> {
                               // The secret must not be logged.
                               const Result<OutpostSight> sight = decode_sight(line);
                               if (!sight) return std::unexpected(sight.error());
                               print(stdout, "listens at port " + std::to_string(sight->port) +
                                                 ", fingerprint " + sight->fingerprint + "\n");
                               std::fflush(stdout);
                               if (!sight->was_running) return {};
                               return fail(Code::conflict, "another outpost runs on this folder");
                             }});
  if (done) return 0;
  print(stderr, "perdure-outpost: " + done.error().message() + "\n");
  return exit_failed;
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  using namespace perdure;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "version" || verb == "--version") {
    print(stdout, "perdure-outpost " + std::string(version) + "\n");
    return 0;
  }
  const bool works = verb == "start" || verb == "listen";
  const bool asked = verb == "help" || verb == "--help" || verb == "-h";
  if (!works) {
    print(asked ? stdout : stderr, usage_text);
    return asked ? 0 : exit_usage;
  }
  Result<Options> options = read_options(argc, argv);
  if (!options) {
    print(stderr, "perdure-outpost: " + options.error().message() + "\n" + std::string(usage_text));
    return exit_usage;
  }
  return verb == "start" ? start(std::move(*options)) : listen(std::move(*options));
}
