// Sessions that processes inside sessions made. Lineage is in the journal (`parent` of
// session.created).
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/session_list.h"

namespace perdure {

// The session at the top of this one's lineage, which a person made. Null: a person made this one.
SessionId top_of_lineage(Runtime& runtime, SessionId session);

// Whether the session was copied from that one or made by a process in it, or from or in one of
// which that holds: then it may work in that one's folder.
bool stems_from(Runtime& runtime, SessionId session, SessionId origin);

// The sessions below this one, at any depth, whose agent or shell may run. Valid until the next
// call of the list. It need not exist any more.
Result<std::vector<const SessionRow*>> live_descendants(SessionList& sessions, SessionId session);

}  // namespace perdure
