// How a request enters the audit trail: its entry is on disk before its handler acts. If the
// handler then answers with an error, a second entry records the outcome.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/auth/principal.h"
#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"
#include "daemon/runtime/audit/audit.h"

namespace perdure {

// In the trail's words: token "ci", page, unix socket, session process.
std::string how_of(const Principal& principal, const NodeState& node);
// The address, or "unix".
std::string from_of(const HttpRequest& request);
// With `by`, `how` and `from` filled in.
AuditEntry audit_entry(const ApiWorld& world, const Call& call, std::string what);
// Where a request was refused. Only the route is named: what a stranger writes into a path stays
// out of the trail.
struct RefusedAt {
  std::string text;
  RouteClass route = RouteClass::none;
};
constexpr std::string_view login_pattern = "/api/login";
// `route` null: there is none.
RefusedAt refused_at(const Route* route);
// Counts a refused request. `principal` null: nobody was identified.
void note_refusal(Audit* audit, const HttpRequest& request, const Principal* principal,
                  const Error& error, RefusedAt at);

// Runs `act` after the entry is on disk. If it cannot be written, answers with the error instead.
void audited(ApiWorld& world, Call call, AuditEntry entry, std::move_only_function<void(Call)> act);
// The same without a call; `act` gets the number of the entry, or 0 without an audit trail.
void audited(Audit* audit, AuditEntry entry, std::move_only_function<void(Result<Seq>)> act);
// Writes the second entry. `code` is that of the error, or no_effect.
void note_outcome(Audit* audit, AuditEntry first, Seq of, std::string_view code);

}  // namespace perdure
