// GET /api/audit: the audit trail in pages, as lines, or as a live stream.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"

namespace perdure {

// The streams' world must have an audit trail; the world and the trail must outlive the router.
void add_audit_routes(Router& router, Streams& streams);

// {"seq":…,"ts":…,"what":…,…}: an entry as every form shows it.
std::string audit_record_json(const AuditRecord& record);

}  // namespace perdure
