// The daemon's side of the machine: the real executors on simulated processes, links and folders.
// All of it ends with the daemon's life; requests from dead code have no effect.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/world/real_host.h"

namespace perdure::sim {

// The program `perdure-agentctl start`: takes a bootstrap, answers and exits. It outlives a daemon
// that dies during this time.
class RealHost::Launcher : public std::enable_shared_from_this<RealHost::Launcher> {
 public:
  Launcher(RealHost& host, LifePtr daemon, const SpawnSpec& spec, ProcessEvents& events);
  std::unique_ptr<perdure::Process> make_handle();

 private:
  class Handle;
  void run_later();
  void run();
  void finish(std::string output, int code);
  void tell(std::string output, ProcessExit exit);

  RealHost& host_;
  Universe& universe_;
  LifePtr daemon_;
  ProcessEvents* events_;
  ProcPtr proc_;
  std::string input_;
};

class RealHost::DaemonProcesses final : public Processes {
 public:
  DaemonProcesses(RealHost& host, LifePtr life) : host_(host), life_(std::move(life)) {}
  Result<std::unique_ptr<perdure::Process>> spawn(const SpawnSpec& spec,
                                                  ProcessEvents& events) override;
  std::size_t kill_marked(const std::string& mark) override;
  std::size_t kill_descendants() override { return 0; }
  // The daemon's children are the launchers of agentctls: they have no family.
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }

 private:
  RealHost& host_;
  LifePtr life_;
};

class RealHost::DaemonHost final : public perdure::Host {
 public:
  DaemonHost(RealHost& host, LifePtr life) : host_(host), life_(std::move(life)) {}
  ProcessLife life(const ProcessIdentity& process) override;
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string& folder, const std::string& name) override;

 private:
  // Called before each change of the machine: the daemon may die just before it.
  Result<> still_lives();

  RealHost& host_;
  LifePtr life_;
};

class RealHost::Port final : public AgentctlPort, private AgentctlEvents {
 public:
  Port(RealHost& host, LifePtr life, Loop& loop, IsStillOurs is_still_ours);
  void set_events(AgentctlEvents& events) override { events_ = &events; }

  void start(const LaunchSpec& spec, std::uint64_t epoch) override;
  void attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) override;
  void send(const ExecKey& exec, const SendCommand& command) override;
  void ack(const ExecKey& exec, FrameNo frame) override;
  void stop(const ExecKey& exec) override;
  void let_go(const ExecKey& exec) override;

 private:
  void on_attached(const ExecKey& exec) override;
  void on_frame(const ExecKey& exec, Frame frame) override;
  void on_commands_acted(const ExecKey& exec, std::uint64_t number) override;
  void on_detached(const ExecKey& exec) override;
  void on_gone(const ExecKey& exec, const ExecEnding& ending) override;
  bool still_lives();

  RealHost& host_;
  Universe& universe_;
  LifePtr life_;
  AgentctlEvents* events_ = nullptr;
  DaemonProcesses processes_;
  DaemonHost daemon_host_;
  LocalAgentctls agentctls_;
};

}  // namespace perdure::sim
