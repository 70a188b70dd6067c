// What a node tells the others with a commit: `EPOCH:id,id,…`, the epoch of its life and the
// sessions that it wrote, as ULIDs. No id means that any may have changed, as there were too many
// for one message. `EPOCH!id` says that text of the session's journal was taken back.
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
  std::uint64_t epoch = 0;          // 0: somebody who does not know how to say it
  std::vector<SessionId> sessions;  // none: any
  bool is_redaction = false;
};
// What cannot be read says that any session may have changed.
PgHint parse_pg_hint(std::string_view text);

}  // namespace perdure
