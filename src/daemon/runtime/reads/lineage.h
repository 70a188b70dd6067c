// Sessions created by processes inside sessions. The journal records the lineage (`parent` of
// session.created).
#pragma once

#include <vector>

#include "base/result.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {

// The root of this session's lineage, which a person created. Null: a person created this one.
SessionId top_of_lineage(Runtime& runtime, SessionId session);

// The descendants of this session, at any depth, whose agent or shell may run. Valid until the next
// call of the list. The session itself may already be deleted.
Result<std::vector<const SessionRow*>> live_descendants(SessionList& sessions, SessionId session);

}  // namespace perdure
