// Which other sessions a process inside a session can reach: those that it created, and their
// descendants. The journal records the lineage (`parent` of session.created).
#pragma once

#include "base/json/fields.h"
#include "core/auth/principal.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {

enum class AgentsReach { self, children, all };
ENUM_TEXT(AgentsReach, "self", "children", "all");

class LineageReach final : public SessionReach {
 public:
  // The list outlives it.
  LineageReach(SessionList& sessions, AgentsReach reach) : sessions_(sessions), reach_(reach) {}

  // Never for a caller whose session is unknown.
  bool reaches(SessionId from, SessionId to) const override;

 private:
  SessionList& sessions_;
  AgentsReach reach_;
};

}  // namespace perdure
