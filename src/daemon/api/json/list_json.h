// Rows of the lists of sessions, tasks and executors and of the inbox as JSON.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "daemon/api/world.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/reads/task_view.h"

namespace perdure {

// Members that the runtime adds to a row.
struct RowBeside {
  std::uint64_t connections = 0;
  std::string damage;  // why loading the session failed; otherwise empty
  std::string node;    // the owner, if it is another daemon on the store
};
std::string row_json(const SessionRow& row, const RowBeside& beside);

// Serves the extra members of some rows. One store query finds the owners of all of them, and none
// is needed if this daemon owns them all. If the store cannot answer, no owner is given.
class RowsBeside {
 public:
  RowsBeside(ApiWorld& world, std::span<const SessionId> sessions);
  RowBeside of(SessionId session) const;

 private:
  Runtime& runtime_;
  std::map<SessionId, std::string> nodes_;
};
// As an array.
void write_rows(JsonWriter& out, ApiWorld& world, std::span<const SessionRow* const> rows);

// Includes the task's sessions.
std::string task_json(const TaskView& view);

std::string inbox_item_json(const InboxItem& item);
// {"permission":1,…,"total":1}
std::string inbox_counts_json(const std::vector<InboxItem>& items);

// L8; members that do not apply to an execution are null.
std::string executor_json(const SessionRow& row);

}  // namespace perdure
