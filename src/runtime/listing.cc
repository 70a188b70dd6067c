#include "runtime/listing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json.h"
#include "session/draft.h"
#include "session/status.h"

namespace perdure {

bool is_open(const State& state, bool has_effects) {
  const bool wants_to_run =
      std::ranges::any_of(state.queue, [](const QueuedPrompt& item) { return !item.held; });
  return has_effects || execution_may_live(state) || state.run || state.resume ||
         !state.waits.empty() || (wants_to_run && !state.archived);
}

Listing make_listing(const ActorShared& shared, const State& state, bool has_effects) {
  const World world{.liveness = execution_may_live(state) ? Liveness::alive : Liveness::dead,
                    .boot = shared.config.boot,
                    .now = shared.world.clock.now()};
  JsonWriter summary;
  summary.begin_object().key("title").string(state.title).key("agent").string(state.agent.name);
  summary.key("status").string(enum_text(derive_status(state, world)));
  summary.key("pending").number_unsigned(state.permissions.size());
  if (state.task) summary.key("task_id").string(state.task.text());
  summary.key("created").string(format_timestamp(state.created)).end_object();
  // To the minute: a list sorts by it, and every frame need not rewrite the row.
  const Timestamp updated{state.updated.ms - state.updated.ms % 60'000};
  return Listing{.open = is_open(state, has_effects),
                 .archived = state.archived,
                 .updated = updated,
                 .summary = std::move(summary).take()};
}

}  // namespace perdure
