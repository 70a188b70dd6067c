#include "store/sqlite/reader.h"

#include "store/sqlite/group_writer.h"
#include "store/sqlite/index/codec.h"
#include "store/sqlite/index/extents.h"
#include "store/sqlite/index/search.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

// Drops entries from the front that end before the first wanted record.
void drop_before(StoreReader::Plan& plan, Seq wanted) {
  std::size_t count = 0;
  while (count < plan.refs.size() && plan.first + plan.refs[count].count <= wanted) {
    plan.first += plan.refs[count++].count;
  }
  plan.refs.erase(plan.refs.begin(), plan.refs.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

Result<std::unique_ptr<StoreReader>> StoreReader::open(const DbOptions& options) {
  auto reader = std::make_unique<StoreReader>();
  Db& db = reader->db;
  db = TRY(Db::open(options));
  TRY_VOID(db.exec("PRAGMA query_only = 1"));
  reader->log.emplace(TRY(LogReader::create(db)));
  reader->load_session = TRY(db.prepare(load_session_sql));
  reader->extents = TRY(
      db.prepare("SELECT first_seq, packed FROM extents WHERE sid = ?1 AND first_seq >= coalesce("
                 "(SELECT max(first_seq) FROM extents WHERE sid = ?1 AND first_seq <= ?2), 0) "
                 "ORDER BY first_seq"));
  reader->session_of_sid = TRY(db.prepare("SELECT id FROM sessions WHERE sid = ?"));
  reader->snapshot = TRY(db.prepare("SELECT seq, sealed FROM snapshots WHERE sid = ?"));
  reader->outbox =
      TRY(db.prepare("SELECT number, sealed FROM outbox WHERE sid = ? ORDER BY number"));
  reader->answer = TRY(db.prepare("SELECT expires, sealed FROM answers WHERE key = ?"));
  reader->find_ref =
      TRY(db.prepare("SELECT s.id FROM refs r JOIN sessions s ON s.sid = r.sid WHERE r.ref = ?"));
  reader->blob = TRY(db.prepare("SELECT bytes FROM blobs WHERE hash = ?"));
  reader->open_sessions = TRY(db.prepare("SELECT id FROM sessions WHERE open = 1 ORDER BY id"));
  reader->list = TRY(db.prepare(
      "SELECT id, open, archived, updated, sealed FROM sessions WHERE id > ? ORDER BY id LIMIT ?"));
  return reader;
}

Result<StoreReader::Plan> StoreReader::plan(const IndexedView& view, const SeqRange& range) {
  Plan out{.first = range.after + 1};
  if (range.after < view.flushed) {
    TRY_VOID(plan_flushed(view, range, out));
  } else {
    out.first = view.tail_first;
  }
  if (!out.is_broken) out.refs.insert(out.refs.end(), view.tail.begin(), view.tail.end());
  drop_before(out, range.after + 1);
  return out;
}

Result<> StoreReader::plan_flushed(const IndexedView& view, const SeqRange& range, Plan& out) {
  Query query(extents);
  query->bind_u64(1, view.sid).bind_u64(2, range.after + 1);
  Seq next = 0;
  while (next <= std::min(range.last, view.flushed)) {
    const Result<bool> found = query->step();
    if (!found && found.error().code() != Code::damaged) return std::unexpected(found.error());
    out.is_broken = !found || !*found;
    if (out.is_broken) return {};
    const ExtentKey key{.sid = view.sid, .first_seq = query->u64(0)};
    out.is_broken = next == 0 ? key.first_seq > range.after + 1 : key.first_seq != next;
    if (out.is_broken) return {};
    if (next == 0) out.first = key.first_seq;
    const auto refs = unpack_extent(key, query->bytes(1));
    out.is_broken = !refs;
    if (out.is_broken) return {};
    out.refs.insert(out.refs.end(), refs->begin(), refs->end());
    next = key.first_seq + records_in(*refs);
  }
  // A flush after the view was taken may have added entries to the extents that the view has too.
  for (; next > view.flushed + 1 && !out.refs.empty(); out.refs.pop_back()) {
    next -= out.refs.back().count;
  }
  return {};
}

// Prepared separately: an older file has no texts until the index is rebuilt.
Result<bool> StoreReader::prepare_search() {
  if (has_search) return true;
  if (!TRY(has_texts(db))) return false;
  search =
      TRY(db.prepare("SELECT t.row, t.sid, t.seq, t.kind, t.at FROM search CROSS JOIN texts t "
                     "ON t.row = search.rowid WHERE search MATCH ?1 AND (?2 = '' OR t.kind = ?2 OR "
                     "substr(t.kind, 1, length(?2) + 1) = ?2 || '.') AND t.at >= ?3 AND t.at < ?4 "
                     "ORDER BY search.rowid DESC"));
  snippet =
      TRY(db.prepare("SELECT snippet(search, 0, char(2), char(3), '…', 24) FROM search "
                     "WHERE search MATCH ? AND rowid = ?"));
  has_search = true;
  return true;
}

Result<std::optional<std::string>> StoreReader::redaction(std::uint64_t sid, Seq seq) {
  // Without the table nothing was redacted: the record consists of zeros.
  if (!TRY(has_redactions(db))) return std::nullopt;
  Statement redaction = TRY(db.prepare("SELECT sealed FROM redactions WHERE sid = ? AND seq = ?"));
  Query query(redaction);
  if (!TRY(query->bind_u64(1, sid).bind_u64(2, seq).step())) return std::nullopt;
  const auto bytes = unseal(redaction_key(sid, seq), query->bytes(0));
  if (!bytes) return fail(Code::damaged, "what stands for a redacted record is damaged");
  return std::string(*bytes);
}

Result<> StoreReader::put_redactions(const IndexedView& view, RecordPage& page) {
  for (std::size_t i = 0; i < page.records.size(); ++i) {
    if (!is_blank_record(page.records[i])) continue;
    std::optional<std::string> instead = TRY(redaction(view.sid, page.first + i));
    if (instead) page.records[i] = *std::move(instead);
  }
  return {};
}

Result<ReadTransaction> ReadTransaction::begin(StoreReader& reader) {
  TRY_VOID(reader.db.exec("BEGIN"));
  reader.log->forget();
  return ReadTransaction(reader);
}

ReadTransaction::~ReadTransaction() {
  // Ending a read writes nothing; even if it fails, the connection has no transaction afterwards.
  if (reader_ != nullptr) (void)reader_->db.exec("ROLLBACK");
}

Result<ReaderPool::Lease> ReaderPool::lease() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !idle_.empty() || lent_ < readers_max_; });
  lent_ += 1;
  if (!idle_.empty()) {
    std::unique_ptr<StoreReader> reader = std::move(idle_.back());
    idle_.pop_back();
    return Lease(*this, std::move(reader));
  }
  lock.unlock();
  Result<std::unique_ptr<StoreReader>> reader = StoreReader::open(options_);
  if (reader) return Lease(*this, *std::move(reader));
  lock.lock();
  lent_ -= 1;
  returned_.notify_one();
  return std::unexpected(std::move(reader.error()).with_context("open a reader"));
}

void ReaderPool::give_back(std::unique_ptr<StoreReader> reader) {
  const std::scoped_lock lock(mutex_);
  lent_ -= 1;
  idle_.push_back(std::move(reader));
  returned_.notify_one();
}

}  // namespace perdure
