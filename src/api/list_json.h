// Rows of the lists of sessions, tasks and executors and of the inbox as JSON.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/world.h"
#include "base/json.h"
#include "runtime/session_list.h"
#include "runtime/task_view.h"

namespace perdure {

// What the runtime knows of a row besides.
struct RowBeside {
  std::uint64_t connections = 0;
  std::string damage;  // why the session could not be loaded; empty: it was not, or it could
  std::string node;    // whose it is, when that is another daemon of the store
};
std::string row_json(const SessionRow& row, const RowBeside& beside);

// What is served beside some rows. Whose they are is one question to the store for all of them, and
// none where all are in this daemon's hands; while it cannot be asked, nobody's name is given.
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

// With its sessions.
std::string task_json(const TaskView& view);

std::string inbox_item_json(const InboxItem& item);
// {"permission":1,…,"total":1}
std::string inbox_counts_json(const std::vector<InboxItem>& items);

// L8; null members where an execution has no such thing.
std::string executor_json(const SessionRow& row);

}  // namespace perdure
