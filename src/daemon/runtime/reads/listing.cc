#include "daemon/runtime/reads/listing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json/fields_json.h"
#include "core/session/status.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

// To the minute: lists sort by it, and not every frame should rewrite the row.
Timestamp whole_minute(Timestamp at) { return {at.ms - at.ms % 60'000}; }

std::optional<ExecutorSummary> summarize_executor(const State& state) {
  const Execution& exec = state.exec;
  if (exec.status == ExecutorStatus::none) return std::nullopt;
  return ExecutorSummary{.exec = exec.id,
                         .gen = exec.gen,
                         .status = exec.status,
                         .runtime = exec.runtime.empty() ? state.runtime : exec.runtime,
                         .url = exec.url,
                         .container_id = exec.container_id,
                         .confinement = exec.confinement,
                         .confinement_reason = exec.confinement_reason,
                         .pid = exec.pid,
                         .supports_session_resume = state.agent.supports_session_resume,
                         .supports_workspace_only = exec.supports_workspace_only,
                         .resume_token = usable_agent_session_id(state).value_or(""),
                         .workspace = state.workspace,
                         .last_seen = whole_minute(exec.last_seen),
                         .error_message = exec.error_message};
}

}  // namespace

SessionSummary summarize(const State& state, const World& world) {
  const ResumeVerdict resume = derive_resume(state, world);
  const std::vector<PendingItem> pending = derive_pending(state, world);
  auto [error_code, error] = derive_error(state);
  SessionSummary out{.title = state.title,
                     .agent = state.agent.name,
                     .status = derive_status(state, world),
                     .state = derive_state(state, world),
                     .stop_reason = state.stop_reason,
                     .cwd = state.workspace.cwd,
                     .task = state.task,
                     .created = state.created,
                     .pending = pending.size(),
                     .queue = state.queue.size(),
                     .queue_held = state.queue_held,
                     .needs_resume = resume.needs_resume,
                     .is_resumable = resume.is_resumable,
                     .error = std::move(error),
                     .error_code = std::move(error_code),
                     .inbox = project_inbox(state, world),
                     .executor = summarize_executor(state)};
  out.limit = derive_limit(state);
  out.parent = state.parent;
  if (!pending.empty()) out.pending_since = pending.front().since;
  for (InboxItem& item : out.inbox) item.age_ms = 0;
  return out;
}

SessionSummary read_summary(const std::string& json) {
  Result<WithUnknown<SessionSummary>> read = decode_fields<SessionSummary>(json);
  return read ? std::move(read->value) : SessionSummary{};
}

bool is_open(const State& state, bool has_effects) {
  const bool wants_to_run =
      std::ranges::any_of(state.queue, [](const QueuedPrompt& item) { return !item.held; });
  return has_effects || execution_may_live(state) || state.run || state.resume ||
         !state.waits.empty() || state.limit || (wants_to_run && !state.archived);
}

Listing make_listing(const ActorShared& shared, const State& state, bool has_effects) {
  const World world{.liveness = execution_may_live(state) ? Liveness::alive : Liveness::dead,
                    .boot = shared.config.boot,
                    .now = shared.world.clock.now()};
  return Listing{.open = is_open(state, has_effects),
                 .archived = state.archived,
                 .updated = whole_minute(state.updated),
                 .summary = encode_fields(summarize(state, world))};
}

}  // namespace perdure
