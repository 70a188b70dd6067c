// The runtime's agentctls, as plain processes, in containers, or on other hosts. Each execution
// that the runtime requests is one LocalExecution, which also serves its workspace calls. The one
// rule: an execution's files are removed before its end is reported. If the daemon dies in between,
// the next one finds nothing and reports the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/result.h"
#include "core/wire/agentctl/bootstrap.h"
#include "daemon/hosting/local_execution.h"
#include "daemon/hosting/place.h"
#include "daemon/runtime/ports.h"

namespace perdure {

// The known facts about an execution. Equal specs give equal secrets and folders in every life of
// the daemon, so that it finds its agentctls again.
struct MakeBootstraps {
  // Returns what a start needs. After an error nothing is started.
  std::move_only_function<Result<Bootstrap>(const LaunchSpec& spec)> to_start;
  // For finding it: its ids, its secret, its folders. This cannot fail: changed settings may
  // prevent a new start, but say nothing about an agentctl that is alive (C19).
  std::move_only_function<Bootstrap(const LaunchSpec& spec)> to_attach;
};

// Where an execution lives: a container, another host; null: a plain process of this machine.
using MakePlace = std::move_only_function<std::unique_ptr<Place>(const LaunchSpec& spec,
                                                                 const Bootstrap& bootstrap)>;

class LocalAgentctls final : public Agentctls, public Workspaces {
 public:
  // The ports must outlive it. Destroying it does not affect any agentctl.
  LocalAgentctls(LocalPorts ports, LocalSetting setting, MakeBootstraps make_bootstraps);
  ~LocalAgentctls() override;

  // Executions that are alive, or not yet known to be gone.
  std::size_t held() const { return held_.size(); }
  // Of these, those that have an agent or a shell, or may have one.
  std::size_t live() const;

  // The maximum numbers. Without this, nothing is limited.
  struct Limits {
    std::size_t live_max = 0;        // executions with an agent or a shell
    std::size_t workspaces_max = 0;  // the others; the least recently used one is stopped
  };
  void set_limits(Limits limits) { limits_ = limits; }
  // The session at the top of this one's ancestry, if processes inside sessions created this one;
  // null: a person created it. Without this function, people created all of them.
  using TopOf = std::function<SessionId(SessionId session)>;
  void set_lineage(TopOf top_of) { top_of_ = std::move(top_of); }

  bool is_held(ExecId exec) const;
  // Why a session's execution is currently unreachable; empty: no known reason.
  std::string doubt_about(SessionId session) const;
  // Without it every execution is a plain process.
  void set_places(MakePlace make) { make_place_ = std::move(make); }

  // The receiver of events; call it before any other function.
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
