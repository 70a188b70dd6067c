// The trail is stored in segments, so that old entries can be deleted: each segment is a journal of
// its own, and one more journal, the index, lists the existing segments. The last record of the
// index is the whole index.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "store/store.h"

namespace perdure {

struct AuditSegment {
  std::uint64_t number = 0;
  Seq first = 0;  // the number in the trail of its first entry
  Timestamp opened;
  Hash before;  // of the previous segment's last record: continues the chain
  bool operator==(const AuditSegment&) const = default;
  FIELDS {
    visit("number", self.number);
    visit("first", self.first);
    visit("opened", self.opened);
    visit("before", self.before);
  }
};

struct AuditIndex {
  std::vector<AuditSegment> segments;  // oldest first
  bool operator==(const AuditIndex&) const = default;
  FIELDS { visit("segments", self.segments); }
};

inline constexpr std::string_view audit_index_kind = "audit.index";

// The ids of these journals in the store. They are never listed or opened as sessions.
SessionId audit_index_id();
SessionId audit_segment_id(std::uint64_t number);
bool is_audit_journal(SessionId session);

// The end of an audit journal.
struct AuditTail {
  Seq head = 0;
  Hash hash;  // of the last record; zero without one
};
Result<AuditTail> read_audit_tail(Store& store, SessionId journal);

struct StoredAuditIndex {
  AuditIndex index;
  AuditTail tail;
};
// Empty if none exists yet. `damaged` if its last record is not an index.
Result<StoredAuditIndex> read_audit_index(Store& store);

// The common part of every append to an audit journal. Its first append also marks it as an
// incomplete copy, so that a daemon of an earlier version neither lists nor opens it.
Append audit_append(Store& store, SessionId journal, Seq head);

}  // namespace perdure
