// The identity that makes a request, and its rights. The gate derives a principal from the
// transport and the token rows, never from a client's own claims.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"

namespace perdure {

// Each includes the previous ones.
enum class Scope { observe, operate, admin };
ENUM_TEXT(Scope, "observe", "operate", "admin");

// Which other sessions a process inside a session can reach.
class SessionReach {
 public:
  virtual ~SessionReach() = default;
  virtual bool reaches(SessionId from, SessionId to) const = 0;
};

struct Principal {
  std::string id;  // uid:1000, token:<id>, browser:<id>, session:<id>, system
  Scope scope = Scope::observe;
  std::vector<SessionId> sessions;  // if set: only these exist for it, the others are 404 (N17)
  SessionId hosted;                 // the caller is a process inside this session
  std::string doubt;                // why the session that it is inside cannot be named
  // With `hosted`: what else it sees. Null: only its own session.
  std::shared_ptr<const SessionReach> reach = nullptr;
  bool from_browser = false;
  std::string credential;  // token:<id> or browser:<id>, whose end ends this; empty: none
  bool operator==(const Principal&) const = default;

  bool may(Scope wanted) const { return scope >= wanted; }
  // Permissions and waits: never from inside a hosted session, in any scope (TOK3).
  bool may_answer() const { return !hosted && may(Scope::operate); }
  bool may_mint() const { return !hosted && may(Scope::admin); }
  bool may_see(SessionId session) const;
  // Only some sessions exist for it.
  bool is_restricted() const { return hosted || !sessions.empty(); }
  // Deleting, redacting, files, shells and settings: a process inside a session may do these only
  // to its own session, however far its reach.
  bool may_own(SessionId session) const {
    return may_see(session) && (!hosted || hosted == session);
  }
};

}  // namespace perdure
