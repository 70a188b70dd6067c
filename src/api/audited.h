// How a request enters the audit trail: its entry is on disk before its handler acts. If the
// handler then answers with an error, a second entry records the outcome.
#pragma once

#include <functional>
#include <string>

#include "api/route.h"
#include "api/world.h"
#include "auth/principal.h"
#include "runtime/audit.h"

namespace perdure {

// In the trail's words: token "ci", page, unix socket, session process.
std::string how_of(const Principal& principal, const NodeState& node);
// The address, or "unix".
std::string from_of(const HttpRequest& request);
// With `by`, `how` and `from` filled in.
AuditEntry audit_entry(const ApiWorld& world, const Call& call, std::string what);
// Counts an admitted request that was refused later. `principal` null: not identified.
void note_refusal(Audit* audit, const HttpRequest& request, const Principal* principal,
                  const Error& error, std::string text);

// Runs `act` after the entry is on disk. If it cannot be written, answers with the error instead.
void audited(ApiWorld& world, Call call, AuditEntry entry, std::move_only_function<void(Call)> act);
// The same without a call; `act` gets the number of the entry, or 0 without an audit trail.
void audited(Audit* audit, AuditEntry entry, std::move_only_function<void(Result<Seq>)> act);
// Writes the second entry. `code` is that of the error, or no_effect.
void note_outcome(Audit* audit, AuditEntry first, Seq of, std::string_view code);

}  // namespace perdure
