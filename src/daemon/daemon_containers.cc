// The daemon, its container engine and other hosts: how executions get their places, and the
// cleanup of containers that an earlier life of the daemon lost.
#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/setup/container_setup.h"

namespace perdure {
namespace {

constexpr std::int64_t look_again_ms = 30'000;

}  // namespace

void Daemon::make_engine() {
  engine_ = std::make_unique<DockerEngine>(
      *io_, *shared_loop_, [this] { return find_engine_socket(setting_.config.containers); });
  remotes_ = std::make_unique<Remotes>(
      RemoteReach{*io_, *shared_loop_, *clock_}, *host_,
      Remotes::Setting{data_->remotes(), setting_.config.remotes, data_->identity()});
  agentctls_->set_places(
      [this](const LaunchSpec& spec, const Bootstrap& bootstrap) -> std::unique_ptr<Place> {
        if (is_remote(spec)) return remotes_->make_place(spec, bootstrap);
        if (!in_container(spec)) return nullptr;
        return std::make_unique<ContainerPlace>(
            ContainerPorts{*clock_, *shared_loop_, *processes_, *host_, *engine_},
            make_container_plan({setting_.config.containers, setting_.lives->agentctl}, spec,
                                bootstrap),
            bootstrap);
      });
}

// Containers of current executions are held by now and being attached. Without an engine there are
// none; if the engine does not answer, this is retried.
void Daemon::look_at_containers() {
  if (!find_engine_socket(setting_.config.containers)) return;
  const std::string label = std::string(container_label_owner) + "=" + data_->identity();
  engine_->list(label, [this](Result<std::vector<ListedContainer>> listed) {
    if (!listed) {
      loop_->after_ms(look_again_ms, [this] { look_at_containers(); });
      return;
    }
    for (const ListedContainer& each : *listed) {
      const auto label_of = [&](const char* name) {
        const auto at = each.labels.find(name);
        return at == each.labels.end() ? std::string() : at->second;
      };
      const Result<ExecId> exec = ExecId::parse(label_of(container_label_exec));
      const std::string what = "container " + each.id.substr(0, 12) + " (" + each.state +
                               ") of session " + label_of(container_label_session);
      if (exec && agentctls_->is_held(*exec)) {
        log_->note(what + " is found again");
        continue;
      }
      const Result<SessionId> session = SessionId::parse(label_of(container_label_session));
      if (store_->is_shared() && session) {
        // Another daemon of this host may own it, also if the owner cannot be determined.
        const Result<std::string> owner = runtime_->owner(*session);
        const bool is_gone = !owner && owner.error().code() == Code::not_found;
        if (!is_gone && (!owner || !owner->empty())) continue;
      }
      log_->warn(what + " belongs to nothing that lives here, and is removed");
      engine_->remove(each.id, [this, what](Result<> removed) {
        if (!removed) log_->warn(what + " stays: " + removed.error().message());
      });
    }
  });
}

}  // namespace perdure
