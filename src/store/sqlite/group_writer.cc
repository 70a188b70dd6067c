#include "store/sqlite/group_writer.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "store/sqlite/index/codec.h"
#include "store/sqlite/index/extents.h"

namespace perdure {
namespace {

// The last extent as load_session_sql selected it.
void compare_extent(Query& query, IndexedSession& state) {
  Seq end = 0;  // of the intact part
  if (!query->is_null(4)) {
    const ExtentKey key{.sid = state.sid, .first_seq = query->u64(4)};
    const auto refs = unpack_extent(key, query->bytes(5));
    end = key.first_seq - 1 + (refs ? records_in(*refs) : 0);
  }
  if (end == state.head) return;
  const Seq good = std::min(end, state.head);
  state.good = std::min(state.good.value_or(good), good);
  state.head = std::max(end, state.head);
}

}  // namespace

Result<std::optional<IndexedSession>> load_session(Statement& load, SessionId session) {
  const std::string id = id_bytes(session.ulid());
  Query query(load);
  if (!TRY(query->bind_blob(1, id).step())) return std::nullopt;
  IndexedSession state{.id = session, .sid = query->u64(0), .head = query->u64(1)};
  std::string_view cursor = query->bytes(2);
  if (!cursor.empty()) {
    state.cursor.emplace();
    if (!take_cursor(cursor, *state.cursor)) {
      return fail(Code::damaged, "the frame cursor of " + session.text() + " is damaged");
    }
  }
  if (!query->is_null(3)) state.good = query->u64(3);
  compare_extent(query, state);
  state.flushed = state.head;
  return state;
}

std::string outbox_key(std::uint64_t sid, std::uint64_t number) {
  return "outbox " + std::to_string(sid) + " " + std::to_string(number);
}

std::string snapshot_key(std::uint64_t sid, Seq seq) {
  return "snapshot " + std::to_string(sid) + " " + std::to_string(seq);
}

std::string redaction_key(std::uint64_t sid, Seq seq) {
  return "redaction " + std::to_string(sid) + " " + std::to_string(seq);
}

std::string listing_key(SessionId session, const Listing& listing) {
  return session.text() + (listing.open ? " open" : "") + (listing.archived ? " archived " : " ") +
         std::to_string(listing.updated.ms);
}

std::string answer_payload(const StoredAnswer& answer) {
  std::string out(reinterpret_cast<const char*>(answer.body.bytes.data()),
                  answer.body.bytes.size());
  return out + answer.answer;
}

Result<GroupWriter> GroupWriter::create(Db& db, SessionIndex& index, std::uint64_t epoch) {
  GroupWriter out(db, index, epoch);
  out.insert_row_ = TRY(db.prepare("INSERT INTO log(pos, data) VALUES(?, ?)"));
  out.load_session_ = TRY(db.prepare(load_session_sql));
  out.insert_session_ = TRY(db.prepare("INSERT INTO sessions(id) VALUES(?)"));
  out.set_listing_ = TRY(db.prepare(
      "UPDATE sessions SET open = ?2, archived = ?3, updated = ?4, sealed = ?5 WHERE sid = ?1"));
  out.insert_outbox_ =
      TRY(db.prepare("INSERT OR REPLACE INTO outbox(sid, number, sealed) VALUES(?, ?, ?)"));
  out.delete_outbox_ = TRY(db.prepare("DELETE FROM outbox WHERE sid = ? AND number = ?"));
  out.has_answer_ = TRY(db.prepare("SELECT 1 FROM answers WHERE key = ?"));
  out.insert_answer_ = TRY(db.prepare("INSERT INTO answers(key, expires, sealed) VALUES(?, ?, ?)"));
  out.insert_ref_ = TRY(db.prepare("INSERT OR REPLACE INTO refs(ref, sid) VALUES(?, ?)"));
  out.insert_snapshot_ =
      TRY(db.prepare("INSERT OR REPLACE INTO snapshots(sid, seq, sealed) VALUES(?, ?, ?)"));
  out.insert_blob_ = TRY(db.prepare("INSERT OR IGNORE INTO blobs(hash, bytes) VALUES(?, ?)"));
  out.has_blob_ = TRY(db.prepare("SELECT 1 FROM blobs WHERE hash = ?"));
  out.insert_owner_ = TRY(db.prepare("INSERT OR IGNORE INTO blob_owners(sid, hash) VALUES(?, ?)"));
  return out;
}

Result<> GroupWriter::write(std::span<PendingAppend* const> group, std::uint64_t next_pos) {
  CHECK(group_.changes.empty());
  group_.block_pos = next_pos;
  block_.start();
  for (PendingAppend* pending : group) {
    if (!pending->refused) TRY_VOID(write_one(*pending));
  }
  return write_block();
}

std::uint64_t GroupWriter::published() {
  index_->publish(group_);
  group_.changes.clear();
  group_.entries.clear();
  return next_pos_;
}

void GroupWriter::discarded() {
  index_->discard(group_.changes);
  group_.changes.clear();
  group_.entries.clear();
}

Result<> GroupWriter::write_one(PendingAppend& pending) {
  SessionIndex::Change* change = TRY(admit(pending));
  if (change == nullptr) return {};
  if (change->state->sid == 0) TRY_VOID(create_session(*change->state));
  write_records(*change, pending.batch);
  return write_rows(*change, pending.batch);
}

Result<SessionIndex::Change*> GroupWriter::admit(PendingAppend& pending) {
  const Append& batch = pending.batch;
  const auto refuse = [&](Code code, std::string why) -> SessionIndex::Change* {
    pending.refused.emplace(code, std::move(why));
    return nullptr;
  };
  if (batch.epoch < epoch_) {
    return refuse(Code::stale_owner, "owner epoch " + std::to_string(batch.epoch) +
                                         " is over; the store is at " + std::to_string(epoch_));
  }
  if (std::optional<Error> error = TRY(check_answers(batch))) {
    pending.refused = std::move(error);
    return nullptr;
  }
  // Before change_of(): an append refused after that has a place among the group's changes.
  if (const std::optional<Hash> lost = TRY(find_lost_blob(batch))) {
    return refuse(Code::not_found, "no such blob: " + lost->hex());
  }
  SessionIndex::Change* change = TRY(change_of(batch.session, pending));
  if (change == nullptr) return nullptr;
  if (change->head != batch.expected_head) {
    return refuse(Code::conflict, "the head is " + std::to_string(change->head) + ", not " +
                                      std::to_string(batch.expected_head));
  }
  return change;
}

Result<SessionIndex::Change*> GroupWriter::change_of(SessionId session, PendingAppend& pending) {
  const auto draft = static_cast<std::int32_t>(group_.changes.size());
  SessionIndex::Pinned pinned = index_->pin(session, draft);
  if (pinned.state == nullptr) {
    std::optional<IndexedSession> loaded = TRY(load_session(load_session_, session));
    if (!loaded && pending.batch.expected_head != 0) {
      pending.refused.emplace(Code::conflict, "no such session, so its head is 0");
      return nullptr;
    }
    if (!loaded) loaded.emplace(IndexedSession{.id = session, .stored = false});
    pinned = index_->pin_or_insert(*std::move(loaded), draft);
  }
  if (pinned.state->draft == draft) {
    group_.changes.push_back(
        {.state = pinned.state, .head = pinned.state->head, .cursor = pinned.state->cursor});
  }
  if (pinned.damaged) {
    pending.refused.emplace(Code::damaged, "the session is damaged and read-only");
    return nullptr;
  }
  return &group_.changes[static_cast<std::size_t>(pinned.state->draft)];
}

Result<std::optional<Error>> GroupWriter::check_answers(const Append& batch) {
  for (const StoredAnswer& answer : batch.answers) {
    Query query(has_answer_);
    if (TRY(query->bind_text(1, answer.key).step())) {
      return Error(Code::conflict,
                   "the key '" + answer.key.substr(0, 64) + "' has its answer already");
    }
  }
  return std::nullopt;
}

Result<std::optional<Hash>> GroupWriter::find_lost_blob(const Append& batch) {
  for (const Hash& hash : batch.blob_refs) {
    Query query(has_blob_);
    if (!TRY(query->bind_blob(1, hash_bytes(hash)).step())) return hash;
  }
  return std::nullopt;
}

Result<> GroupWriter::create_session(IndexedSession& state) {
  const std::string id = id_bytes(state.id.ulid());
  TRY_VOID(insert_session_.bind_blob(1, id).run());
  state.sid = static_cast<std::uint64_t>(sqlite3_last_insert_rowid(db_->handle()));
  return {};
}

void GroupWriter::write_records(SessionIndex::Change& change, const Append& batch) {
  if (batch.cursor) change.cursor = batch.cursor;
  std::span<const std::string> rest(batch.records);
  bool cursor_left = batch.cursor.has_value();
  while (!rest.empty() || cursor_left) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < rest.size() && count < entry_records_max &&
                                (count == 0 || bytes < entry_bytes_soft_max);
         ++count) {
      bytes += rest[count].size();
    }
    EntryInput entry{
        .sid = change.state->sid, .first_seq = change.head + 1, .records = rest.first(count)};
    rest = rest.subspan(count);
    if (entry.first_seq == 1) entry.session = change.state->id;
    if (rest.empty()) entry.cursor = batch.cursor;
    if (rest.empty()) cursor_left = false;
    const std::uint32_t offset = block_.add(entry);
    change.has_entries = true;
    change.head += count;
    if (count == 0) continue;
    group_.entries.push_back({.draft = change.state->draft,
                              .ref = {.pos = group_.block_pos + offset / row_bytes,
                                      .offset = static_cast<std::uint32_t>(offset % row_bytes),
                                      .count = static_cast<std::uint32_t>(count)}});
  }
}

Result<> GroupWriter::write_rows(SessionIndex::Change& change, const Append& batch) {
  const std::uint64_t sid = change.state->sid;
  TRY_VOID(write_outbox(sid, batch));
  TRY_VOID(write_answers(batch));
  TRY_VOID(write_blobs(sid, batch));
  for (const std::string& ref : batch.refs) {
    TRY_VOID(insert_ref_.bind_text(1, ref).bind_u64(2, sid).run());
  }
  if (batch.snapshot) {
    const std::string sealed = seal(snapshot_key(sid, change.head), *batch.snapshot);
    TRY_VOID(insert_snapshot_.bind_u64(1, sid).bind_u64(2, change.head).bind_blob(3, sealed).run());
  }
  if (batch.listing) TRY_VOID(write_listing(*change.state, *batch.listing));
  return {};
}

Result<> GroupWriter::write_outbox(std::uint64_t sid, const Append& batch) {
  for (const OutboxRow& row : batch.outbox_add) {
    const std::string sealed = seal(outbox_key(sid, row.number), row.payload);
    TRY_VOID(insert_outbox_.bind_u64(1, sid).bind_u64(2, row.number).bind_blob(3, sealed).run());
  }
  for (const std::uint64_t number : batch.outbox_done) {
    TRY_VOID(delete_outbox_.bind_u64(1, sid).bind_u64(2, number).run());
  }
  return {};
}

Result<> GroupWriter::write_answers(const Append& batch) {
  for (const StoredAnswer& answer : batch.answers) {
    const std::string sealed = seal(answer.key, answer_payload(answer));
    insert_answer_.bind_text(1, answer.key).bind_blob(3, sealed);
    if (answer.expires) {
      insert_answer_.bind(2, answer.expires->ms);
    } else {
      insert_answer_.bind_null(2);
    }
    TRY_VOID(insert_answer_.run());
  }
  return {};
}

Result<> GroupWriter::write_blobs(std::uint64_t sid, const Append& batch) {
  for (const Blob& blob : batch.blobs) {
    const std::string_view hash = hash_bytes(blob.hash);
    TRY_VOID(insert_blob_.bind_blob(1, hash).bind_blob(2, blob.bytes).run());
    TRY_VOID(insert_owner_.bind_u64(1, sid).bind_blob(2, hash).run());
  }
  for (const Hash& hash : batch.blob_refs) {
    TRY_VOID(insert_owner_.bind_u64(1, sid).bind_blob(2, hash_bytes(hash)).run());
  }
  return {};
}

Result<> GroupWriter::write_listing(const IndexedSession& state, const Listing& listing) {
  const std::string sealed = seal(listing_key(state.id, listing), listing.summary);
  return set_listing_.bind_u64(1, state.sid)
      .bind(2, listing.open ? 1 : 0)
      .bind(3, listing.archived ? 1 : 0)
      .bind(4, listing.updated.ms)
      .bind_blob(5, sealed)
      .run();
}

Result<> GroupWriter::write_block() {
  next_pos_ = group_.block_pos;
  block_bytes_ = 0;
  if (block_.empty()) return {};
  std::string_view rest = block_.finish();
  block_bytes_ = rest.size();
  while (!rest.empty()) {
    const std::string_view row = rest.substr(0, row_bytes);
    TRY_VOID(insert_row_.bind_u64(1, next_pos_).bind_blob(2, row).run());
    rest.remove_prefix(row.size());
    next_pos_ += 1;
  }
  return {};
}

}  // namespace perdure
