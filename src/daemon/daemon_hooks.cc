// Functions that the API gets from the wiring: folders, worktrees, backups, verification, restart.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "core/wire/agentctl/bootstrap.h"
#include "daemon/daemon.h"
#include "daemon/launch/agent_launch.h"
#include "daemon/launch/programs.h"
#include "daemon/setup/leftovers.h"
#include "env/posix/confine/limit_group.h"

namespace perdure {
namespace {

constexpr std::int64_t restart_again_ms = 1'000;  // minimum time after a start
constexpr std::int64_t leftover_age_ms = 3600'000;
constexpr std::int64_t restart_answer_ms = 50;  // time to send the answer

}  // namespace

Result<> can_limit(const AgentLimits& limits) {
  TRY_VOID(check_limits(limits));
  return LimitGroup::probe({.memory_bytes = static_cast<std::uint64_t>(limits.memory_bytes),
                            .processes = static_cast<std::uint64_t>(limits.processes),
                            .cpu_percent = static_cast<std::uint64_t>(limits.cpu_percent)});
}

void Daemon::give_folder_hooks() {
  world_->folder_owner = [this](const std::string& cwd) {
    return own_folders(*data_).session_of(cwd);
  };
  world_->make_workspace = [this](SessionId session) -> Result<std::string> {
    std::string path = data_->workspaces() + "/session_" + session.text();
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(Code::unavailable, path + ": " + std::strerror(errno));
    }
    return path;
  };
  world_->keep_environment = [this](SessionId session, std::map<std::string, std::string> values,
                                    auto done) {
    SecretMask secrets;
    for (const auto& [name, value] : values) secrets.add(name, value);
    log_->hide(secrets);
    disk_thread_->run(
        [this, session, values = std::move(values)] {
          return keep_environment(*data_, session, values);
        },
        std::move(done));
  };
  world_->secrets_of = [this](SessionId session) {
    const Result<State> state = runtime_->state(session);
    SecretMask secrets = config_secrets(setting_.config);
    if (state) secrets.add(secrets_of(launch_setting(), session, *state));
    return secrets;
  };
  world_->make_worktree = [this](WorktreeOrder order, ApiWorld::OnWorktree done) {
    if (const auto owner = own_folders(*data_).session_of(order.cwd); !owner) {
      return shared_loop_->post([done = std::move(done), error = owner.error()] mutable {
        done(std::unexpected(error));
      });
    }
    const std::string name = order.session.text();
    worktrees_->add({.session = order.session,
                     .repository = order.cwd,
                     .path = data_->worktrees() + "/" + name,
                     .branch = order.branch.empty() ? "perdure/" + name : order.branch,
                     .git_folder = order.repository},
                    std::move(done));
  };
}

void Daemon::give_hooks() {
  give_folder_hooks();
  world_->reach =
      std::make_shared<LineageReach>(runtime_->sessions(), setting_.config.agents_reach);
  world_->backup = [this](std::string path, std::move_only_function<void(Result<>)> done) {
    auto shared = std::make_shared<decltype(done)>(std::move(done));
    const Result<> started = store_->backup(std::move(path), [this, shared](Result<> result) {
      shared_loop_->post([shared, result = std::move(result)] { (*shared)(result); });
    });
    if (!started) (*shared)(started);
  };
  world_->check_limits = [](const AgentLimits& limits) { return can_limit(limits); };
  world_->find_image = [this](const std::string& image, auto done) {
    engine_->find_image(image, std::move(done));
  };
  world_->make_remote_workspace = [this](const RemoteOrder& order, ApiWorld::OnWorktree done) {
    remotes_->make_workspace(order, std::move(done));
  };
  world_->default_image = setting_.config.containers.image;
  world_->doubt_about = [this](SessionId session) { return agentctls_->doubt_about(session); };
  world_->forget_session = [this](SessionId session) { forget_session(session); };
  world_->has_program = [](const AgentDefinition& agent, const std::string& program) {
    return programs_for(agent)(program);
  };
  world_->restart = [this](ApiWorld::RestartWith with) { return restart(with); };
  world_->start_probe = [this](const std::string& agent) -> Result<> {
    return probes_->start(TRY(make_probe_order(launch_setting(), agent)));
  };
  world_->probed = [this](const std::string& agent) { return probes_->so_far(agent); };
  world_->start_verify = [this]() -> Result<> {
    if (verifying_ && !verifying_->so_far().is_done) {
      return fail(Code::conflict, "the journal is being verified already");
    }
    verifying_ = std::make_unique<VerifyThread>(*store_);
    return {};
  };
  world_->verified = [this] {
    return verifying_ ? verifying_->so_far() : ApiWorld::Verified{.is_done = true};
  };
  world_->collect = [this](ApiWorld::Collect how) {
    return collect_leftovers(
        *data_, *store_,
        {.how = how, .made_before = Timestamp{clock_->now().wall.ms - leftover_age_ms}});
  };
  world_->set_aside = [this] {
    std::vector<std::string> folders;
    std::error_code error;
    for (const auto& each :
         std::filesystem::directory_iterator(data_->path() + "/archive", error)) {
      folders.push_back(each.path().string());
    }
    return folders;
  };
  world_->more_metrics = [this](MetricsText& text) { add_metrics(text); };
}

// Removes only what we created: by name, below our own folders.
void Daemon::forget_session(SessionId session) {
  std::error_code error;
  std::filesystem::remove_all(data_->workspaces() + "/session_" + session.text(), error);
  if (error) log_->warn("a deleted session's workspace stays: " + error.message());
  std::filesystem::remove(data_->environments() + "/" + session.text() + ".json", error);
  // No agent can be started for it now, so no lock is needed.
  std::filesystem::remove(data_->agentctl_run() + "/" + session_lock_name(session), error);
  std::filesystem::remove_all(data_->container_run() + "/" + session.text(), error);
  remotes_->forget(session);
}

// D6: agents keep running, as whenever the daemon ends; serve() starts the program again in this
// process.
Result<> Daemon::restart(ApiWorld::RestartWith with) {
  if (stopping_) return fail(Code::conflict, "the daemon is ending already");
  const std::string& program = setting_.options.program;
  restart_with_ = with;
  if (with == ApiWorld::RestartWith::present_program && access(program.c_str(), X_OK) != 0) {
    return fail(Code::unavailable, program + " cannot be started: " + std::strerror(errno));
  }
  if (clock_->now().since_boot.ms - began_ms_ < restart_again_ms) {
    return fail(Code::limit_reached, "the daemon has only just started; try again in a second");
  }
  if (with == ApiWorld::RestartWith::running_program) {
    const std::int64_t now_ms = clock_->now().since_boot.ms;
    std::optional<std::int64_t>& last_ms = setting_.lives->inside_restart_ms;
    if (last_ms && now_ms - *last_ms < inside_restart_ms) {
      return fail(Code::limit_reached,
                  "processes inside sessions may restart the daemon once in 10 minutes");
    }
    last_ms = now_ms;
  }
  log_->note("restart requested");
  restarting_ = true;
  stopping_ = true;
  loop_->after_ms(restart_answer_ms, [this] { end(); });
  return {};
}

}  // namespace perdure
