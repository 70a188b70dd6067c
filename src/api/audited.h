// How a request gets into the audit trail: its entry is on disk before its handler acts, and when
// the handler then answers with an error, a second entry gives the outcome.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/route.h"
#include "api/world.h"
#include "auth/principal.h"
#include "runtime/audit.h"

namespace perdure {

// In the words of the trail: token "ci", page, unix socket, process of a session.
std::string how_of(const Principal& principal, const NodeState& node);
// The address, or unix.
std::string from_of(const HttpRequest& request);
// With by, how and from filled in.
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

// Runs `act` once the entry is on disk; otherwise answers with the error, and nothing has happened.
void audited(ApiWorld& world, Call call, AuditEntry entry, std::move_only_function<void(Call)> act);
// The same for whoever has no call; `act` gets the number of the entry, 0 without a trail.
void audited(Audit* audit, AuditEntry entry, std::move_only_function<void(Result<Seq>)> act);
// The second entry. `code`: of the error, or no_effect.
void note_outcome(Audit* audit, AuditEntry first, Seq of, std::string_view code);

}  // namespace perdure
