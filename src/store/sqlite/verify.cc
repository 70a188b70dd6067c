// Reads everything in the store and reports damage.
#include "store/line_chain.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/store_parts.h"

namespace perdure {
namespace {

constexpr std::size_t page_sessions = 256;
constexpr Seq page_records = 4096;  // per read transaction, so that checkpoints can proceed

// Checks the file's structure: pages, b-trees, indexes.
Result<> check_structure(StoreReader& reader, VerifyReport& report) {
  Statement check = TRY(reader.db.prepare("PRAGMA integrity_check(20)"));
  while (true) {
    const Result<bool> row = check.step();
    if (!row && row.error().code() == Code::damaged) {
      report.damages.push_back({.what = row.error().message()});
      return {};
    }
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    if (check.bytes(0) != "ok") report.damages.push_back({.what = std::string(check.bytes(0))});
  }
}

struct SeenRecord {
  std::uint64_t sid = 0;
  Seq seq = 0;
  std::string_view record;
};

// `damaged` if the record does not hold its predecessor's hash.
Result<> follow(StoreReader& reader, LineChain& chain, const SeenRecord& seen) {
  std::optional<std::string> instead;
  if (is_blank_record(seen.record)) instead = TRY(reader.redaction(seen.sid, seen.seq));
  if (chain.add(instead ? *instead : seen.record) != LineChain::Link::broken) return {};
  return fail(Code::damaged,
              "record " + std::to_string(seen.seq) + " does not hold the hash of the one before");
}

}  // namespace

Result<VerifyReport> SqliteStore::verify(const OnVerified& on_session) {
  VerifyReport report;
  {
    ReaderPool::Lease reader = TRY(parts_->readers.lease());
    TRY_VOID(check_structure(*reader, report));
  }
  for (const std::string& note : parts_->writer->notes()) report.damages.push_back({.what = note});
  SessionId after;
  while (true) {
    const std::vector<ListedSession> page = TRY(list(after, page_sessions));
    for (const ListedSession& line : page) {
      ReaderPool::Lease reader = TRY(parts_->readers.lease());
      TRY_VOID(parts_->verify_session(*reader, line.session, report));
      after = line.session;
      if (on_session && !on_session(report)) return report;
    }
    if (page.size() < page_sessions) return report;
  }
}

Result<> SqliteStore::Parts::verify_session(StoreReader& reader, SessionId session,
                                            VerifyReport& report) {
  report.session_count += 1;
  LineChain chain;
  std::optional<Seq> was_good;
  Seq after = 0;
  Seq head = 0;
  while (true) {
    const SeqRange range{.after = after, .last = after + page_records};
    const Result<IndexedView> seen = view(reader, session, range);
    if (!seen && seen.error().code() == Code::not_found) return {};  // removed since
    if (!seen && seen.error().code() == Code::damaged) {
      report.damages.push_back({.session = session, .what = seen.error().message()});
      return {};
    }
    if (!seen) return std::unexpected(seen.error());
    was_good = seen->good;
    head = seen->head;
    if (after >= head) break;
    const ReadTransaction transaction = TRY(ReadTransaction::begin(reader));
    Seq good = after;
    const SeqRange part{.after = after, .last = std::min(range.last, head)};
    Result<> fits;
    Result<> read = reader.records(*seen, part, &good, [&](Seq seq, std::string_view record) {
      fits = follow(reader, chain, {.sid = seen->sid, .seq = seq, .record = record});
      if (!fits) return false;
      report.record_count += 1;
      after = seq;
      return true;
    });
    if (!fits) {
      read = fits;
      good = after;
    }
    if (read && after == part.last) continue;
    if (!read && read.error().code() == Code::not_found) return {};
    if (!read && read.error().code() != Code::damaged) return read;
    index.mark_damaged(session, good);
    report.damages.push_back({.session = session,
                              .good = good,
                              .what = read ? "records are missing" : read.error().message()});
    return {};
  }
  if (!was_good) return {};
  if (*was_good < head && TRY(writer->clear_damage(session))) return {};
  // Every known record is intact, but more were acknowledged: their numbers must not be reused.
  report.damages.push_back(
      {.session = session, .good = *was_good, .what = "the records after it are missing"});
  return {};
}

}  // namespace perdure
