#include "core/views/executors.h"

#include <charconv>
#include <string_view>

namespace perdure {
namespace {

std::optional<std::uint16_t> port_of(std::string_view url) {
  if (!url.starts_with("tls://")) return std::nullopt;
  const std::size_t colon = url.rfind(':');
  std::uint16_t port = 0;
  const char* const end = url.data() + url.size();
  const auto [stop, error] = std::from_chars(url.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return port;
}

}  // namespace

std::optional<ExecutorRow> project_executor(const State& state, const World& world) {
  if (state.exec.gen == 0) return std::nullopt;
  const SessionView view = project_session(state, world);
  const Execution& exec = state.exec;
  return ExecutorRow{.id = exec.id,
                     .gen = exec.gen,
                     .session = state.id,
                     .task = state.task,
                     .runtime = view.runtime,
                     .agentctl_url = exec.url,
                     .agentctl_port = port_of(exec.url),
                     .container_id = exec.container_id,
                     .pid = exec.pid,
                     .status = exec.status,
                     .liveness = view.liveness,
                     .supports_session_resume = view.supports_session_resume,
                     .supports_workspace_only = exec.supports_workspace_only,
                     .requires_new_session = view.requires_new_session,
                     .resume_token = view.resume_token,
                     .last_message_uuid = state.context.last_agent_message_id,
                     .workspace = state.workspace,
                     .last_seen = exec.last_seen,
                     .error_message = exec.error_message};
}

}  // namespace perdure
