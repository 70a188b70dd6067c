#include "store/files/backup_job.h"

#include <algorithm>

#include "store/files/files_writer.h"
#include "store/files/identity.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr std::size_t fresh_max = 16;

}  // namespace

Result<FilesBackup> FilesBackup::begin(std::unique_ptr<JournalDisk> target, Store::Done done) {
  for (const char* const folder : {"", "sessions", "commits", "blobs"}) {
    if (!TRY(target->list(folder)).empty()) {
      return fail(Code::conflict, "there are files at the backup's place already");
    }
  }
  for (const char* const folder : {"sessions", "commits", "blobs"}) {
    TRY_VOID(target->make_folder(folder));
  }
  return FilesBackup(std::move(target), std::move(done));
}

FilesBackup::Missing FilesBackup::missing(Contents& contents) const {
  Missing out;
  const std::scoped_lock lock(contents.mutex);
  for (const auto& [id, session] : contents.sessions) {
    const auto copied = copied_.find(id);
    if (copied == copied_.end()) {
      if (out.fresh.size() < fresh_max) out.fresh.push_back(id);
    } else if (copied->second != session.position) {
      out.changed.push_back(id);
    }
  }
  return out;
}

Result<> FilesBackup::begin_session(JournalDisk& source, const StoredSession& session) {
  Copying copying{.session = session.id,
                  .position = session.position,
                  .rows = encode_rows(session),
                  .streams = {}};
  for (const SessionPart part :
       {SessionPart::records, SessionPart::index, SessionPart::snapshot, SessionPart::tokens}) {
    const std::string name = session_file(session.id, part);
    Result<std::unique_ptr<JournalFile>> from = source.open(name, JournalOpen::existing);
    if (!from && from.error().code() == Code::not_found) continue;
    if (!from) return std::unexpected(from.error());
    Stream stream{.from = std::move(*from), .to = TRY(target_->open(name, JournalOpen::create))};
    TRY_VOID(stream.to->truncate(0));
    stream.end = TRY(stream.from->size());
    if (part == SessionPart::records) stream.end = session.filled_bytes;
    copying.streams.push_back(std::move(stream));
  }
  for (const Hash& hash : session.blobs) TRY_VOID(copy_blob(source, hash));
  copying_ = std::move(copying);
  return {};
}

Result<> FilesBackup::copy_blob(JournalDisk& source, const Hash& hash) {
  const std::string name = blob_file(hash);
  if (target_->open(name, JournalOpen::existing)) return {};
  const Result<std::string> bytes = read_whole(source, name);
  return bytes ? replace_file(*target_, name, *bytes, Replace::synced) : Result<>();
}

Result<bool> FilesBackup::copy_some(std::size_t bytes_max) {
  if (!copying_) return false;
  for (Stream& stream : copying_->streams) {
    if (stream.at == stream.end) continue;
    const std::size_t want = std::min<std::uint64_t>(bytes_max, stream.end - stream.at);
    const std::string bytes = TRY(stream.from->read(stream.at, want));
    if (bytes.empty()) return fail(Code::damaged, "a session's file is shorter than it was");
    TRY_VOID(stream.to->write(stream.at, bytes));
    stream.at += bytes.size();
    return true;
  }
  TRY_VOID(end_session());
  return true;
}

Result<> FilesBackup::end_session() {
  for (const Stream& stream : copying_->streams) TRY_VOID(stream.to->sync());
  TRY_VOID(replace_file(*target_, session_file(copying_->session, SessionPart::rows),
                        copying_->rows, Replace::synced));
  copied_[copying_->session] = copying_->position;
  copying_.reset();
  return {};
}

Result<> FilesBackup::finish(JournalDisk& source, Contents& contents,
                             const StoreIdentity& identity) {
  std::vector<SessionId> gone;
  std::vector<Hash> blobs;  // including those whose owners are unknown
  {
    const std::scoped_lock lock(contents.mutex);
    for (const auto& [hash, owners] : contents.blob_owners) blobs.push_back(hash);
    for (const auto& [id, position] : copied_) {
      if (!contents.sessions.contains(id)) gone.push_back(id);
    }
  }
  for (const SessionId id : gone) {
    for (const SessionPart part : {SessionPart::rows, SessionPart::snapshot, SessionPart::tokens,
                                   SessionPart::index, SessionPart::records}) {
      TRY_VOID(target_->remove(session_file(id, part)));
    }
  }
  for (const Hash& hash : blobs) TRY_VOID(copy_blob(source, hash));
  const Result<std::string> answers = read_whole(source, "answers.jsonl");
  if (answers) TRY_VOID(replace_file(*target_, "answers.jsonl", *answers, Replace::synced));
  for (const char* const folder : {"sessions", "blobs"}) TRY_VOID(target_->sync_folder(folder));
  TRY_VOID(replace_file(*target_, identity_name, encode_identity(identity), Replace::synced));
  return target_->sync_folder("");
}

void FilesBackup::tell(Result<> outcome) {
  if (done_) std::exchange(done_, nullptr)(std::move(outcome));
}

// The store's side of a backup.

Result<> FilesWriter::backup(std::string path, Store::Done done) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  if (backup_) return fail(Code::conflict, "another backup runs");
  if (!options_.make_disk) return fail(Code::unavailable, "this store cannot be backed up");
  backup_.emplace(TRY(FilesBackup::begin(TRY(options_.make_disk(path)), std::move(done))));
  return {};
}

bool FilesWriter::step_backup() {
  const Result<bool> more = backup_slice();
  if (more && *more) return true;
  // The store's own calls report its errors; an error of the backup only ends the backup.
  FilesBackup ended = std::move(*backup_);
  backup_.reset();
  ended.tell(more ? Result<>() : std::unexpected(more.error()));
  return true;
}

Result<bool> FilesWriter::backup_slice() {
  constexpr std::size_t slice_bytes = 4UL << 20;
  if (TRY(backup_->copy_some(slice_bytes))) return true;
  const auto copy_next = [&](SessionId id) -> Result<> {
    TRY_VOID(save({id}));
    StoredSession session;
    {
      const std::scoped_lock lock(contents_.mutex);
      session = contents_.sessions.at(id);
    }
    return backup_->begin_session(disk_, session);
  };
  const FilesBackup::Missing missing = backup_->missing(contents_);
  // Copy each session once, in turn; then the changed ones in one step, with no writer.
  if (!missing.fresh.empty()) {
    TRY_VOID(copy_next(missing.fresh.front()));
    return true;
  }
  for (const SessionId id : missing.changed) {
    TRY_VOID(copy_next(id));
    while (TRY(backup_->copy_some(slice_bytes))) {}
  }
  TRY_VOID(save_answers());
  TRY_VOID(backup_->finish(
      disk_, contents_,
      {.log_id = log_id_, .epoch = epoch_, .is_backup = true, .has_lost = has_lost_}));
  return false;
}

}  // namespace perdure
