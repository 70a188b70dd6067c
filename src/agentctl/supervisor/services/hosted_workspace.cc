// Maps method names to services; see docs/protocol/workspace.md for the calls.
#include "agentctl/supervisor/services/hosted_workspace.h"

#include <utility>

#include "agentctl/workspace/shells/workspace_shells.h"

namespace perdure {

HostedWorkspace::HostedWorkspace(Ports ports, const Bootstrap& bootstrap)
    : ports_(ports), launch_(bootstrap.agent), cwd_(bootstrap.cwd) {
  for (const auto& [name, value] : launch_.environment) environment_.push_back(name + "=" + value);
  for (std::string& mark : marks_of(bootstrap)) environment_.push_back(std::move(mark));
}

void HostedWorkspace::call(std::string_view method, std::string_view params,
                           WorkspacePort::Reply reply) {
  if (stopped_) return reply(fail(Code::unavailable, "the execution ends"));
  if (method == "agent.lend") return lending().lend(params, std::move(reply));
  if (method == "agent.lent") return reply(lending().give_back(params));
  if (!calls_) {
    calls_.emplace(WorkspaceSetup{.loop = ports_.loop,
                                  .processes = ports_.processes,
                                  .files = ports_.files,
                                  .environment = environment_});
    calls_->set_on_shell_news([this](ShellId shell) {
      if (on_news_) on_news_(shell_id_text(shell));
    });
  }
  calls_->call(method, params.empty() ? "{}" : params, std::move(reply));
}

void HostedWorkspace::set_on_shell_news(std::move_only_function<void(std::string)> on_news) {
  on_news_ = std::move(on_news);
}

void HostedWorkspace::stop() {
  stopped_ = true;
  calls_.reset();
  lending_.reset();
  services_.reset();
}

bool HostedWorkspace::serve(const std::string& method, const std::string& params,
                            AgentRequests::Reply reply) {
  const bool offered = (launch_.fs && method.starts_with("fs/")) ||
                       (launch_.terminal && method.starts_with("terminal/"));
  if (!offered || stopped_) return false;
  if (lending_ && lending_->offer(method, params, reply)) return true;
  return serve_here(method, params, std::move(reply));
}

Lending& HostedWorkspace::lending() {
  if (!lending_) {
    lending_.emplace(
        Lending::Setup{.loop = ports_.loop,
                       .roots = {ports_.files.root(), cwd_},
                       .workspace = [this](const std::string& method, const std::string& params,
                                           AgentRequests::Reply reply) {
                         (void)serve_here(method, params, std::move(reply));
                       }});
  }
  return *lending_;
}

bool HostedWorkspace::serve_here(const std::string& method, const std::string& params,
                                 AgentRequests::Reply reply) {
  if (!services_) {
    services_.emplace(AcpServicesSetup{.loop = ports_.loop,
                                       .processes = ports_.processes,
                                       .files = ports_.files,
                                       .environment = environment_,
                                       .root_aliases = {cwd_}});
  }
  AcpReply answer = [reply = std::move(reply)](AcpResult result) mutable {
    if (result) return reply(std::move(*result));
    reply(std::unexpected(acp::RpcError{result.error().code, result.error().message, {}}));
  };
  return services_->serve(method, params, answer);
}

}  // namespace perdure
