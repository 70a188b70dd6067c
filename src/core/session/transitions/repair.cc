#include "core/session/transitions/repair.h"

namespace perdure {

std::vector<EventBody> plan_repair(const State& state) {
  std::vector<EventBody> plan;
  if (state.message_open) plan.emplace_back(RepairClosedMessage{});
  for (const auto& [tool_call_id, title] : state.open_tools) {
    plan.emplace_back(RepairClosedTool{.tool_call_id = tool_call_id, .outcome = "unknown"});
  }
  return plan;
}

}  // namespace perdure
