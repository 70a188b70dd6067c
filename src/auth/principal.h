// Who is asking, and what they may do. A principal is made by the gate out of what the transport
// and the token rows say, never out of what a client says about itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"

namespace perdure {

// Each includes the ones before.
enum class Scope { observe, operate, admin };
ENUM_TEXT(Scope, "observe", "operate", "admin");

// Which sessions a process inside a session reaches beside its own one.
class SessionReach {
 public:
  virtual ~SessionReach() = default;
  virtual bool reaches(SessionId from, SessionId to) const = 0;
};

struct Principal {
  std::string id;  // uid:1000, token:<id>, browser:<id>, session:<id>, system
  Scope scope = Scope::observe;
  std::vector<SessionId> sessions;  // given: only these exist for it, the others are 404 (N17)
  SessionId hosted;                 // the caller is a process inside this session
  std::string doubt;                // inside a session that cannot be named: why
  // With `hosted`: what else it sees. Null: its own session and nothing else.
  std::shared_ptr<const SessionReach> reach = nullptr;
  bool from_browser = false;
  std::string credential;  // token:<id> or browser:<id>, whose end ends this; empty: none was used
  bool operator==(const Principal&) const = default;

  bool may(Scope wanted) const { return scope >= wanted; }
  // Permissions and waits: never from inside a hosted session, whatever its scope (TOK3).
  bool may_answer() const { return !hosted && may(Scope::operate); }
  bool may_mint() const { return !hosted && may(Scope::admin); }
  bool may_see(SessionId session) const;
  // Only some sessions exist for it.
  bool is_restricted() const { return hosted || !sessions.empty(); }
  // Deleting, redacting, files, shells and settings: what a process inside a session may do to its
  // own session at most, whatever else it reaches.
  bool may_own(SessionId session) const {
    return may_see(session) && (!hosted || hosted == session);
  }
};

}  // namespace perdure
