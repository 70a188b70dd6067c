#include "core/views/inbox.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace perdure {
namespace {

struct Inbox {
  const State& state;
  const World& world;
  std::vector<InboxItem> items;

  InboxItem& add(InboxKind kind, Timestamp since, std::string text) {
    return items.emplace_back(
        InboxItem{.kind = kind,
                  .session = state.id,
                  .task = state.task,
                  .session_title = state.title,
                  .text = std::move(text),
                  .since = since,
                  .age_ms = std::max<std::int64_t>(world.now.wall.ms - since.ms, 0)});
  }
};

void add_questions(Inbox& inbox) {
  for (PendingItem& pending : derive_pending(inbox.state, inbox.world)) {
    const InboxKind kind = !pending.answerable                    ? InboxKind::expired
                           : pending.kind == WaitKind::permission ? InboxKind::permission
                                                                  : InboxKind::input;
    InboxItem& item = inbox.add(kind, pending.since, std::move(pending.title));
    item.run = pending.run;
    item.token = pending.token;
    item.permission = pending.permission;
    item.tool_call_id = std::move(pending.tool_call_id);
    item.deadline = pending.deadline;
    // A question that cannot be answered offers no options (X18).
    if (!pending.answerable) continue;
    item.options = std::move(pending.options);
    item.digest = std::move(pending.digest);
  }
}

bool is_lost_wait(InterruptReason reason) {
  return reason == InterruptReason::wait_timeout || reason == InterruptReason::wait_lost;
}

// A31: the questions that expired with the last run.
void add_expired(Inbox& inbox, const EndedRun& last) {
  bool found = false;
  for (const ClosedWait& closed : inbox.state.closed_waits) {
    const bool expired =
        closed.outcome == PermissionOutcome::expired || closed.status == TokenStatus::expired;
    if (!expired || closed.run != last.id) continue;
    InboxItem& item =
        inbox.add(InboxKind::expired, last.ended, "a question expired without an answer");
    item.run = last.id;
    item.token = closed.token;
    item.permission = closed.permission;
    found = true;
  }
  if (!found && is_lost_wait(*last.interrupted)) {
    inbox.add(InboxKind::expired, last.ended, "a question expired without an answer").run = last.id;
  }
}

void add_last_run(Inbox& inbox) {
  const State& state = inbox.state;
  if (state.run || !state.last_run) return;
  const EndedRun& last = *state.last_run;
  if (last.end == RunEnd::failed) {
    inbox.add(InboxKind::failed, last.ended, last.message).run = last.id;
  }
  if (!last.interrupted || *last.interrupted == InterruptReason::forked) return;
  add_expired(inbox, last);
  if (is_lost_wait(*last.interrupted)) return;
  const bool restart = *last.interrupted == InterruptReason::process_restart;
  inbox
      .add(InboxKind::interrupted, last.ended,
           restart ? "interrupted: the agent did not survive a restart"
                   : "interrupted: the agent's process ended")
      .run = last.id;
}

}  // namespace

std::vector<InboxItem> project_inbox(const State& state, const World& world) {
  if (state.archived) return {};
  Inbox inbox{.state = state, .world = world};
  add_questions(inbox);
  const SessionState shown = derive_state(state, world);
  const bool stopped = shown == SessionState::completed || shown == SessionState::cancelled;
  if (!stopped) add_last_run(inbox);
  if (!stopped && state.failure)
    inbox.add(InboxKind::failed, state.updated, state.failure->message);
  const auto held = std::ranges::find_if(state.queue, &QueuedPrompt::held);
  if (held != state.queue.end()) {
    const Timestamp since = state.last_run ? state.last_run->ended : state.updated;
    inbox.add(InboxKind::held, since, held->prompt->text).prompts_held =
        static_cast<std::uint64_t>(std::ranges::count_if(state.queue, &QueuedPrompt::held));
  }
  std::ranges::sort(inbox.items, inbox_before);
  return std::move(inbox.items);
}

bool inbox_before(const InboxItem& a, const InboxItem& b) {
  const auto key = [](const InboxItem& item) {
    return std::tie(item.kind, item.since, item.session, item.token, item.permission, item.run);
  };
  return key(a) < key(b);
}

std::vector<InboxItem> merge_inboxes(std::vector<std::vector<InboxItem>> inboxes) {
  std::vector<InboxItem> all;
  for (auto& inbox : inboxes) std::ranges::move(inbox, std::back_inserter(all));
  std::ranges::sort(all, inbox_before);
  return all;
}

}  // namespace perdure
