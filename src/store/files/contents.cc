#include "store/files/contents.h"

#include <algorithm>
#include <utility>

namespace perdure {

RecordPlace place_of(const StoredSession& session) {
  return {.session = session.id,
          .filled = session.filled,
          .filled_bytes = session.filled_bytes,
          .position = session.position};
}

void Contents::touch(StoredSession& session, const Committed& committed) {
  if (!session.unsaved_since) session.unsaved_since = committed.segment;
  unsaved.insert(session.id);
}

void Contents::apply(LoggedChange change, const Committed& committed) {
  Append& batch = change.append;
  StoredSession& session = sessions.try_emplace(batch.session).first->second;
  session.id = batch.session;
  take_answers(batch);
  if (committed.group <= session.saved_position) return;  // its files already contain it
  session.position = committed.group;
  session.quiet_since = committed.idle_step;
  touch(session, committed);
  const bool fits = session.good ? extends_damaged(session, batch)
                                 : !change.records_lost && batch.expected_head == session.head;
  if (!fits) {
    // Happens only with a damaged log: later changes may not fit.
    if (!session.good) session.good = session.head;
    session.head = std::max(
        session.head, batch.expected_head + change.records_lost.value_or(0) + batch.records.size());
    return;
  }
  for (std::string& record : batch.records) {
    tail_bytes += record.size();
    session.tail.push_back({.record = std::move(record), .position = committed.group});
  }
  session.head += batch.records.size();
  if (session.good) session.good = session.head;
  if (!session.tail.empty()) tailed.insert(session.id);
  apply_rows(session, batch, committed);
}

// Answers belong to the store: the session's files do not hold them.
void Contents::take_answers(Append& batch) {
  for (StoredAnswer& answer : batch.answers) {
    std::string key = answer.key;
    if (answers.try_emplace(key, std::move(answer)).second) {
      answers_unsaved.push_back(std::move(key));
    }
  }
}

// A session that lost its rows still has all its records, and the log may extend them.
bool Contents::extends_damaged(StoredSession& session, Append& batch) const {
  const Seq end = batch.expected_head + batch.records.size();
  if (*session.good != session.head || batch.expected_head > session.head || end <= session.head) {
    return false;
  }
  const auto known = static_cast<std::ptrdiff_t>(session.head - batch.expected_head);
  batch.records.erase(batch.records.begin(), batch.records.begin() + known);
  return true;
}

void Contents::apply_rows(StoredSession& session, Append& batch, const Committed& committed) {
  if (batch.cursor) session.cursor = batch.cursor;
  for (OutboxRow& row : batch.outbox_add) session.outbox[row.number] = std::move(row.payload);
  for (const std::uint64_t number : batch.outbox_done) session.outbox.erase(number);
  for (std::string& ref : batch.refs) {
    const auto before = refs.find(ref);
    if (before != refs.end() && before->second != session.id) {
      const auto loser = sessions.find(before->second);
      if (loser != sessions.end()) {
        loser->second.refs.erase(ref);
        touch(loser->second, committed);
      }
    }
    refs[ref] = session.id;
    session.refs.insert(std::move(ref));
  }
  const auto own = [&](const Hash& hash) {
    if (session.blobs.insert(hash).second) ++blob_owners[hash];
  };
  for (const Blob& blob : batch.blobs) own(blob.hash);
  for (const Hash& hash : batch.blob_refs) own(hash);
  if (batch.snapshot) {
    session.snapshot_seq = session.head;
    session.snapshot_unsaved = std::move(batch.snapshot);
  }
  if (batch.listing) {
    session.listing = std::move(batch.listing);
    session.listing->open ? void(open.insert(session.id)) : void(open.erase(session.id));
  }
}

void Contents::add_loaded(StoredSession session) {
  for (const std::string& ref : session.refs) refs[ref] = session.id;
  for (const Hash& hash : session.blobs) ++blob_owners[hash];
  if (session.listing && session.listing->open) open.insert(session.id);
  const SessionId id = session.id;
  sessions.insert_or_assign(id, std::move(session));
}

std::vector<Hash> Contents::erase(SessionId id) {
  std::vector<Hash> orphans;
  const auto found = sessions.find(id);
  if (found == sessions.end()) return orphans;
  for (const std::string& ref : found->second.refs) refs.erase(ref);
  for (const Hash& hash : found->second.blobs) {
    if (--blob_owners[hash] > 0) continue;
    blob_owners.erase(hash);
    orphans.push_back(hash);
  }
  for (const TailRecord& tail : found->second.tail) tail_bytes -= tail.record.size();
  open.erase(id);
  tailed.erase(id);
  unsaved.erase(id);
  sessions.erase(found);
  return orphans;
}

void Contents::drop_blobs(const std::vector<Hash>& blobs, const Committed& committed) {
  for (const Hash& hash : blobs) {
    std::size_t owners = 0;
    for (auto& [id, session] : sessions) {
      if (session.saved_position >= committed.group) {
        owners += session.blobs.count(hash);
      } else if (session.blobs.erase(hash) > 0) {
        touch(session, committed);
      }
    }
    owners > 0 ? void(blob_owners[hash] = owners) : void(blob_owners.erase(hash));
  }
}

void Contents::set_filled(StoredSession& session, const RecordFiles::Filled& filled) {
  while (session.filled < filled.filled && !session.tail.empty()) {
    tail_bytes -= session.tail.front().record.size();
    session.tail.pop_front();
    session.filled += 1;
  }
  session.filled_bytes = filled.filled_bytes;
  if (session.tail.empty()) tailed.erase(session.id);
}

void Contents::set_saved(StoredSession& session) {
  session.saved_position = session.position;
  session.unsaved_since.reset();
  session.snapshot_unsaved.reset();
  unsaved.erase(session.id);
}

}  // namespace perdure
