// The start of an agentctl in a container, step by step, in the form of the program that would
// start it on the host: its input is a bootstrap, its output one line. A later daemon may repeat
// each step: what exists already is used as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/hosting/container/container_place.h"

namespace perdure {

// The places of our files in a container.
inline constexpr const char* container_agentctl = "/perdure/agentctl";
inline constexpr const char* container_run_folder = "/perdure/run";
inline constexpr const char* container_spool_folder = "/perdure/spool";

class ContainerLaunch final : public Process {
 public:
  // Both must outlive it. Destroying it cancels the start, but may leave a container.
  ContainerLaunch(ContainerPlace& place, ProcessEvents& events);
  ~ContainerLaunch() override;

  std::int64_t pid() const override { return 0; }
  void write(std::string_view) override {}  // the place has the same bootstrap
  std::size_t unwritten_bytes() const override { return 0; }
  // Begins.
  void close_input() override;
  void pause_output() override {}
  void resume_output() override {}
  void signal(int) override {}
  void resize(TerminalSize) override {}

 private:
  // Wraps callbacks from the engine, so that none is called after destruction.
  template <class T>
  OnEngine<T> then(void (ContainerLaunch::*step)(Result<T>));
  void described(Result<EngineAbilities> abilities);
  void created(Result<std::string> id);
  // A container with the name exists, from an earlier daemon or an earlier attempt.
  void found(Result<ContainerSight> sight);
  void begin(const std::string& id);
  void started(Result<> result);
  void await_answer();
  void looked(Result<ContainerSight> sight);
  void finish(const std::string& line);
  void give_up(Error error);
  Result<> make_folders();
  Result<ContainerOrder> make_order(const EngineAbilities& engine) const;
  Result<> write_bootstrap(const std::string& id);
  std::string read_answer();
  void later(std::int64_t delay_ms, void (ContainerLaunch::*step)());
  std::string name() const;
  std::string file_name() const { return place_.bootstrap_.exec.text() + ".json"; }

  ContainerPlace& place_;
  ProcessEvents& events_;
  std::int64_t looked_ms_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
