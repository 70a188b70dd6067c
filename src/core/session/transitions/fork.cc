#include "core/session/transitions/fork.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/limits.h"
#include "base/text.h"
#include "core/session/status.h"
#include "core/session/transitions/draft.h"
#include "core/session/transitions/repair.h"

namespace perdure {
namespace {

constexpr std::size_t id_end_chars = 6;  // enough to recognise it

// "Fix it" becomes "Fix it (fork)", then "Fix it (fork 2)", so that they differ in a list.
std::string copied_title(const State& state, SessionId from, CopyKind kind) {
  const std::string word = kind == CopyKind::imported ? "imported" : "fork";
  if (state.title.empty()) {
    const std::string id = from.text();
    return word + " of " + id.substr(id.size() - std::min(id.size(), id_end_chars));
  }
  std::string_view base = state.title;
  std::uint64_t number = 1;
  const std::size_t open = base.rfind(" (" + word);
  if (open != std::string_view::npos && base.ends_with(')')) {
    std::string_view count = base.substr(open + 2 + word.size());
    count.remove_suffix(1);
    const bool is_first = count.empty();
    if (!is_first) count.remove_prefix(1);
    std::uint64_t earlier = 1;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), earlier);
    if (is_first || (error == std::errc() && end == count.data() + count.size())) {
      base = base.substr(0, open);
      number = earlier + 1;
    }
  }
  const std::string suffix =
      " (" + word + (number > 1 ? " " + std::to_string(number) : std::string()) + ")";
  return std::string(utf8_prefix(base, title_bytes_max - suffix.size())) + suffix;
}

}  // namespace

std::vector<Event> Forker::copy(std::span<const Record> records) {
  std::vector<Event> out;
  out.reserve(records.size());
  for (const Record& record : records) {
    Event event = record.event;
    if (auto* created = get_if<SessionCreated>(&event.body)) {
      created->session = order_.to;
      created->by = order_.by;
      created->parent = session_behind(order_.by);
    }
    if (order_.kind != CopyKind::forked) take_away_reach(event.body);
    if (order_.kind == CopyKind::adopted) bind(event.body);
    if (event_kind(event) == redacted_kind) {
      event.origin = {};  // a tombstone has exactly its own members
    } else if (order_.kind != CopyKind::adopted) {
      event.origin.copied_from = order_.from.text() + "/" + std::to_string(record.seq);
    }
    state_ = evolve(std::move(state_), event);
    out.push_back(std::move(event));
  }
  return out;
}

bool Forker::keeps_unknown(const EventBody& body) const {
  if (order_.kind == CopyKind::forked) return true;
  return !holds_alternative<SessionCreated>(body) && !holds_alternative<SessionConfigured>(body) &&
         !holds_alternative<ResumeRequested>(body) && !holds_alternative<Mode>(body);
}

void Forker::take_away_reach(EventBody& body) const {
  if (auto* created = get_if<SessionCreated>(&body)) {
    created->task = {};
    created->agent = {};
    created->workspace = {};
    created->env_names.clear();
    created->mcp_servers = {};
    created->runtime = "standalone";
    created->image.clear();
    created->remote.clear();
    created->policy = {};
  } else if (auto* configured = get_if<SessionConfigured>(&body)) {
    configured->policy.reset();
    configured->workspace.reset();
    configured->task.reset();
    configured->mcp_servers = {};
    configured->options.clear();
  } else if (auto* resume = get_if<ResumeRequested>(&body)) {
    resume->with.reset();  // the boundary after it still records the handover
  } else if (auto* mode = get_if<Mode>(&body)) {
    mode->imported = true;
  }
}

void Forker::bind(EventBody& body) const {
  const AdoptedBinding& binding = order_.binding;
  if (auto* created = get_if<SessionCreated>(&body)) {
    created->agent = binding.agent;
    created->workspace.cwd = binding.cwd;
    created->policy = binding.policy;
  } else if (auto* boundary = get_if<ContextBoundary>(&body)) {
    boundary->cwd = binding.cwd;
  }
}

void Forker::add(std::vector<Event>& out, EventBody body, Origin origin) {
  Event event{.at = order_.now.wall, .origin = std::move(origin), .body = std::move(body)};
  state_ = evolve(std::move(state_), event);
  out.push_back(std::move(event));
}

std::vector<Event> Forker::close() {
  std::vector<Event> out;
  const std::string why(enum_text(order_.kind));
  const Origin run = state_.run ? Origin{.run = state_.run->id} : Origin{};
  const auto waits = state_.waits;
  for (const auto& [token, wait] : waits) {
    add(out, TokenRevoked{token, why}, run);
    if (!wait.permission) continue;
    add(out, PermissionResolved{wait.permission, PermissionOutcome::expired, "", order_.by}, run);
  }
  // The cut fell between a question and its token: the question has no wait that could close it.
  const auto permissions = state_.permissions;
  for (const auto& [id, permission] : permissions) {
    add(out, PermissionResolved{id, PermissionOutcome::expired, "", order_.by}, run);
  }
  for (const EventBody& repair : plan_repair(state_)) add(out, repair, run);
  if (state_.run) add(out, RunInterrupted{InterruptReason::forked}, run);
  const auto queue = state_.queue;
  for (const QueuedPrompt& item : queue) add(out, QueueRemoved{item.message, order_.by});
  const bool keeps_id = order_.kind == CopyKind::adopted &&
                        state_.context.agent_session_id == order_.binding.agent_session_id;
  if (!state_.context.agent_session_id.empty() && !keeps_id) {
    ContextBoundary boundary{.how = BoundaryHow::fresh};
    boundary.previous_agent_session_id = state_.context.agent_session_id;
    boundary.reason = why;
    add(out, std::move(boundary));
  }
  if (execution_may_live(state_)) {
    const Origin exec{.exec = state_.exec.id, .gen = state_.exec.gen};
    add(out, ExecutorStopped{why, "never started here"}, exec);
  }
  // An adopted session has no original of the same name here.
  if (order_.kind != CopyKind::adopted) {
    add(out, SessionRenamed{copied_title(state_, order_.from, order_.kind)});
  }
  add(out, SessionStopped{why, order_.by});
  if (state_.archived) add(out, SessionUnarchived{order_.by});  // a person copies it to use it
  const World world{.liveness = Liveness::dead, .boot = {}, .now = order_.now};
  const std::string status(enum_text(derive_status(state_, world)));
  if (status != state_.status) add(out, StatusDerived{status});
  return out;
}

}  // namespace perdure
