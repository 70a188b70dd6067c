#include "daemon/serve.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/failpoint.h"
#include "base/json/json.h"
#include "daemon/daemon.h"
#include "daemon/setup/clean_start.h"
#include "daemon/setup/stop_daemon.h"
#include "env/posix/process/detach.h"

namespace perdure {
namespace {

void print(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

int exit_code(const Error& error) {
  return error.code() == Code::conflict ? exit_refused : exit_failed;
}

// Ten thousand streams need as many descriptors, so the limit is raised to the maximum.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<Daemon::Setting> read_setting(const ServeOptions& options) {
  Daemon::Setting setting{.options = options,
                          .places = TRY(find_places()),
                          .config = {},
                          .lives = std::make_shared<Daemon::Lives>()};
  setting.lives->listeners = KeptListeners::inherit();
  // A restart in the background runs in another folder.
  for (std::string* const path : {&setting.options.config, &setting.options.tls_certificate,
                                  &setting.options.tls_key, &setting.options.executions}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  if (!options.config.empty()) setting.places.config = options.config;
  setting.config = TRY(read_config(setting.places.config));
  if (!options.tls_certificate.empty()) setting.config.tls_certificate = options.tls_certificate;
  if (!options.tls_key.empty()) setting.config.tls_key = options.tls_key;
  if (!options.advertise.empty()) setting.config.advertise = options.advertise;
  if (!options.executions.empty()) setting.config.executions = setting.options.executions;
  if (options.lease_secs != 0) setting.config.lease_secs = options.lease_secs;
  TRY_VOID(check_sharing(setting.config));
  if (!options.listen.empty()) {
    setting.config.listen = options.listen;
    setting.config.listen_given = true;
  }
  return setting;
}

// The line that the starting process prints for a daemon in the background.
std::string started_json(const Daemon& daemon) {
  JsonWriter json;
  json.begin_object().key("url").string(daemon.url()).end_object();
  return std::move(json).take() + "\n";
}

// How a life of the daemon ended, and which one follows.
struct Ended {
  bool is_restarting = false;
  ApiWorld::RestartWith with = ApiWorld::RestartWith::running_program;
  std::string listening;
};

// D6: the program at its path now replaces this process, on the same port. A background daemon is
// already detached, and data put aside stays there. Returns only on failure.
void start_again(const Daemon::Setting& setting, const Ended& ended) {
  const ServeOptions& options = setting.options;
  std::vector<std::string> words{options.program, "serve", "--listen", ended.listening};
  const std::pair<const char*, std::string> more[] = {
      {"--config", options.config},
      {"--tls-certificate", options.tls_certificate},
      {"--tls-key", options.tls_key},
      {"--advertise", options.advertise},
      {"--executions", options.executions},
      {"--lease", options.lease_secs == 0 ? "" : std::to_string(options.lease_secs)}};
  for (const auto& [name, value] : more) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  setting.lives->listeners.pass_on();
  execv(arguments.front(), arguments.data());
}

Ended run_to_end(Daemon& daemon, std::move_only_function<void()> ready) {
  daemon.run(std::move(ready));
  return {daemon.is_restarting(), daemon.restart_with(), daemon.listening()};
}

// The lives after the first. A restart requested inside a session keeps program, configuration and
// process: the session could have written both files. It is also the fallback if the new program
// cannot be started.
Result<> follow(Daemon::Setting setting, Ended ended) {
  while (ended.is_restarting) {
    if (ended.with == ApiWorld::RestartWith::present_program) {
      start_again(setting, ended);
      print(stderr, "perdure serve: " + setting.options.program +
                        " could not be started, so this one goes on\n");
    }
    setting.config.listen_given = true;
    setting.config.listen = ended.listening;
    const std::unique_ptr<Daemon> daemon = TRY(Daemon::create(setting));
    ended = run_to_end(*daemon, [] { tell_service_manager("READY=1"); });
  }
  return {};
}

// Other users may read the output of a service or container, or a file or pipe, so only a terminal
// gets a key.
std::string greeting(Daemon& daemon) {
  if (has_service_manager() || isatty(STDOUT_FILENO) == 0) {
    return "Perdure is ready at " + daemon.url() + ". To sign a browser in: perdure open\n";
  }
  return "Perdure is ready. Open this once, it signs the browser in:\n\n  " + daemon.launch_url() +
         "\n\nIn a terminal: perdure ls\n";
}

Result<> run_foreground(const Daemon::Setting& setting) {
  std::unique_ptr<Daemon> daemon = TRY(Daemon::create(setting));
  const Ended ended = run_to_end(*daemon, [&] {
    tell_service_manager("READY=1");
    print(stdout, greeting(*daemon));
  });
  daemon.reset();
  return follow(setting, ended);
}

int serve_in_background(const Daemon::Setting& setting) {
  Result<Detached> detached = detach({.refusal_descriptor = STDERR_FILENO});
  if (!detached) {
    print(stderr, "perdure serve: " + detached.error().message() + "\n");
    return exit_failed;
  }
  umask(077);
  Result<std::unique_ptr<Daemon>> daemon = Daemon::create(setting);
  if (!daemon) {
    detached->refuse("perdure serve: " + daemon.error().message() + "\n",
                     exit_code(daemon.error()));
    return exit_code(daemon.error());
  }
  const Ended ended = run_to_end(**daemon, [&] {
    tell_service_manager("READY=1");
    (void)detached->answer(started_json(**daemon));  // its reader may be gone
  });
  daemon->reset();
  return follow(setting, ended) ? 0 : exit_failed;
}

int stop_running() {
  const Result<Places> places = find_places();
  const Result<> stopped =
      places ? stop_daemon(places->data + "/run") : std::unexpected(places.error());
  if (!stopped) {
    print(stderr, "perdure serve: " + stopped.error().message() + "\n");
    return stopped.error().code() == Code::not_found ? exit_unreachable : exit_failed;
  }
  print(stdout, "stopped; the agents go on, and the next daemon finds them\n");
  return 0;
}

}  // namespace

int serve(const ServeOptions& options) {
  umask(077);
  // Started through /proc/self/exe, its name in ps would be `exe`.
  prctl(PR_SET_NAME, "perdure");
  if (options.stop) return stop_running();
  raise_descriptor_limit();
  const char* const points = std::getenv("FAILPOINT");
  if (const Result<> armed = points ? arm_failpoints(points) : Result<>(); !armed) {
    print(stderr, "perdure serve: " + armed.error().message() + "\n");
    return exit_failed;
  }
  const Result<Daemon::Setting> setting = read_setting(options);
  if (!setting) {
    print(stderr, "perdure serve: " + setting.error().message() + "\n");
    return exit_failed;
  }
  if (options.clean_start) {
    const Result<std::string> kept = put_aside(setting->places.data, Aside::everything);
    if (!kept) {
      print(stderr, "perdure serve: " + kept.error().message() + "\n");
      return exit_code(kept.error());
    }
    if (!kept->empty()) print(stderr, "perdure: the previous contents are now in " + *kept + "\n");
  }
  if (options.background) return serve_in_background(*setting);
  if (const Result<> served = run_foreground(*setting); !served) {
    print(stderr, "perdure serve: " + served.error().message() + "\n");
    return exit_code(served.error());
  }
  return 0;
}

}  // namespace perdure
