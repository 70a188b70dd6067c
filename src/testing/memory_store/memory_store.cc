#include "testing/memory_store/memory_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "store/append_check.h"

namespace perdure {

namespace {

// Encloses every match in \x02 and \x03.
std::string mark(std::string_view text, std::string_view query) {
  std::string marked;
  while (true) {
    const std::size_t at = text.find(query);
    marked += text.substr(0, at);
    if (at == std::string_view::npos) return marked;
    marked += '\x02';
    marked += query;
    marked += '\x03';
    text.remove_prefix(at + query.size());
  }
}

bool is_asked(const SearchAsk& ask, const SearchText& text) {
  const bool in_group = text.kind.starts_with(ask.kind + ".");
  return (ask.kind.empty() || text.kind == ask.kind || in_group) &&
         (!ask.since || text.at >= *ask.since) && (!ask.until || text.at < *ask.until);
}

std::unexpected<Error> unknown_session(SessionId session) {
  return fail(Code::not_found, "no session " + session.text());
}

}  // namespace

std::unique_ptr<MemoryStore> MemoryStore::open(MemoryDisk& disk, MemoryOptions options) {
  return std::unique_ptr<MemoryStore>(new MemoryStore(disk, std::move(options)));
}

MemoryStore::MemoryStore(MemoryDisk& disk, MemoryOptions options)
    : disk_(disk), options_(std::move(options)), life_(disk.life_) {
  disk_.sync();
  epoch_ = ++disk_.epoch_;
  if (is_shared()) {
    disk_.nodes_[options_.node] = {
        .epoch = epoch_, .home = options_.home, .heard_ms = options_.now_ms()};
  }
}

void MemoryStore::append(Append batch, Done done) {
  if (is_dead()) return;
  queue_.push_back({std::move(batch), std::move(done)});
}

bool MemoryStore::step() {
  if (is_dead() || is_idle()) return false;
  const CommitFault fault = std::exchange(fault_, CommitFault::none);
  if (in_flight_.empty()) write_group(fault);
  if (fault != CommitFault::slow_sync) end_sync(fault);
  return true;
}

void MemoryStore::write_group(CommitFault fault) {
  CHECK(is_shared() || is_fenced() || !disk_.has_unsynced_tail(), "one group at a time");
  if (is_shared()) disk_.sync();  // another daemon's group: commits are serialized
  disk_.tail_epoch_ = epoch_;
  std::vector<Queued> queue = std::exchange(queue_, {});
  GroupView group;
  in_flight_.reserve(queue.size());
  for (Queued& queued : queue) {
    Append& batch = queued.batch;
    Result<> valid = validate(batch, fault, group);
    if (valid) {
      group.heads[batch.session] = batch.expected_head + batch.records.size();
      if (!batch.outbox_add.empty()) {
        group.outbox_last[batch.session] = batch.outbox_add.back().number;
      }
      for (const StoredAnswer& answer : batch.answers) group.answer_keys.insert(answer.key);
      for (const Blob& blob : batch.blobs) group.blobs.insert(blob.hash);
      disk_.tail_.push_back(std::move(batch));
    }
    in_flight_.push_back({std::move(queued.done), std::move(valid)});
  }
}

void MemoryStore::end_sync(CommitFault fault) {
  if (fault == CommitFault::eio_unknown) {
    SIM_PROBE("store: sync fails, outcome unknown");
    dead_ = true;
    queue_.clear();
    in_flight_.clear();
    if (options_.on_fatal) options_.on_fatal(Error(Code::storage_unknown, "sync failed"));
    return;
  }
  // A daemon of several that was fenced since keeps what it wrote before.
  if (!is_fenced() || is_shared()) disk_.sync();
  std::vector<InFlight> group = std::exchange(in_flight_, {});
  for (InFlight& in_flight : group) {
    if (is_dead()) return;  // an earlier Done crashed the machine
    if (in_flight.done) in_flight.done(std::move(in_flight.result));
  }
}

Result<> MemoryStore::validate(const Append& batch, CommitFault fault,
                               const GroupView& group) const {
  TRY_VOID(check_batch(batch));
  TRY_VOID(check_owner(batch));
  const MemoryDisk::Session* session = disk_.find(batch.session);
  if (session && session->damaged_at) {
    return fail(Code::damaged, batch.session.text() + " is damaged at record " +
                                   std::to_string(*session->damaged_at));
  }
  auto moved = group.heads.find(batch.session);
  const Seq head = moved != group.heads.end() ? moved->second : session ? session->head() : 0;
  if (batch.expected_head != head) {
    return fail(Code::conflict, "the head is " + std::to_string(head) + ", not " +
                                    std::to_string(batch.expected_head));
  }
  TRY_VOID(validate_rows(batch, group));
  if (fault == CommitFault::unavailable) return fail(Code::unavailable, "the server is away");
  if (fault == CommitFault::disk_full && !batch.essential) {
    SIM_PROBE("store: disk full");
    return fail(Code::disk_full, "the disk is full");
  }
  return {};
}

bool MemoryStore::is_fenced() const {
  return epoch_ < (is_shared() ? disk_.nodes_.at(options_.node).epoch : disk_.epoch_);
}

Result<> MemoryStore::check_owner(const Append& batch) const {
  const auto stale = [&](std::uint64_t newer) {
    return fail(Code::stale_owner,
                "epoch " + std::to_string(batch.epoch) + " is older than " + std::to_string(newer));
  };
  if (is_fenced()) return stale(disk_.epoch_);
  if (!is_shared()) return batch.epoch < epoch_ ? Result<>(stale(epoch_)) : Result<>();
  if (batch.by_all) return {};
  return holds({batch.session, batch.epoch}) ? Result<>() : Result<>(stale(disk_.epoch_));
}

bool MemoryStore::holds(const OwnedSession& owned) const {
  const auto lease = disk_.leases_.find(owned.session);
  return lease != disk_.leases_.end() && lease->second.node == options_.node &&
         lease->second.epoch == owned.epoch;
}

void MemoryStore::beat() {
  if (!is_dead() && !is_fenced()) disk_.nodes_[options_.node].heard_ms = options_.now_ms();
}

bool MemoryStore::is_silent(const MemoryDisk::LeaseRow& lease) const {
  return disk_.nodes_.at(lease.node).heard_ms + options_.lease_ms < options_.now_ms();
}

bool MemoryStore::may_take(SessionId session) const {
  const auto lease = disk_.leases_.find(session);
  return lease == disk_.leases_.end() || lease->second.node == options_.node ||
         lease->second.offered == options_.home || is_silent(lease->second);
}

Result<Lease> MemoryStore::own(SessionId session) {
  if (!is_shared()) return Lease{.epoch = epoch_};
  if (is_dead()) return fail(Code::unavailable, "the store is dead");
  if (away_ == Away::when_owned) return fail(Code::unavailable, "the server is away");
  if (is_fenced()) return fail(Code::stale_owner, "a newer instance of this node is there");
  if (!may_take(session)) return Lease{.node = disk_.leases_.at(session).node};
  disk_.sync();  // makes the previous owner's unsynced writes durable
  MemoryDisk::LeaseRow& lease = disk_.leases_[session];
  const bool is_anothers = !lease.node.empty() && lease.node != options_.node;
  if (is_anothers) SIM_PROBE("store: a session taken from another daemon");
  // Agentctls compare epochs: a later owner needs a higher one.
  if (lease.node != options_.node || lease.epoch < epoch_) {
    lease = {.node = options_.node, .epoch = is_anothers ? ++disk_.epoch_ : epoch_, .offered = {}};
  }
  return Lease{.epoch = lease.epoch};
}

Result<std::vector<SessionId>> MemoryStore::orphans(std::size_t limit) {
  std::vector<SessionId> out;
  if (!is_shared()) return out;
  for (const SessionId session : disk_.open_) {
    const auto lease = disk_.leases_.find(session);
    const bool is_ours = lease != disk_.leases_.end() && lease->second.node == options_.node;
    if (!is_ours && out.size() < limit && may_take(session)) out.push_back(session);
  }
  return out;
}

Result<std::vector<SessionId>> MemoryStore::lost(std::span<const OwnedSession> owned) {
  if (away_ == Away::when_owned) return fail(Code::unavailable, "the server is away");
  std::vector<SessionId> out;
  if (!is_shared()) return out;
  for (const OwnedSession& one : owned) {
    if (!holds(one)) out.push_back(one.session);
  }
  return out;
}

Result<> MemoryStore::offer(const OwnedSession& owned, const std::string& home) {
  if (away_ == Away::when_offered) return fail(Code::unavailable, "the server is away");
  if (holds(owned) && !is_dead()) disk_.leases_.at(owned.session).offered = home;
  return {};
}

Result<> MemoryStore::validate_rows(const Append& batch, const GroupView& group) const {
  const MemoryDisk::Session* session = disk_.find(batch.session);
  auto moved = group.outbox_last.find(batch.session);
  std::uint64_t outbox_last = moved != group.outbox_last.end() ? moved->second
                              : session                        ? session->outbox_last
                                                               : 0;
  for (const OutboxRow& row : batch.outbox_add) {
    if (row.number <= outbox_last) {
      return fail(Code::invalid_argument, "outbox numbers only grow");
    }
    outbox_last = row.number;
  }
  for (const StoredAnswer& answer : batch.answers) {
    if (disk_.answers_.contains(answer.key) || group.answer_keys.contains(answer.key)) {
      return fail(Code::conflict, "the key '" + answer.key + "' has its answer already");
    }
  }
  for (const Hash& hash : batch.blob_refs) {
    if (disk_.blobs_.contains(hash) || group.blobs.contains(hash)) continue;
    return fail(Code::not_found, "no such blob: " + hash.hex());
  }
  return {};
}

Result<RecordPage> MemoryStore::read(SessionId session, ReadRange range) {
  if (away_ == Away::when_read) return fail(Code::unavailable, "the server is away");
  const MemoryDisk::Session* found = disk_.find(session);
  if (!found) return unknown_session(session);
  if (range.after > found->head()) {
    return fail(Code::cursor_invalid, "record " + std::to_string(range.after) +
                                          " is beyond the head " + std::to_string(found->head()));
  }
  const Seq good = found->damaged_at ? *found->damaged_at - 1 : found->head();
  if (found->damaged_at && range.after >= good) {
    return fail(Code::damaged, session.text() + " has " + std::to_string(good) + " good records");
  }
  RecordPage page;
  const std::size_t count = std::min<std::size_t>(range.limit, good - range.after);
  page.records.reserve(count);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& record = found->records[range.after + i].bytes;
    page.records.push_back(record);
    bytes += record.size();
    if (bytes >= range.bytes_max) break;
  }
  if (!page.records.empty()) page.first = range.after + 1;
  return page;
}

Result<SessionHead> MemoryStore::head(SessionId session) {
  if (away_ == Away::when_read) return fail(Code::unavailable, "the server is away");
  const MemoryDisk::Session* found = disk_.find(session);
  if (!found) return unknown_session(session);
  return SessionHead{found->head(), found->cursor};
}

Result<std::optional<StoredSnapshot>> MemoryStore::snapshot(SessionId session) {
  const MemoryDisk::Session* found = disk_.find(session);
  if (!found) return unknown_session(session);
  return found->snapshot;
}

Result<std::vector<OutboxRow>> MemoryStore::outbox(SessionId session) {
  const MemoryDisk::Session* found = disk_.find(session);
  if (!found) return unknown_session(session);
  std::vector<OutboxRow> rows;
  rows.reserve(found->outbox.size());
  for (const auto& [number, payload] : found->outbox) rows.push_back({number, payload});
  return rows;
}

Result<std::optional<StoredAnswer>> MemoryStore::answer(std::string_view key) {
  if (away_ == Away::when_asked_for_a_key) return fail(Code::unavailable, "the server is away");
  auto found = disk_.answers_.find(key);
  if (found == disk_.answers_.end()) return std::nullopt;
  return found->second;
}

Result<std::optional<SessionId>> MemoryStore::find_ref(std::string_view ref) {
  auto found = disk_.refs_.find(ref);
  if (found == disk_.refs_.end()) return std::nullopt;
  return found->second;
}

Result<std::string> MemoryStore::blob(const Hash& hash) {
  auto found = disk_.blobs_.find(hash);
  if (found == disk_.blobs_.end()) return fail(Code::not_found, "no blob " + hash.hex());
  return found->second.bytes;
}

Result<std::vector<SessionId>> MemoryStore::open_sessions() {
  if (away_ == Away::when_listed) return fail(Code::unavailable, "the server is away");
  std::vector<SessionId> out;
  for (const SessionId session : disk_.open_) {
    if (!is_shared() || may_take(session)) out.push_back(session);
  }
  return out;
}

Result<std::vector<ListedSession>> MemoryStore::list(SessionId after, std::size_t limit) {
  if (away_ == Away::when_paged && after) return fail(Code::unavailable, "the server is away");
  std::vector<ListedSession> listed;
  for (auto at = disk_.sessions_.upper_bound(after);
       at != disk_.sessions_.end() && listed.size() < limit; ++at) {
    listed.push_back({at->first, at->second.listing});
  }
  return listed;
}

std::vector<TextsInMemory::Text> MemoryStore::texts_of(const MemoryDisk::Session& session) const {
  TextsInMemory texts;
  const Seq good = session.damaged_at ? *session.damaged_at - 1 : session.head();
  for (Seq seq = 1; seq <= good; ++seq) {
    const std::string& bytes = session.records[seq - 1].bytes;
    const std::optional<SearchPiece> piece =
        options_.search_piece ? options_.search_piece(bytes) : SearchPiece{.parts = {bytes}};
    if (piece) texts.add(seq, *piece);
  }
  return texts.take();
}

Result<std::vector<SearchHit>> MemoryStore::search(const SearchAsk& ask) {
  if (ask.query.empty()) return std::vector<SearchHit>{};
  std::map<std::uint64_t, SearchHit, std::greater<>> hits;  // by position, newest first
  for (const auto& [id, session] : disk_.sessions_) {
    if (ask.is_wanted && !ask.is_wanted(id)) continue;
    for (const TextsInMemory::Text& text : texts_of(session)) {
      if (!text.words.contains(ask.query) || !is_asked(ask, text.about)) continue;
      hits.emplace(session.records[text.about.first - 1].position,
                   SearchHit{.session = id,
                             .seq = text.about.seq,
                             .kind = text.about.kind,
                             .at = text.about.at,
                             .snippet = mark(text.words, ask.query)});
      if (hits.size() > ask.limit) hits.erase(std::prev(hits.end()));
    }
  }
  std::vector<SearchHit> newest_first;
  for (auto& [position, hit] : hits) newest_first.push_back(std::move(hit));
  return newest_first;
}

Result<> MemoryStore::remove(SessionId session) {
  if (is_dead()) return fail(Code::storage_unknown, "the store is dead");
  if (is_fenced()) return fail(Code::stale_owner, "a newer owner holds the store");
  const MemoryDisk::Session* const found = disk_.find(session);
  const bool under_way = std::ranges::any_of(disk_.tail_, [&](const Append& batch) {
    return batch.session == session || std::ranges::any_of(batch.blob_refs, [&](const Hash& hash) {
             return found && found->blobs.contains(hash);
           });
  });
  if (under_way) return fail(Code::unavailable, "a commit of the session is under way");
  disk_.remove(session);
  return {};
}

Result<> MemoryStore::redact(Redaction redaction) {
  if (is_dead()) return fail(Code::storage_unknown, "the store is dead");
  if (is_fenced()) return fail(Code::stale_owner, "a newer owner holds the store");
  return disk_.redact(std::move(redaction));
}

}  // namespace perdure
