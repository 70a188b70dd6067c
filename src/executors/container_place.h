// A container as the place of one execution. To LocalExecution it is a host with one process, so
// that the rules of its life hold here too: started once, found again, silent is not dead, ended
// with proof. What the engine knows comes later than it is asked; until then it is unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/env.h"
#include "env/host.h"
#include "env/process.h"
#include "executors/container_engine.h"
#include "executors/place.h"
#include "wire/bootstrap.h"

namespace perdure {

// What the container is made of. Paths are the host's.
struct ContainerPlan {
  std::string image;
  std::string agentctl;                // the program; static, so that it runs in any image
  std::vector<ContainerMount> mounts;  // besides the workspace, which is seen under its own path
  std::string user;                    // "1000:1000": who owns the data folder
  std::string network;                 // empty: the engine's own default
  ContainerLimits limits;
};

struct ContainerPorts {
  Clock& clock;
  Loop& loop;
  Processes& processes;  // of the host
  Host& host;
  ContainerEngine& engine;
};

class ContainerLaunch;

class ContainerPlace final : public Place {
 public:
  // The ports outlive it. The bootstrap has the host's paths; its spool folder is there from the
  // moment in which a container may be. Destroying it leaves the container alone.
  ContainerPlace(ContainerPorts ports, ContainerPlan plan, Bootstrap bootstrap);
  ~ContainerPlace() override;

  // The container with the agentctl in it. The command and its environment are the plan's; its
  // input is the bootstrap. Ends, as the program does, with the one line of the answer.
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  // Of this execution's mark, or of its session's: all containers that carry it are removed. Goes
  // on between the calls; 0 when the engine has said that none is left.
  std::size_t kill_marked(const std::string& mark) override;

  // Of the container, whoever is asked for. What ended is dead; an engine that does not answer, and
  // a container that somebody paused, are unknown.
  ProcessLife life(const ProcessIdentity& process) override;
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& path) override;
  // With the spool the folder of the socket goes as well.
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string& folder, const std::string& name) override;

 private:
  friend class ContainerLaunch;

  // Containers that are being taken away, by a label.
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

// Of this execution, in every life of the daemon; a copy of the data folder has another.
std::string container_name(const OwnedExec& owned);

}  // namespace perdure
