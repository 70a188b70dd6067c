// A container as the place of one execution. To LocalExecution it is a host with one process, so
// the same rules apply: started once, found again, silent is not dead, ended with proof. The engine
// answers later; until then the state is unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/agentctl/bootstrap.h"
#include "daemon/hosting/container/container_engine.h"
#include "daemon/hosting/place.h"
#include "env/env.h"
#include "env/host.h"
#include "env/process.h"

namespace perdure {

// The parts of the container. Paths are the host's.
struct ContainerPlan {
  std::string image;
  std::string agentctl;                // the program; static, so that it runs in any image
  std::vector<ContainerMount> mounts;  // beside the workspace, which keeps its path
  std::string user;                    // "1000:1000": the owner of the data folder
  std::string network;                 // empty: the engine's own default
  ContainerLimits limits;
};

struct ContainerPorts {
  Clock& clock;
  Loop& loop;
  Processes& processes;  // the host's processes
  Host& host;
  ContainerEngine& engine;
};

class ContainerLaunch;

class ContainerPlace final : public Place {
 public:
  // The ports must outlive it. The bootstrap has the host's paths; its spool folder exists whenever
  // the container may exist. Destroying this does not affect the container.
  ContainerPlace(ContainerPorts ports, ContainerPlan plan, Bootstrap bootstrap);
  ~ContainerPlace() override;

  // Starts the container with its agentctl. Command and environment come from the plan; the input
  // is the bootstrap. Like the program, it ends with the one line of the answer.
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  // Removes all containers with this mark, which is the execution's or its session's. The removal
  // continues between calls; returns 0 after the engine has confirmed that none is left.
  std::size_t kill_marked(const std::string& mark) override;

  // The container's life, for any process. An ended container is dead; with an engine that does not
  // answer, or a paused container, it is unknown.
  ProcessLife life(const ProcessIdentity& process) override;
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& path) override;
  // Removes the socket's folder together with the spool.
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string& folder, const std::string& name) override;

 private:
  friend class ContainerLaunch;

  // Containers that are being removed, by a label.
  struct Removal {
    bool under_way = false;
    bool done = false;
    std::int64_t not_before_ms = 0;
  };

  std::int64_t now_ms() const { return ports_.clock.now().since_boot.ms; }
  bool may_exist();
  void look();
  void seen(const Result<ContainerSight>& sight);
  void remove_labelled(Removal& removal, const std::string& label);
  void removed(Removal& removal, const Result<>& result);
  void note_cause(const ContainerSight& sight);

  ContainerPorts ports_;
  ContainerPlan plan_;
  Bootstrap bootstrap_;
  ProcessLife life_ = ProcessLife::unknown;
  bool looking_ = false;
  std::int64_t look_not_before_ms_ = 0;
  std::int64_t seen_ms_ = 0;
  Removal of_exec_;
  Removal of_session_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

// The same in every life of the daemon, but different for a copy of the data folder.
std::string container_name(const OwnedExec& owned);

}  // namespace perdure
