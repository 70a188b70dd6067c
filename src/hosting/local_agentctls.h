// The runtime's agentctls, here as plain processes, in containers, or elsewhere: each execution
// that the runtime asks for is one LocalExecution, which serves its workspace calls too. The one
// rule: what an execution leaves on the disk is taken away before its end is told, so that a daemon
// that dies in between finds nothing, and says the same again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/result.h"
#include "executors/local_execution.h"
#include "executors/place.h"
#include "runtime/ports.h"
#include "wire/bootstrap.h"

namespace perdure {

// What is known of an execution. Equal specs give equal secrets and folders, in every life of the
// daemon: an agentctl is found again by them.
struct MakeBootstraps {
  // How it is started. After an error nothing is.
  std::move_only_function<Result<Bootstrap>(const LaunchSpec& spec)> to_start;
  // By what it is found: its ids, its secret, its folders. There is no error: whatever the settings
  // have become since, that one cannot be started now says nothing of one that lives (C19).
  std::move_only_function<Bootstrap(const LaunchSpec& spec)> to_attach;
};

// Where an execution lives: a container, another host; null: it is a plain process of this machine.
using MakePlace = std::move_only_function<std::unique_ptr<Place>(const LaunchSpec& spec,
                                                                 const Bootstrap& bootstrap)>;

class LocalAgentctls final : public Agentctls, public Workspaces {
 public:
  // The ports outlive it. Destroying it leaves every agentctl alone.
  LocalAgentctls(LocalPorts ports, LocalSetting setting, MakeBootstraps make_bootstraps);
  ~LocalAgentctls() override;

  // Executions that are alive, or not yet known to be gone.
  std::size_t held() const { return held_.size(); }
  // Of these, those with an agent or a shell, or not known to have neither.
  std::size_t live() const;

  // How many there may be. Without it as many as are asked for.
  struct Limits {
    std::size_t live_max = 0;        // executions with an agent or a shell
    std::size_t workspaces_max = 0;  // the others; the one that was used longest ago gives way
  };
  void set_limits(Limits limits) { limits_ = limits; }
  // The session that a person made and that this one descends from; null: a person made this one.
  // Without it all are of people.
  using TopOf = std::function<SessionId(SessionId session)>;
  void set_lineage(TopOf top_of) { top_of_ = std::move(top_of); }

  bool is_held(ExecId exec) const;
  // Why nothing is known of a session's execution just now; empty: nothing is known about that.
  std::string doubt_about(SessionId session) const;
  // Without it every execution is a plain process.
  void set_places(MakePlace make) { make_place_ = std::move(make); }

  // Whom to tell; before any other call.
  void set_events(AgentctlEvents& events) { events_ = &events; }

  void start(const LaunchSpec& spec, std::uint64_t epoch) override;
  void attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) override;
  void send(const ExecKey& exec, const SendCommand& command) override;
  void ack(const ExecKey& exec, FrameNo frame) override;
  void stop(const ExecKey& exec) override;
  void let_go(const ExecKey& exec) override;

  void call(const ExecKey& exec, std::string method, std::string params, OnResult done) override;
  std::uint64_t watch_shells(const ExecKey& exec, OnShellNews news) override;
  void unwatch_shells(std::uint64_t number) override { shell_watches_.erase(number); }

 private:
  struct ShellWatch {
    ExecKey exec;
    OnShellNews news;
  };

  class Held;  // one execution

  Result<> check_live(SessionId session) const;
  Result<> check_descendants(SessionId top) const;
  Result<> make_room(const LaunchSpec& spec);
  Held& hold(const LaunchSpec& spec, Bootstrap bootstrap);
  Held* find(const ExecKey& exec);
  void tell_gone_later(const ExecKey& exec, ExecEnding ending);
  void forget_later(const ExecKey& exec);
  void tell_shell_news(const ExecKey& exec, const std::string& shell);

  LocalPorts ports_;
  LocalSetting setting_;
  MakeBootstraps make_bootstraps_;
  MakePlace make_place_;
  std::optional<Limits> limits_;
  TopOf top_of_;
  std::uint64_t uses_ = 0;
  AgentctlEvents* events_ = nullptr;
  std::map<ExecKey, std::unique_ptr<Held>> held_;
  std::map<std::uint64_t, ShellWatch> shell_watches_;
  std::uint64_t last_shell_watch_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
