// Reads everything in the store and reports damage.
#include "store/files/files_writer.h"
#include "store/line_chain.h"

namespace perdure {

Result<FilesWriter::Verdict> FilesWriter::judge(SessionId id) {
  const auto look = [&](std::optional<Seq>& good) -> Result<std::uint64_t> {
    StoredSession session;
    {
      const std::scoped_lock lock(contents_.mutex);
      const auto found = contents_.sessions.find(id);
      if (found == contents_.sessions.end()) return fail(Code::not_found, id.text());
      session = found->second;
    }
    LineChain chain;
    std::uint64_t records = 0;
    bool fits = true;
    const auto take = [&](const RecordSeen& seen) {
      fits = chain.add(seen.record) != LineChain::Link::broken;
      if (fits) ++records;
      return fits;
    };
    const Result<> read =
        records_.read(place_of(session), {.after = 0, .last = session.filled}, take);
    if (!read && read.error().code() != Code::damaged) return std::unexpected(read.error());
    Seq seq = session.filled;
    for (const TailRecord& tail : session.tail) {
      if (read && fits) take({.seq = ++seq, .position = tail.position, .record = tail.record});
    }
    good = records < session.head ? std::optional<Seq>(records) : std::nullopt;
    return records;
  };
  Verdict verdict;
  verdict.records = TRY(look(verdict.good));
  if (!verdict.good) return end_quarantine(id, verdict);
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return verdict;
  // The index itself may be damaged: the lines and their chain decide.
  RecordPlace place;
  {
    const std::scoped_lock contents_lock(contents_.mutex);
    const auto found = contents_.sessions.find(id);
    if (found == contents_.sessions.end()) return fail(Code::not_found, id.text());
    place = place_of(found->second);
  }
  if (TRY(records_.mend_index(place))) {
    verdict.good.reset();
    verdict.records = TRY(look(verdict.good));
    if (!verdict.good) return end_quarantine(id, verdict);
  }
  const std::scoped_lock contents_lock(contents_.mutex);
  const auto session = contents_.sessions.find(id);
  if (session == contents_.sessions.end()) return verdict;
  StoredSession& found = session->second;
  found.good = verdict.good;
  // Save soon, because opening reads no records. Missing records are evident without a save, and a
  // restored file is compared with the rows that claim them.
  if (found.filled + found.tail.size() == found.head) contents_.touch(found, {});
  return verdict;
}

// Two kinds of sessions stay in quarantine: one that lost its rows, because its records do not show
// which work was open, and one that lost records at its end, because their number is unknown.
Result<FilesWriter::Verdict> FilesWriter::end_quarantine(SessionId id, Verdict verdict) {
  const std::scoped_lock lock(contents_.mutex);
  const auto found = contents_.sessions.find(id);
  if (found == contents_.sessions.end() || !found->second.good) return verdict;
  if (found->second.is_without_rows || *found->second.good >= found->second.head) {
    verdict.good = found->second.good;
  } else {
    found->second.good.reset();
    contents_.touch(found->second, {});
  }
  return verdict;
}

Result<VerifyReport> FilesStore::verify(const OnVerified& on_session) {
  constexpr std::size_t page_sessions = 256;
  VerifyReport report;
  for (const std::string& note : notes()) report.damages.push_back({.what = note});
  SessionId after;
  while (true) {
    const std::vector<ListedSession> page = TRY(list(after, page_sessions));
    for (const ListedSession& line : page) {
      after = line.session;
      const Result<FilesWriter::Verdict> verdict = writer_->judge(line.session);
      if (!verdict && verdict.error().code() == Code::not_found) continue;  // removed since
      if (!verdict) return std::unexpected(verdict.error());
      report.session_count += 1;
      report.record_count += verdict->records;
      if (verdict->good) {
        report.damages.push_back({.session = line.session,
                                  .good = *verdict->good,
                                  .what = "record " + std::to_string(*verdict->good + 1) + " of " +
                                          line.session.text() + " is damaged"});
      }
      if (on_session && !on_session(report)) return report;
    }
    if (page.size() < page_sessions) return report;
  }
}

}  // namespace perdure
