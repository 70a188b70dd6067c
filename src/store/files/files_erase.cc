// Removal of whole sessions, and redaction of single records.
#include "store/files/files_writer.h"

namespace perdure {

Result<> FilesWriter::remove(SessionId session) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  {
    const std::scoped_lock contents_lock(contents_.mutex);
    if (!contents_.sessions.contains(session)) {
      return fail(Code::not_found, "no such session: " + session.text());
    }
  }
  std::string body;
  append_removal(body, session);
  const Result<std::uint64_t> logged = log_->append(body);
  if (!logged) {
    survives(logged.error());
    return std::unexpected(logged.error());
  }
  std::vector<Hash> orphans;
  {
    const std::scoped_lock contents_lock(contents_.mutex);
    orphans = contents_.erase(session);
  }
  // It is removed even if deleting its files fails: the log makes the next open finish that.
  Result<> removed = records_.remove(session);
  if (removed) removed = remove_blobs(orphans);
  if (!removed) survives(removed.error());
  return {};
}

Result<> FilesWriter::redact(const Redaction& redaction) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  const SessionId id = redaction.session;
  {
    const std::scoped_lock contents_lock(contents_.mutex);
    const auto found = contents_.sessions.find(id);
    if (found == contents_.sessions.end()) {
      return fail(Code::not_found, "no such session: " + id.text());
    }
    if (redaction.seq == 0 || redaction.seq > found->second.head) {
      return fail(Code::not_found, "no such record");
    }
    if (found->second.good) return fail(Code::damaged, id.text() + " is damaged");
  }
  const auto commit = [&]() -> Result<> {
    // Fill first: redacting an unreadable session would stop halfway. A failed log changes nothing.
    TRY_VOID(fill(id));
    std::string body;
    append_redaction(body, redaction);
    const std::uint64_t group = TRY(log_->append(body));
    TRY_VOID(apply_redaction(redaction, committed(group)));
    // The text is still in the commit log, so cut the log.
    return save_everything();
  };
  Result<> done = commit();
  if (!done && done.error().code() != Code::damaged) survives(done.error());
  return done;
}

Result<> FilesWriter::apply_redaction(const Redaction& redaction, const Contents::Committed& at) {
  const SessionId id = redaction.session;
  TRY_VOID(fill(id));
  RecordPlace place;
  {
    const std::scoped_lock lock(contents_.mutex);
    const auto found = contents_.sessions.find(id);
    if (found == contents_.sessions.end() || at.group <= found->second.saved_position) {
      // An earlier life ended during the redaction: other owners may not have been saved since. If
      // the session is damaged, it is unknown whether the redaction was carried out.
      if (found == contents_.sessions.end() || !found->second.good) drop_blobs(redaction, at);
      return {};
    }
    place = place_of(found->second);
  }
  const Result<RecordFiles::Filled> filled = records_.replace(
      place,
      {.seq = redaction.seq, .record = redaction.replacement, .is_again = !log_.has_value()});
  if (filled) TRY_VOID(disk_.sync_folder("sessions"));
  {
    const std::scoped_lock lock(contents_.mutex);
    StoredSession& session = contents_.sessions.at(id);
    session.position = at.group;
    contents_.touch(session, at);
    if (!filled && filled.error().code() != Code::damaged) return std::unexpected(filled.error());
    if (!filled) {
      session.good = 0;
      return std::unexpected(filled.error());
    }
    contents_.set_filled(session, *filled);
    session.snapshot_seq.reset();
    session.snapshot_unsaved.reset();
    drop_blobs(redaction, at);
  }
  // During replay a later group may add them again, so collect_blobs() decides.
  return log_ ? remove_blobs(redaction.blobs) : Result<>();
}

void FilesWriter::drop_blobs(const Redaction& redaction, const Contents::Committed& at) {
  contents_.drop_blobs(redaction.blobs, at);
  if (!log_) redacted_blobs_.insert(redaction.blobs.begin(), redaction.blobs.end());
}

}  // namespace perdure
