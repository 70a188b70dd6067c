// Which session a path means: {id} may be a whole id, a name, or any unique beginning or end. What
// the caller may not see does not exist for it (N17, TOK6).
#pragma once

#include <string>
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
// The same for shells. With `agents_reach = "all"` a shell reaches every session, so that a token
// bound to some sessions opens none.
Result<SessionId> shell_session_of(ApiWorld& world, const Call& call);
Result<> check_may_own(const Principal& principal, SessionId session);
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

// Answers with the error. The not_found of a path whose session was deleted says what it was.
void fail_without_session(ApiWorld& world, const Call& call, const Error& error);

}  // namespace perdure
