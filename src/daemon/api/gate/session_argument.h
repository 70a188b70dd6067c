// Resolves the session in a path: {id} is a whole id, a name, or any unique beginning or end of an
// id. A session that the caller may not see does not exist for it (N17, TOK6).
#pragma once

#include <string>
#include <string_view>

#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {

// The sessions that the principal may know about, for reads over all sessions.
MaySee may_see(const Principal& principal);

// The session of the path's first argument, for this principal. One that it may not see is
// not_found (N17); an ambiguous text is a conflict with the candidates.
Result<SessionId> session_of(ApiWorld& world, const Call& call);

// The same for what a process inside a session may do only to its own session: files, shells,
// settings. Another session that it can see is denied.
Result<SessionId> own_session_of(ApiWorld& world, const Call& call);
// The same for shells, with check_unbound().
Result<SessionId> shell_session_of(ApiWorld& world, const Call& call);
Result<> check_may_own(const Principal& principal, SessionId session);
// denied for a token that is bound to some sessions: starting programs inside one. Those act as the
// session, which makes others and reaches them.
Result<> check_unbound(const Principal& principal, std::string_view what);
// denied for every process inside a session: deleting, redacting, options of an agent.
Result<> check_outside(const Principal& principal, std::string_view what);

struct WantedFolder {
  const std::string& cwd;  // it exists, on this machine
  SessionId session = {};  // that is to work there; null: a new one
  SessionId maker = {};    // the session whose process asks for that; null: a person does
};
// invalid_argument: Perdure keeps it for itself, or made it for another session.
Result<> check_folder_owner(const ApiWorld& world, const WantedFolder& folder);

// What is known of a session that was deleted, as members of an object: title, when, by whom. Empty
// where it was not, or where the principal might not have seen it.
std::string tombstone_members(ApiWorld& world, const Principal& principal, SessionId session);

// Answers with the error. If the path's session was deleted, not_found includes what it was.
void fail_without_session(ApiWorld& world, const Call& call, const Error& error);

}  // namespace perdure
