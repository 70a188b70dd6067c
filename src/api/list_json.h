// Rows of the lists of sessions, tasks and executors and of the inbox as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/session_list.h"
#include "runtime/task_view.h"

namespace perdure {

// What the runtime knows of a row besides.
struct RowBeside {
  std::uint64_t connections = 0;
  std::string damage;  // why the session could not be loaded; empty: it was not, or it could
};
std::string row_json(const SessionRow& row, const RowBeside& beside);
RowBeside beside_row(Runtime& runtime, SessionId session);

// With its sessions.
std::string task_json(const TaskView& view);

std::string inbox_item_json(const InboxItem& item);
// {"permission":1,…,"total":1}
std::string inbox_counts_json(const std::vector<InboxItem>& items);

// L8; null members where an execution has no such thing.
std::string executor_json(const SessionRow& row);

}  // namespace perdure
