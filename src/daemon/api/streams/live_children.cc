#include "daemon/api/streams/live_children.h"

#include <vector>

#include "daemon/api/gate/session_argument.h"
#include "daemon/runtime/reads/lineage.h"

namespace perdure {

void write_live_children(JsonWriter& out, ApiWorld& world, SessionId session,
                         const Principal& caller) {
  const MaySee seen = may_see(caller);
  out.key("live_children").begin_array();
  if (const auto rows = live_descendants(world.sessions, session)) {
    for (const SessionRow* const row : *rows) {
      if (seen && !seen(row->session)) continue;
      out.begin_object().key("session_id").string(row->session.text());
      out.key("title").string(row->summary.title).end_object();
    }
  }
  out.end_array();
}

Result<> check_no_live_children(ApiWorld& world, SessionId session) {
  const auto rows = TRY(live_descendants(world.sessions, session));
  if (rows.empty()) return {};
  const bool is_one = rows.size() == 1;
  const std::string them = is_one ? "it" : "them";
  return fail(Code::conflict, std::to_string(rows.size()) + " session" + (is_one ? "" : "s") +
                                  " that it made " + (is_one ? "is" : "are") +
                                  " still running. Stop " + them + " (perdure stop " +
                                  session.text() + " --children), or force, which stops " + them);
}

void stop_live_children(ApiWorld& world, SessionId session, const std::string& by) {
  const auto rows = live_descendants(world.sessions, session);
  if (!rows) return;
  std::vector<SessionId> live;
  for (const SessionRow* const row : *rows) live.push_back(row->session);
  for (const SessionId each : live) {
    world.runtime.submit(each, {.by = by, .body = StopSession{.reason = "maker_deleted"}},
                         [](const Result<Reply>&) {});
  }
}

}  // namespace perdure
