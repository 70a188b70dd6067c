#include "testing/store/store_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/check.h"

namespace perdure {

namespace {

void expect_records_equal(Store& store, SessionId id, const SessionModel& session) {
  auto head = store.head(id);
  ASSERT_TRUE(head) << id.text() << ": " << head.error().message();
  EXPECT_EQ(head->seq, session.records.size()) << id.text();
  EXPECT_EQ(head->cursor, session.cursor) << id.text();
  std::vector<std::string> records;
  while (true) {
    auto page = store.read(id, {.after = records.size(), .limit = 37});
    ASSERT_TRUE(page) << id.text() << ": " << page.error().message();
    if (page->records.empty()) break;
    ASSERT_EQ(page->first, records.size() + 1) << id.text();
    records.insert(records.end(), page->records.begin(), page->records.end());
  }
  ASSERT_EQ(records.size(), session.records.size()) << id.text();
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_TRUE(records[i] == session.records[i]) << id.text() << " record " << i + 1;
  }
}

void expect_rows_equal(Store& store, SessionId id, const SessionModel& session) {
  std::vector<OutboxRow> outbox;
  for (const auto& [number, payload] : session.outbox) outbox.push_back({number, payload});
  auto stored = store.outbox(id);
  ASSERT_TRUE(stored) << id.text() << ": " << stored.error().message();
  EXPECT_TRUE(*stored == outbox) << id.text() << " has " << stored->size() << " outbox rows, not "
                                 << outbox.size();
  auto snapshot = store.snapshot(id);
  ASSERT_TRUE(snapshot) << id.text() << ": " << snapshot.error().message();
  ASSERT_EQ(snapshot->has_value(), session.snapshot.has_value()) << id.text();
  if (session.snapshot) {
    EXPECT_EQ((*snapshot)->seq, session.snapshot->seq) << id.text();
    EXPECT_TRUE((*snapshot)->bytes == session.snapshot->bytes) << id.text();
  }
  for (const std::string& ref : session.refs) {
    auto found = store.find_ref(ref);
    ASSERT_TRUE(found && *found) << id.text() << " is not found by " << ref;
    EXPECT_EQ(**found, id) << ref;
  }
}

void expect_list_equals(Store& store, const StoreModel& model) {
  std::vector<SessionId> open;
  for (const auto& [id, session] : model.sessions) {
    if (session.listing && session.listing->open) open.push_back(id);
  }
  auto stored_open = store.open_sessions();
  ASSERT_TRUE(stored_open) << stored_open.error().message();
  std::ranges::sort(*stored_open);
  EXPECT_TRUE(*stored_open == open) << stored_open->size() << " open, not " << open.size();
  auto listed = store.list(SessionId(), model.sessions.size() + 1);
  ASSERT_TRUE(listed) << listed.error().message();
  ASSERT_EQ(listed->size(), model.sessions.size());
  std::size_t at = 0;
  for (const auto& [id, session] : model.sessions) {
    EXPECT_EQ((*listed)[at].session, id);
    EXPECT_TRUE((*listed)[at].listing == session.listing.value_or(Listing{})) << id.text();
    ++at;
  }
}

}  // namespace

Seq StoreModel::head(SessionId session) const {
  auto found = sessions.find(session);
  return found == sessions.end() ? 0 : found->second.records.size();
}

std::optional<Code> StoreModel::refusal(const Append& batch, std::uint64_t epoch) const {
  if (batch.epoch < epoch) return Code::stale_owner;
  if (batch.expected_head != head(batch.session)) return Code::conflict;
  std::set<std::string> own;
  for (const StoredAnswer& answer : batch.answers) {
    if (answers.contains(answer.key) || !own.insert(answer.key).second) return Code::conflict;
  }
  for (const Hash& hash : batch.blob_refs) {
    if (!blobs.contains(hash)) return Code::not_found;
  }
  return std::nullopt;
}

void StoreModel::apply(const Append& batch) {
  SessionModel& session = sessions[batch.session];
  CHECK(session.records.size() == batch.expected_head);
  session.records.insert(session.records.end(), batch.records.begin(), batch.records.end());
  if (batch.cursor) session.cursor = batch.cursor;
  for (const OutboxRow& row : batch.outbox_add) {
    session.outbox[row.number] = row.payload;
    session.outbox_last = row.number;
  }
  for (std::uint64_t number : batch.outbox_done) session.outbox.erase(number);
  for (const StoredAnswer& answer : batch.answers) answers[answer.key] = answer;
  session.refs.insert(batch.refs.begin(), batch.refs.end());
  for (const Blob& blob : batch.blobs) {
    blobs[blob.hash] = blob.bytes;
    session.blobs.insert(blob.hash);
  }
  session.blobs.insert(batch.blob_refs.begin(), batch.blob_refs.end());
  if (batch.snapshot) session.snapshot = StoredSnapshot{session.records.size(), *batch.snapshot};
  if (batch.listing) session.listing = batch.listing;
}

void StoreModel::remove(SessionId session) {
  sessions.erase(session);
  std::erase_if(blobs, [&](const auto& blob) {
    return std::ranges::none_of(
        sessions, [&](const auto& other) { return other.second.blobs.contains(blob.first); });
  });
}

void expect_store_equals(Store& store, const StoreModel& model) {
  for (const auto& [id, session] : model.sessions) {
    expect_records_equal(store, id, session);
    expect_rows_equal(store, id, session);
  }
  expect_list_equals(store, model);
  for (const auto& [key, answer] : model.answers) {
    auto stored = store.answer(key);
    ASSERT_TRUE(stored && *stored) << "the answer to " << key << " is gone";
    EXPECT_TRUE(**stored == answer) << key;
  }
  for (const auto& [hash, bytes] : model.blobs) {
    auto stored = store.blob(hash);
    ASSERT_TRUE(stored) << "the blob " << hash.hex() << ": " << stored.error().message();
    EXPECT_TRUE(*stored == bytes) << hash.hex();
  }
}

}  // namespace perdure
