// A node's notification to the others about a commit: `EPOCH:id,id,…`, the epoch of its life and
// the changed sessions, as ULIDs. Without ids any session may have changed, since there were too
// many for one message. `EPOCH!id`: text of this session's journal was redacted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"

namespace perdure {

std::string pg_hint(std::uint64_t epoch, std::span<const SessionId> sessions);
std::string pg_redaction_hint(std::uint64_t epoch, SessionId session);

struct PgHint {
  std::uint64_t epoch = 0;          // 0: unknown sender
  std::vector<SessionId> sessions;  // none: any session
  bool is_redaction = false;
};
// A hint that cannot be parsed means that any session may have changed.
PgHint parse_pg_hint(std::string_view text);

}  // namespace perdure
