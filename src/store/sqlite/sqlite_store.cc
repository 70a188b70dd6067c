#include "store/sqlite/sqlite_store.h"

#include <algorithm>

#include "base/limits.h"
#include "store/sqlite/group_writer.h"
#include "store/sqlite/index/codec.h"
#include "store/sqlite/index/search.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/store_parts.h"

namespace perdure {
namespace {

std::unexpected<Error> damaged_row(std::string_view what) {
  return fail(Code::damaged, std::string(what) + " is damaged");
}

Result<SessionId> session_id(std::string_view bytes) {
  const std::optional<Ulid> ulid = ulid_of(bytes);
  if (!ulid) return damaged_row("a session's id");
  return SessionId(*ulid);
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options) {
  auto parts = std::make_unique<Parts>(options);
  parts->writer = TRY(Writer::open(options, parts->index));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
}

bool SqliteStore::step() { return parts_->writer->step(); }
bool SqliteStore::idle_step() { return parts_->writer->idle_step(); }
bool SqliteStore::wait_for_work(std::chrono::milliseconds timeout) {
  return parts_->writer->wait_for_work(timeout);
}
void SqliteStore::wake() { parts_->writer->wake(); }
Result<> SqliteStore::shut_down() { return parts_->writer->shut_down(); }
Result<> SqliteStore::backup(std::string path, Done done) {
  return parts_->writer->backup(std::move(path), std::move(done));
}
Result<> SqliteStore::rebuild_search() { return parts_->writer->rebuild_search(); }
Result<> SqliteStore::rebuild_index() { return parts_->writer->rebuild_index(); }
bool SqliteStore::retry_space() { return parts_->writer->retry_space(); }
Result<> SqliteStore::forget_answers(Timestamp now) { return parts_->writer->forget_answers(now); }
SqliteStats SqliteStore::stats() { return parts_->writer->stats(); }
void SqliteStore::append(Append batch, Done done) {
  parts_->writer->append(std::move(batch), std::move(done));
}
Result<> SqliteStore::remove(SessionId session) { return parts_->writer->remove(session); }
Result<> SqliteStore::redact(Redaction redaction) { return parts_->writer->redact(redaction); }
std::string SqliteStore::bytes_kept() const {
  return parts_->writer->is_scrub_due() ? "the journal has no readers; then it is scrubbed" : "";
}
std::uint64_t SqliteStore::epoch() const { return parts_->writer->epoch(); }
const std::string& SqliteStore::log_id() const { return parts_->writer->log_id(); }

Result<IndexedView> SqliteStore::Parts::view(StoreReader& reader, SessionId session,
                                             SeqRange range) {
  IndexedView out;
  const auto look = [&](const IndexedSession& state) {
    out = {.sid = state.sid,
           .head = state.head,
           .flushed = state.flushed,
           .good = state.good,
           .cursor = state.cursor,
           .tail_first = state.flushed + 1};
    if (range.last <= state.flushed) return;
    for (const EntryRef& ref : state.tail) {
      const Seq next = out.tail_first + ref.count;
      if (out.tail.empty() && next <= range.after + 1) {
        out.tail_first = next;
        continue;
      }
      if (out.tail_first + records_in(out.tail) > range.last) break;
      out.tail.push_back(ref);
    }
  };
  while (!index.visit(session, look)) {
    const std::uint64_t generation = index.generation();
    std::optional<IndexedSession> loaded = TRY(load_session(reader.load_session, session));
    if (index.visit(session, look)) break;
    if (!loaded) {
      if (generation != index.generation()) continue;
      return fail(Code::not_found, "no such session: " + session.text());
    }
    // Use the copy: a cache full of unflushed sessions may not keep it.
    look(*loaded);
    if (index.offer(*std::move(loaded), generation)) break;
  }
  return out;
}

Result<RecordPage> SqliteStore::read(SessionId session, ReadRange range) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const Seq wanted_last = range.after + std::min<Seq>(range.limit, UINT64_MAX - range.after);
  SeqRange seqs{.after = range.after, .last = wanted_last};
  const IndexedView view = TRY(parts_->view(*reader, session, seqs));
  if (range.after > view.head) {
    return fail(Code::cursor_invalid, "the cursor " + std::to_string(range.after) +
                                          " is beyond the head " + std::to_string(view.head));
  }
  if (view.good && range.after >= *view.good) {
    return fail(Code::damaged,
                "the session is damaged behind record " + std::to_string(*view.good));
  }
  seqs.last = std::min({wanted_last, view.head, view.good.value_or(view.head)});
  RecordPage page;
  if (seqs.last <= seqs.after) return page;
  const ReadTransaction transaction = TRY(ReadTransaction::begin(*reader));
  std::size_t bytes = 0;
  Seq good = seqs.after;
  const Result<> done = reader->records(view, seqs, &good, [&](Seq seq, std::string_view record) {
    if (page.records.empty()) page.first = seq;
    page.records.emplace_back(record);
    bytes += record.size();
    return bytes < range.bytes_max;
  });
  TRY_VOID(reader->put_redactions(view, page));
  if (done) return page;
  if (done.error().code() == Code::damaged) parts_->index.mark_damaged(session, good);
  if (done.error().code() == Code::damaged && !page.records.empty()) return page;
  return std::unexpected(done.error());
}

Result<SessionHead> SqliteStore::head(SessionId session) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const IndexedView view = TRY(parts_->view(*reader, session, {}));
  return SessionHead{.seq = view.head, .cursor = view.cursor};
}

Result<std::optional<StoredSnapshot>> SqliteStore::snapshot(SessionId session) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const IndexedView view = TRY(parts_->view(*reader, session, {}));
  Query query(reader->snapshot);
  if (!TRY(query->bind_u64(1, view.sid).step())) return std::nullopt;
  const Seq seq = query->u64(0);
  const auto bytes = unseal(snapshot_key(view.sid, seq), query->bytes(1));
  // A snapshot only saves work: without it, records are read from the first one.
  if (!bytes) return std::nullopt;
  return StoredSnapshot{.seq = seq, .bytes = std::string(*bytes)};
}

Result<std::vector<OutboxRow>> SqliteStore::outbox(SessionId session) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const IndexedView view = TRY(parts_->view(*reader, session, {}));
  std::vector<OutboxRow> out;
  Query query(reader->outbox);
  query->bind_u64(1, view.sid);
  while (TRY(query->step())) {
    const std::uint64_t number = query->u64(0);
    const auto payload = unseal(outbox_key(view.sid, number), query->bytes(1));
    if (!payload) return damaged_row("the outbox of " + session.text());
    out.push_back({.number = number, .payload = std::string(*payload)});
  }
  return out;
}

Result<std::optional<StoredAnswer>> SqliteStore::answer(std::string_view key) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  Query query(reader->answer);
  if (!TRY(query->bind_text(1, key).step())) return std::nullopt;
  StoredAnswer out{.key = std::string(key)};
  if (!query->is_null(0)) out.expires = Timestamp{query->int64(0)};
  const auto payload = unseal(key, query->bytes(1));
  if (!payload || payload->size() < out.body.bytes.size()) return damaged_row("a stored answer");
  std::copy_n(payload->begin(), out.body.bytes.size(), out.body.bytes.begin());
  out.answer = payload->substr(out.body.bytes.size());
  return out;
}

Result<std::optional<SessionId>> SqliteStore::find_ref(std::string_view ref) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  Query query(reader->find_ref);
  if (!TRY(query->bind_text(1, ref).step())) return std::nullopt;
  return TRY(session_id(query->bytes(0)));
}

Result<std::string> SqliteStore::blob(const Hash& hash) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const std::string_view key(reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size());
  Query query(reader->blob);
  if (!TRY(query->bind_blob(1, key).step())) {
    return fail(Code::not_found, "no such blob: " + hash.hex());
  }
  std::string bytes(query->bytes(0));
  if (sha256(bytes) != hash) return damaged_row("the blob " + hash.hex());
  return bytes;
}

Result<std::vector<SessionId>> SqliteStore::open_sessions() {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  std::vector<SessionId> out;
  Query query(reader->open_sessions);
  while (TRY(query->step())) out.push_back(TRY(session_id(query->bytes(0))));
  return out;
}

Result<std::vector<ListedSession>> SqliteStore::list(SessionId after, std::size_t limit) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const std::string from = id_bytes(after.ulid());
  const auto count = static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX));
  std::vector<ListedSession> out;
  Query query(reader->list);
  query->bind_blob(1, from).bind(2, count);
  while (TRY(query->step())) {
    ListedSession& line = out.emplace_back();
    line.session = TRY(session_id(query->bytes(0)));
    line.listing = {.open = query->int64(1) != 0,
                    .archived = query->int64(2) != 0,
                    .updated = Timestamp{query->int64(3)}};
    if (query->is_null(4)) continue;
    // The listing is a projection: if it is damaged, the session is listed without its summary.
    const auto summary = unseal(listing_key(line.session, line.listing), query->bytes(4));
    if (summary) line.listing.summary = *summary;
  }
  return out;
}

Result<std::vector<SearchHit>> SqliteStore::search(const SearchAsk& ask) {
  const std::string words = search_query(ask.query);
  std::vector<SearchHit> out;
  if (words.empty()) return out;
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const ReadTransaction transaction = TRY(ReadTransaction::begin(*reader));
  if (!TRY(reader->prepare_search())) return out;
  Query hits(reader->search);
  hits->bind_text(1, words).bind_text(2, ask.kind);
  hits->bind(3, ask.since ? ask.since->ms : INT64_MIN)
      .bind(4, ask.until ? ask.until->ms : INT64_MAX);
  for (std::size_t i = 0; i < search_looked_at_max && out.size() < ask.limit; ++i) {
    if (!TRY(hits->step())) break;
    Query owner(reader->session_of_sid);
    if (!TRY(owner->bind_u64(1, hits->u64(1)).step())) continue;  // removed
    const SessionId session = TRY(session_id(owner->bytes(0)));
    if (ask.is_wanted && !ask.is_wanted(session)) continue;
    Query snippet(reader->snippet);
    if (!TRY(snippet->bind_text(1, words).bind(2, hits->int64(0)).step())) continue;
    out.push_back({.session = session,
                   .seq = hits->u64(2),
                   .kind = std::string(hits->bytes(3)),
                   .at = Timestamp{hits->int64(4)},
                   .snippet = std::string(snippet->bytes(0))});
  }
  return out;
}

}  // namespace perdure
