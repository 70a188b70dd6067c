#include "daemon/runtime/audit/audit_index.h"

#include <utility>

#include "base/json/fields_json.h"
#include "core/wire/journal/node_record.h"
#include "daemon/runtime/care/fork.h"

namespace perdure {
namespace {

constexpr std::uint64_t index_low = 2;
constexpr std::uint64_t segments_low = 1ULL << 32;

}  // namespace

SessionId audit_index_id() { return SessionId(Ulid{.high = 0, .low = index_low}); }

SessionId audit_segment_id(std::uint64_t number) {
  return SessionId(Ulid{.high = 0, .low = segments_low + number});
}

bool is_audit_journal(SessionId session) {
  const Ulid ulid = session.ulid();
  return ulid.high == 0 && (ulid.low == index_low || ulid.low >> 32 == 1);
}

Result<AuditTail> read_audit_tail(Store& store, SessionId journal) {
  const Result<SessionHead> head = store.head(journal);
  if (!head && head.error().code() == Code::not_found) return AuditTail{};
  if (!head) return std::unexpected(head.error());
  if (head->seq == 0) return AuditTail{};
  const RecordPage page = TRY(store.read(journal, {.after = head->seq - 1, .limit = 1}));
  if (page.records.size() != 1) {
    return fail(Code::damaged, "the last record of the audit trail is missing");
  }
  return AuditTail{head->seq, sha256(page.records.front())};
}

Result<StoredAuditIndex> read_audit_index(Store& store) {
  StoredAuditIndex out{.index = {}, .tail = TRY(read_audit_tail(store, audit_index_id()))};
  if (out.tail.head == 0) return out;
  const RecordPage page =
      TRY(store.read(audit_index_id(), {.after = out.tail.head - 1, .limit = 1}));
  if (page.records.size() != 1) return fail(Code::damaged, "the index's last record is missing");
  const NodeRecord record = TRY(decode_node_record(page.records.front()));
  auto index = decode_fields<AuditIndex>(record.fields.text);
  if (record.kind != audit_index_kind || !index || index->value.segments.empty()) {
    return fail(Code::damaged, "the index's last record is not an index");
  }
  out.index = std::move(index->value);
  return out;
}

Append audit_append(Store& store, SessionId journal, Seq head) {
  Append out{.session = journal, .epoch = store.epoch(), .expected_head = head, .by_all = true};
  if (head == 0) mark_as_no_session(out);
  return out;
}

}  // namespace perdure
