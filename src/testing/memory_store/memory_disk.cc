#include "testing/memory_store/memory_disk.h"

#include <utility>

#include "base/check.h"

namespace perdure {

void MemoryDisk::crash(CrashChoice choice) {
  if (choice == CrashChoice::keep_tail) sync();
  tail_.clear();
  ++life_;
}

void MemoryDisk::crash_one(std::uint64_t epoch, CrashChoice choice) {
  crashed_.insert(epoch);
  if (tail_epoch_ != epoch) return;
  if (choice == CrashChoice::keep_tail) sync();
  tail_.clear();
}

bool MemoryDisk::flip_bit(SessionId session, Seq seq) {
  auto found = sessions_.find(session);
  if (found == sessions_.end() || seq == 0 || seq > found->second.head()) return false;
  std::string& bytes = found->second.records[seq - 1].bytes;
  if (!bytes.empty()) bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  std::optional<Seq>& damaged_at = found->second.damaged_at;
  if (!damaged_at || *damaged_at > seq) damaged_at = seq;
  return true;
}

bool MemoryDisk::flip_snapshot_bit(SessionId session) {
  auto found = sessions_.find(session);
  if (found == sessions_.end() || !found->second.snapshot) return false;
  std::string& bytes = found->second.snapshot->bytes;
  if (!bytes.empty()) bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  return true;
}

bool MemoryDisk::lose_behind(SessionId session, Seq last) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.head() <= last) return false;
  found->second.records.resize(last);
  return true;
}

std::optional<std::string_view> MemoryDisk::peek(SessionId session, Seq seq) const {
  const Session* found = find(session);
  if (!found || seq == 0 || seq > found->head()) return std::nullopt;
  return found->records[seq - 1].bytes;
}

Seq MemoryDisk::head(SessionId session) const {
  const Session* found = find(session);
  return found ? found->head() : 0;
}

std::optional<FrameCursor> MemoryDisk::cursor(SessionId session) const {
  const Session* found = find(session);
  return found ? found->cursor : std::nullopt;
}

std::size_t MemoryDisk::outbox_size(SessionId session) const {
  const Session* found = find(session);
  return found ? found->outbox.size() : 0;
}

std::string MemoryDisk::owner(SessionId session) const {
  const auto found = leases_.find(session);
  return found == leases_.end() ? "" : found->second.node;
}

const MemoryDisk::Session* MemoryDisk::find(SessionId session) const {
  auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : &found->second;
}

void MemoryDisk::sync() {
  if (tail_.empty()) return;
  std::vector<Append> group = std::exchange(tail_, {});
  for (Append& batch : group) apply(std::move(batch));
  ++groups_synced_;
}

void MemoryDisk::apply(Append batch) {
  Session& session = sessions_[batch.session];
  apply_records(session, batch);
  if (batch.cursor) session.cursor = std::move(batch.cursor);
  for (OutboxRow& row : batch.outbox_add) {
    session.outbox_last = row.number;
    session.outbox.emplace(row.number, std::move(row.payload));
  }
  for (std::uint64_t number : batch.outbox_done) session.outbox.erase(number);
  for (StoredAnswer& answer : batch.answers) {
    std::string key = answer.key;
    const bool added = answers_.emplace(std::move(key), std::move(answer)).second;
    CHECK(added, "a validated answer key is new");
  }
  for (std::string& ref : batch.refs) {
    refs_.insert_or_assign(ref, batch.session);
    session.refs.insert(std::move(ref));
  }
  for (Blob& blob : batch.blobs) {
    StoredBlob& stored = blobs_.try_emplace(blob.hash, std::move(blob.bytes)).first->second;
    if (session.blobs.insert(blob.hash).second) ++stored.sessions;
  }
  for (const Hash& hash : batch.blob_refs) {
    const auto blob = blobs_.find(hash);
    if (blob == blobs_.end()) continue;  // redacted while the batch was in flight
    if (session.blobs.insert(hash).second) ++blob->second.sessions;
  }
  if (batch.snapshot) session.snapshot = StoredSnapshot{session.head(), *std::move(batch.snapshot)};
  if (batch.listing) {
    session.listing = *std::move(batch.listing);
    if (session.listing.open)
      open_.insert(batch.session);
    else
      open_.erase(batch.session);
  }
}

void MemoryDisk::apply_records(Session& session, Append& batch) {
  CHECK(batch.expected_head == session.head(), "a validated batch continues its session");
  for (std::string& record : batch.records) {
    session.records.push_back({std::move(record), ++position_});
  }
}

void MemoryDisk::remove(SessionId session) {
  auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  for (const std::string& ref : found->second.refs) {
    auto owner = refs_.find(ref);
    if (owner != refs_.end() && owner->second == session) refs_.erase(owner);
  }
  for (const Hash& hash : found->second.blobs) {
    auto blob = blobs_.find(hash);
    if (--blob->second.sessions == 0) blobs_.erase(blob);
  }
  open_.erase(session);
  leases_.erase(session);
  sessions_.erase(found);
}

Result<> MemoryDisk::redact(Redaction redaction) {
  const auto found = sessions_.find(redaction.session);
  if (found == sessions_.end() || redaction.seq == 0 || redaction.seq > found->second.head()) {
    return fail(Code::not_found, "no such record");
  }
  Session& session = found->second;
  session.records[redaction.seq - 1].bytes = std::move(redaction.replacement);
  for (const Hash& hash : redaction.blobs) {
    blobs_.erase(hash);
    for (auto& [id, owner] : sessions_) owner.blobs.erase(hash);
  }
  session.snapshot.reset();
  return {};
}

}  // namespace perdure
