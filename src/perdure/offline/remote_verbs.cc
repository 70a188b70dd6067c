#include "perdure/offline/remote_verbs.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <sys/utsname.h>

#include "daemon/launch/remotes.h"
#include "daemon/launch/ssh.h"
#include "daemon/setup/config.h"
#include "daemon/setup/data_folder.h"
#include "env/posix/world.h"
#include "net/reactor.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_there = R"(${XDG_DATA_HOME:-$HOME/.local/share}/perdure-outpost)";
constexpr const char* programs[] = {"perdure-agentctl", "perdure-outpost"};
constexpr std::int64_t call_ms = 15'000;

Result<std::string> own_remotes() {
  const Places places = TRY(find_places());
  return TRY(DataFolder::open(places.data))->remotes();
}

Result<std::string> read_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::not_found, path + " is missing; it is copied to the other host");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// One call over its own connection, with both durations.
struct Measured {
  std::int64_t connect_ms = 0;
  std::int64_t answer_ms = 0;
};

Result<std::int64_t> ping(HttpIo& io, OutpostClient& client) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto took_ms = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  };
  std::optional<Result<std::string>> answer;
  client.call({.verb = OutpostVerb::ping},
              [&](Result<std::string> result) { answer = std::move(result); });
  while (!answer && took_ms() < call_ms) io.run_for_ms(10);
  if (!answer) return fail(Code::remote_unavailable, "it does not answer");
  if (!*answer) return fail(Code::remote_unavailable, answer->error().message());
  return took_ms();
}

Result<Measured> measure(const Remote& remote) {
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  const auto clock = TRY(PosixClock::create());
  const auto client = reach({*io, reactor_of(*io), *clock}, remote, {});
  Measured out{.connect_ms = TRY(ping(*io, *client))};
  out.answer_ms = TRY(ping(*io, *client));
  return out;
}

std::string address_of(const Remote& remote) {
  return remote.host + ":" + std::to_string(remote.port);
}

Result<std::string> describe(const Remote& remote) {
  const Result<Measured> measured = measure(remote);
  if (!measured) {
    return fail(Code::remote_unavailable,
                "the outpost at " + address_of(remote) +
                    " cannot be called from here: " + measured.error().message() +
                    ". Is the port open in every firewall between, and does the outpost run "
                    "(perdure remote start " +
                    remote.name + ")?");
  }
  return remote.name + " at " + address_of(remote) + " answers: connected with TLS in " +
         std::to_string(measured->connect_ms) + " ms, a call takes " +
         std::to_string(measured->answer_ms) + " ms. Fingerprint " + remote.fingerprint;
}

// Works on one remote over ssh.
class Bringing {
 public:
  Bringing(Remote remote, std::uint64_t port) : remote_(std::move(remote)), port_(port) {}

  Result<> prepare() {
    const std::string folder = remote_.folder.empty() ? std::string("\"") + folder_there + "\""
                                                      : shell_quoted(remote_.folder);
    const std::string said = TRY(ssh("umask 077; d=" + folder +
                                     "; mkdir -p \"$d/bin\" && chmod 700 \"$d\" && uname -sm && "
                                     "cd \"$d\" && pwd -P"));
    const std::size_t line = said.find('\n');
    utsname here{};
    uname(&here);
    const std::string ours = std::string(here.sysname) + " " + here.machine;
    if (line == std::string::npos || said.substr(0, line) != ours) {
      return fail(Code::invalid_argument, "the other host is " + said.substr(0, line) +
                                              ", and the programs here are for " + ours);
    }
    remote_.folder = said.substr(line + 1);
    while (remote_.folder.ends_with('\n')) remote_.folder.pop_back();
    return {};
  }

  // Copied completely, tried, then renamed into place, so a running program keeps its own file.
  Result<> copy(const std::string& from, const std::string& name) {
    const std::string path = shell_quoted(remote_.folder + "/bin/" + name);
    const std::string fresh = shell_quoted(remote_.folder + "/bin/" + name + ".new");
    const Result<std::string> said =
        ssh("umask 077; cat > " + fresh + " && chmod 700 " + fresh + " && " + fresh +
                " version && mv -f " + fresh + " " + path,
            TRY(read_program(from + "/" + name)));
    if (said) return {};
    const bool is_refused = said.error().message().contains("ermission denied") &&
                            said.error().code() == Code::internal;
    if (!is_refused) return std::unexpected(said.error());
    return fail(Code::denied, said.error().message() + ". Programs cannot be run in " +
                                  remote_.folder + " there: name another --folder");
  }

  Result<> start(const std::string& more) {
    const std::string said = TRY(ssh(shell_quoted(remote_.folder + "/bin/perdure-outpost") +
                                     " start --folder " + shell_quoted(remote_.folder) +
                                     " --address 0.0.0.0:" + std::to_string(port_) + more));
    std::string line = said;
    while (line.ends_with('\n')) line.pop_back();
    const OutpostSight sight = TRY(decode_sight(line));
    if (!sight.code.empty()) return fail(parse_code(sight.code), sight.message);
    remote_.port = sight.port;
    remote_.fingerprint = sight.fingerprint;
    remote_.secret = sight.secret;
    return {};
  }

  const Remote& remote() const { return remote_; }

 private:
  Result<std::string> ssh(const std::string& command, std::string input = {}) {
    return run_ssh({remote_.ssh_options, remote_.target, command, std::move(input)});
  }

  Remote remote_;
  std::uint64_t port_;
};

Result<std::string> add(const cli::AddRemote& order, const std::string& from) {
  TRY_VOID(check_remote_name(order.name));
  if (order.port > 65535) return fail(Code::invalid_argument, "--port must be between 1 and 65535");
  const std::string folder = TRY(own_remotes());
  Remote remote{.name = order.name,
                .target = order.target,
                .ssh_options = order.ssh_options,
                .folder = order.folder,
                .host = order.host};
  if (remote.host.empty()) { remote.host = TRY(ssh_host({order.ssh_options, order.target, ""})); }
  Bringing bringing(std::move(remote), order.port);
  order.on_progress("looking at " + order.target);
  TRY_VOID(bringing.prepare());
  for (const char* const program : programs) {
    order.on_progress(std::string("copying ") + program);
    TRY_VOID(bringing.copy(from, program));
  }
  order.on_progress("starting the outpost");
  TRY_VOID(bringing.start(" --replace"));
  TRY_VOID(write_remote(folder, bringing.remote()));
  return describe(bringing.remote());
}

Result<std::string> start_again(const std::string& name) {
  const std::string folder = TRY(own_remotes());
  Bringing bringing(TRY(read_remote({folder, name})), 0);
  const Remote before = bringing.remote();
  TRY_VOID(bringing.start(""));
  if (bringing.remote().fingerprint != before.fingerprint) {
    return fail(Code::conflict,
                "the outpost there has another certificate than the one that was "
                "added; if that is right: perdure remote add " +
                    name + " " + before.target);
  }
  TRY_VOID(write_remote(folder, bringing.remote()));
  return describe(bringing.remote());
}

}  // namespace

void give_remote_verbs(cli::LocalVerbs& verbs, const std::string& program) {
  const std::string from = fs::path(program).parent_path();
  verbs.remote_add = [from](const cli::AddRemote& order) { return add(order, from); };
  verbs.remote_list = [] -> Result<std::vector<cli::RemoteRow>> {
    std::vector<cli::RemoteRow> out;
    for (const Remote& remote : TRY(list_remotes(TRY(own_remotes())))) {
      out.push_back({remote.name, remote.target, address_of(remote), remote.fingerprint});
    }
    return out;
  };
  verbs.remote_remove = [](const std::string& name) -> Result<> {
    return remove_remote({TRY(own_remotes()), name});
  };
  verbs.remote_check = [](const std::string& name) -> Result<std::string> {
    return describe(TRY(read_remote({TRY(own_remotes()), name})));
  };
  verbs.remote_start = start_again;
}

}  // namespace perdure
