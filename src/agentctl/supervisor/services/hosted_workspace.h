// The workspace of an execution as the supervisor hosts it: serves the daemon's calls and the
// agent's ACP requests, both confined to one folder. Everything is allocated on first use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agentctl/supervisor/agent/agent.h"
#include "agentctl/supervisor/services/acp_services.h"
#include "agentctl/supervisor/services/lending.h"
#include "agentctl/workspace/workspace.h"
#include "agentctl/workspace/workspace_port.h"
#include "core/wire/agentctl/bootstrap.h"
#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"

namespace perdure {

class HostedWorkspace final : public WorkspacePort, public AgentRequests {
 public:
  struct Ports {
    Loop& loop;
    Processes& processes;
    FileTree& files;
  };
  HostedWorkspace(Ports ports, const Bootstrap& bootstrap);

  void call(std::string_view method, std::string_view params, WorkspacePort::Reply reply) override;
  std::size_t shells_open() const override { return calls_ ? calls_->shells_open() : 0; }
  void set_on_shell_news(std::move_only_function<void(std::string)> on_news) override;
  void stop() override;

  // Serves only what the profile offers to the agent.
  bool serve(const std::string& method, const std::string& params,
             AgentRequests::Reply reply) override;

 private:
  bool serve_here(const std::string& method, const std::string& params, AgentRequests::Reply reply);
  Lending& lending();

  Ports ports_;
  AgentLaunch launch_;
  std::string cwd_;
  std::vector<std::string> environment_;
  std::move_only_function<void(std::string)> on_news_;
  bool stopped_ = false;
  std::optional<WorkspaceCalls> calls_;
  std::optional<AcpServices> services_;
  std::optional<Lending> lending_;
};

}  // namespace perdure
