// Redacts one record. The log keeps its layout, so every position stays valid: the record's bytes
// become zeros, and a row of the table redactions holds the replacement.
#include "store/sqlite/eraser.h"
#include "store/sqlite/group_writer.h"
#include "store/sqlite/index/codec.h"
#include "store/sqlite/index/extents.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"

namespace perdure {

Result<Eraser::Found> Eraser::find(std::uint64_t sid, Seq seq) {
  Statement extent =
      TRY(db_->prepare("SELECT first_seq, packed FROM extents WHERE sid = ? AND first_seq <= ? "
                       "ORDER BY first_seq DESC LIMIT 1"));
  if (!TRY(extent.bind_u64(1, sid).bind_u64(2, seq).step())) {
    return fail(Code::not_found, "no such record");
  }
  const ExtentKey key{.sid = sid, .first_seq = extent.u64(0)};
  const auto refs = unpack_extent(key, extent.bytes(1));
  if (!refs) return fail(Code::damaged, "the index of the session is damaged");
  Seq first = key.first_seq;
  for (const EntryRef& ref : *refs) {
    if (seq < first + ref.count) return Found{ref, static_cast<std::size_t>(seq - first)};
    first += ref.count;
  }
  return fail(Code::not_found, "no such record");
}

Result<> Eraser::drop_blobs(const std::vector<Hash>& blobs) {
  for (const char* const sql :
       {"DELETE FROM blobs WHERE hash = ?", "DELETE FROM blob_owners WHERE hash = ?"}) {
    Statement drop = TRY(db_->prepare(sql));
    for (const Hash& hash : blobs) TRY_VOID(drop.bind_blob(1, hash_bytes(hash)).run());
  }
  return {};
}

Result<> Eraser::redact(std::uint64_t sid, const Redaction& what, SearchProjection& search) {
  log_.forget();
  const Found found = TRY(find(sid, what.seq));
  const Entry entry = TRY(log_.entry(found.ref));
  if (entry.head.sid != sid || entry.records.at(found.index).empty()) {
    return fail(Code::damaged, "the index points to another record");
  }
  std::string bytes(log_.entry_bytes());
  blank_record(bytes, found.index);
  TRY_VOID(overwrite(found.ref, bytes));
  log_.forget();
  TRY_VOID(search.forget({.sid = sid, .seq = what.seq}, [&](Seq seq) -> Result<std::string> {
    const Found at = TRY(find(sid, seq));
    return std::string(TRY(log_.entry(at.ref)).records.at(at.index));
  }));
  const std::string sealed = seal(redaction_key(sid, what.seq), what.replacement);
  TRY_VOID(add_redactions(*db_));
  Statement put =
      TRY(db_->prepare("INSERT OR REPLACE INTO redactions(sid, seq, sealed) VALUES(?, ?, ?)"));
  TRY_VOID(put.bind_u64(1, sid).bind_u64(2, what.seq).bind_blob(3, sealed).run());
  return drop_blobs(what.blobs);
}

Result<> Writer::redact(const Redaction& redaction) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  // The index locates the record, so flush the unindexed records first.
  TRY_VOID(flush_all());
  const Result<> redacted = transact([&]() -> Result<> {
    Statement load = TRY(db_.prepare(load_session_sql));
    const std::optional<IndexedSession> state = TRY(load_session(load, redaction.session));
    if (!state) return fail(Code::not_found, "no such session: " + redaction.session.text());
    TRY_VOID(eraser_->redact(state->sid, redaction, *search_));
    Statement drop = TRY(db_.prepare("DELETE FROM snapshots WHERE sid = ?"));
    TRY_VOID(drop.bind_u64(1, state->sid).run());
    // If a crash comes before the WAL is emptied, the next open must still erase the text from it.
    return set_meta(db_, meta::scrub_due, 1);
  });
  if (!redacted) return redacted;
  scrub_due_ = true;
  (void)idle_scrub();  // a current reader may prevent it: then retried when idle
  return {};
}

}  // namespace perdure
