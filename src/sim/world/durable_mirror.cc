#include "sim/world/durable_mirror.h"

#include <algorithm>
#include <utility>

#include "sim/world/universe.h"

namespace perdure::sim {
namespace {

constexpr std::size_t page_records = 500;

// All readable records; of a damaged session, those before the damage.
Result<std::vector<std::string>> read_records(Store& store, SessionId session) {
  std::vector<std::string> records;
  while (true) {
    RecordPage page = TRY(store.read(session, {.after = records.size(), .limit = page_records}));
    if (page.records.empty()) return records;
    for (std::string& record : page.records) records.push_back(std::move(record));
  }
}

bool has_answers(Store& store, const Append& batch) {
  return std::ranges::all_of(batch.answers, [&](const StoredAnswer& answer) {
    const Result<std::optional<StoredAnswer>> stored = store.answer(answer.key);
    return stored && *stored && **stored == answer;
  });
}

}  // namespace

DurableMirror::BatchNumber DurableMirror::begin(Append batch) {
  under_way_.push_back({.number = ++last_number_, .batch = std::move(batch)});
  return last_number_;
}

void DurableMirror::answered(BatchNumber number, const Result<>& result) {
  const auto found = std::ranges::find(under_way_, number, &UnderWay::number);
  if (found == under_way_.end()) return;  // removed together with its session
  const Append batch = std::move(found->batch);
  under_way_.erase(found);
  if (result) apply(batch);
}

void DurableMirror::apply(const Append& batch) {
  if (model_.head(batch.session) == batch.expected_head) return model_.apply(batch);
  verdict_.expect(damaged_.contains(batch.session), "J3", [&] {
    return tail(batch.session) + ": a batch for head " + std::to_string(batch.expected_head) +
           " was taken at " + std::to_string(model_.head(batch.session));
  });
}

void DurableMirror::remove(SessionId session) {
  model_.remove(session);
  std::erase_if(under_way_, [&](const UnderWay& one) { return one.batch.session == session; });
}

const SessionModel* DurableMirror::find(SessionId session) const {
  const auto found = model_.sessions.find(session);
  return found == model_.sessions.end() ? nullptr : &found->second;
}

void DurableMirror::set_snapshots_damaged(std::string_view text) {
  for (const auto& [session, one] : model_.sessions) {
    if (one.snapshot && one.snapshot->bytes.contains(text)) snapshots_damaged_.insert(session);
  }
}

std::size_t DurableMirror::texts_with(std::string_view bytes) const {
  std::size_t count = 0;
  const auto look = [&](std::string_view text) { count += text.contains(bytes) ? 1 : 0; };
  for (const auto& [session, one] : model_.sessions) {
    for (const std::string& record : one.records) look(record);
    for (const auto& [number, payload] : one.outbox) look(payload);
    if (one.listing) look(one.listing->summary);
  }
  for (const auto& [key, answer] : model_.answers) look(answer.answer);
  return count;
}

SessionModel DurableMirror::read_session(Store& fresh, const ListedSession& listed) {
  const SessionId session = listed.session;
  const auto fail = [&](const Error& error) {
    verdict_.fail("DISK3", tail(session) + ": cannot be read after a crash: " + error.message());
    return SessionModel{};
  };
  SessionModel found{.listing = listed.listing};
  const Result<SessionHead> head = fresh.head(session);
  if (!head) return fail(head.error());
  found.cursor = head->cursor;
  Result<std::vector<std::string>> records = read_records(fresh, session);
  if (!records) return fail(records.error());
  found.records = *std::move(records);
  if (found.records.size() != head->seq) return fail({Code::damaged, "its head is elsewhere"});
  Result<std::vector<OutboxRow>> outbox = fresh.outbox(session);
  if (!outbox) return fail(outbox.error());
  for (OutboxRow& row : *outbox) found.outbox[row.number] = std::move(row.payload);
  Result<std::optional<StoredSnapshot>> snapshot = fresh.snapshot(session);
  if (!snapshot) return fail(snapshot.error());
  found.snapshot = *std::move(snapshot);
  return found;
}

std::string DurableMirror::difference(SessionId session, const SessionModel& found,
                                      const SessionModel& wanted) const {
  if (found.records != wanted.records) return "records";
  if (found.cursor != wanted.cursor) return "frame cursor";
  if (found.outbox != wanted.outbox) return "outbox";
  if (found.listing.value_or(Listing{}) != wanted.listing.value_or(Listing{})) return "listing";
  if (snapshots_damaged_.contains(session)) return "";
  const auto& a = found.snapshot;
  const auto& b = wanted.snapshot;
  const bool is_same =
      a.has_value() == b.has_value() && (!a || (a->seq == b->seq && a->bytes == b->bytes));
  return is_same ? "" : "snapshot";
}

bool DurableMirror::choose(SessionId session, const SessionModel& found, const StoreModel& before,
                           std::span<const UnderWay* const> rest,
                           std::set<BatchNumber>& there) const {
  if (rest.empty()) {
    const auto at = before.sessions.find(session);
    const SessionModel& wanted = at == before.sessions.end() ? SessionModel{} : at->second;
    return difference(session, found, wanted).empty();
  }
  const UnderWay& next = *rest.front();
  if (before.head(session) == next.batch.expected_head) {
    StoreModel with = before;
    with.apply(next.batch);
    there.insert(next.number);
    if (choose(session, found, with, rest.subspan(1), there)) return true;
    there.erase(next.number);
  }
  return choose(session, found, before, rest.subspan(1), there);
}

// For a session that we damaged, only the head is trusted.
void DurableMirror::choose_damaged(Seq head, std::span<const UnderWay* const> rest,
                                   std::set<BatchNumber>& there) {
  for (const UnderWay* const one : rest) {
    if (one->batch.expected_head + one->batch.records.size() <= head) there.insert(one->number);
  }
}

void DurableMirror::settle_session(Store& fresh, const ListedSession& listed,
                                   std::set<BatchNumber>& there) {
  const SessionId session = listed.session;
  std::vector<const UnderWay*> rest;  // those that may be stored
  for (const UnderWay& one : under_way_) {
    if (one.batch.session == session && has_answers(fresh, one.batch)) rest.push_back(&one);
  }
  if (damaged_.contains(session)) {
    const Result<SessionHead> head = fresh.head(session);
    return choose_damaged(head ? head->seq : 0, rest, there);
  }
  const SessionModel found = read_session(fresh, listed);
  if (verdict_.is_bad()) return;
  StoreModel before;
  const SessionModel* const known = find(session);
  if (known) before.sessions.emplace(session, *known);
  if (choose(session, found, before, rest, there)) return;
  const Seq head = before.head(session);
  verdict_.fail(found.records.size() < head ? "J1" : "J3",
                tail(session) + ": a crash left " + std::to_string(found.records.size()) +
                    " records, " + std::to_string(head) + " were acknowledged, " +
                    std::to_string(rest.size()) +
                    " batches were under way; without them differs: " +
                    difference(session, found, known ? *known : SessionModel{}));
}

// Checks what is not specific to one session.
void DurableMirror::check_keys(Store& fresh) {
  for (const auto& [key, answer] : model_.answers) {
    const Result<std::optional<StoredAnswer>> stored = fresh.answer(key);
    verdict_.expect(stored && *stored && **stored == answer, "ACK3",
                    [&] { return "the answer to " + key + " did not survive a crash"; });
  }
  for (const UnderWay& one : under_way_) {  // stored ones have been applied
    for (const StoredAnswer& answer : one.batch.answers) {
      const Result<std::optional<StoredAnswer>> stored = fresh.answer(answer.key);
      const bool is_there = !stored || stored->has_value();
      verdict_.expect(is_there == model_.answers.contains(answer.key), "J3",
                      [&] { return "of a batch that is not there the answer is"; });
    }
  }
  for (const auto& [hash, bytes] : model_.blobs) {
    const Result<std::string> stored = fresh.blob(hash);
    verdict_.expect(stored && *stored == bytes, "J1",
                    [&] { return "the blob " + hash.hex() + " did not survive a crash"; });
  }
  for (const auto& [session, one] : model_.sessions) {
    for (const std::string& ref : one.refs) {
      const Result<std::optional<SessionId>> found = fresh.find_ref(ref);
      verdict_.expect(found && found->has_value(), "J1",
                      [&] { return tail(session) + " is not found by " + ref + " any more"; });
    }
  }
}

std::size_t DurableMirror::settle(Store& fresh) {
  const Result<std::vector<ListedSession>> listed = fresh.list({}, SIZE_MAX);
  if (!listed) {
    verdict_.fail("DISK3", "sessions cannot be listed: " + listed.error().message());
    return 0;
  }
  std::set<BatchNumber> there;
  std::set<SessionId> seen;
  for (const ListedSession& one : *listed) {
    seen.insert(one.session);
    settle_session(fresh, one, there);
  }
  for (const auto& [session, known] : model_.sessions) {
    verdict_.expect(seen.contains(session) || damaged_.contains(session), "J1",
                    [&] { return tail(session) + ": a crash took the session"; });
  }
  for (const UnderWay& one : under_way_) {
    if (there.contains(one.number)) apply(one.batch);
  }
  if (!verdict_.is_bad()) check_keys(fresh);
  under_way_.clear();
  return there.size();
}

}  // namespace perdure::sim
