// Which session a path means: {id} may be a whole id, a name, or any unique beginning or end. What
// the caller may not see does not exist for it (N17, TOK6).
#pragma once

#include <string_view>

#include "api/route.h"
#include "api/world.h"
#include "runtime/session_list.h"

namespace perdure {

// What the principal may know of, for those who read over all sessions.
MaySee may_see(const Principal& principal);

// The session of the path's first argument, for this principal: one that it may not see is
// not_found (N17), an ambiguous text conflict, with the candidates.
Result<SessionId> session_of(ApiWorld& world, const Call& call);

// The same for what a process inside a session may do to its own session at most: files, shells,
// settings. denied for another one that it sees.
Result<SessionId> own_session_of(ApiWorld& world, const Call& call);
// The same for shells, with check_unbound().
Result<SessionId> shell_session_of(ApiWorld& world, const Call& call);
Result<> check_may_own(const Principal& principal, SessionId session);
// denied for a token that is bound to some sessions: starting programs inside one. Those act as the
// session, which makes others and reaches them.
Result<> check_unbound(const Principal& principal, std::string_view what);
// denied for every process inside a session: deleting, redacting, options of an agent.
Result<> check_outside(const Principal& principal, std::string_view what);

// What is known of a session that was deleted, as members of an object: title, when, by whom. Empty
// where it was not, or where the principal might not have seen it.
std::string tombstone_members(ApiWorld& world, const Principal& principal, SessionId session);

// Answers with the error. The not_found of a path whose session was deleted says what it was.
void fail_without_session(ApiWorld& world, const Call& call, const Error& error);

}  // namespace perdure
