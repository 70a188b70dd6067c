// The work after commits: filling session files, saving sessions, cutting the log.
#include <algorithm>

#include "store/files/files_writer.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr std::size_t sessions_a_slice = 16;
const std::string answers_name = "answers.jsonl";

std::string answer_line(const StoredAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  write_answer_members(json, answer);
  json.end_object();
  return seal(json.text()) + "\n";
}

}  // namespace

// False: nothing more can be done now. A full disk is waited out; other errors are fatal.
bool FilesWriter::goes_on(const Result<>& result) {
  if (result) return true;
  if (survives(result.error())) commits_.set_full();
  return false;
}

void FilesWriter::maintain() {
  if (failed_) return;
  bool is_due = false;
  {
    const std::scoped_lock lock(contents_.mutex);
    is_due = contents_.tail_bytes >= options_.fill_bytes;
  }
  if (is_due && !commits_.is_full()) {
    const Result<bool> filled = fill_all();
    if (!filled && !goes_on(std::unexpected(filled.error()))) return;
  }
  goes_on(maintain_log());
}

Result<> FilesWriter::maintain_log() {
  if (log_->bytes() >= options_.segment_bytes) TRY_VOID(log_->rotate());
  if (!log_->has_old()) return {};
  if (TRY(save_old())) return {};
  return drop_log();
}

Result<> FilesWriter::fill(SessionId id) {
  StoredSession* session = nullptr;
  {
    const std::scoped_lock lock(contents_.mutex);
    const auto found = contents_.sessions.find(id);
    if (found == contents_.sessions.end() || found->second.tail.empty()) return {};
    session = &found->second;
  }
  // Only the writer, which is us, changes a session (except for `good`).
  const RecordFiles::Filled filled = TRY(records_.fill(*session));
  const std::scoped_lock lock(contents_.mutex);
  contents_.set_filled(*session, filled);
  return {};
}

Result<bool> FilesWriter::fill_all() {
  std::vector<SessionId> tailed;
  {
    const std::scoped_lock lock(contents_.mutex);
    tailed.assign(contents_.tailed.begin(), contents_.tailed.end());
  }
  for (const SessionId session : tailed) TRY_VOID(fill(session));
  return !tailed.empty();
}

// Makes everything of a session durable in its own files; it no longer needs the log. The rows come
// last: they state what the other files must contain.
Result<> FilesWriter::save(const std::vector<SessionId>& sessions) {
  const auto copy_of = [&](SessionId id) {
    const std::scoped_lock lock(contents_.mutex);
    return contents_.sessions.at(id);
  };
  for (const SessionId id : sessions) {
    TRY_VOID(fill(id));
    TRY_VOID(records_.sync(id));
    TRY_VOID(write_views(copy_of(id)));
  }
  TRY_VOID(disk_.sync_folder("sessions"));
  for (const SessionId id : sessions) {
    const std::string rows = encode_rows(copy_of(id));
    TRY_VOID(replace_file(disk_, session_file(id, SessionPart::rows), rows, Replace::synced));
    const std::scoped_lock lock(contents_.mutex);
    contents_.set_saved(contents_.sessions.at(id));
  }
  return {};
}

bool FilesWriter::has_unsaved_before(std::uint64_t segment) const {
  return std::ranges::any_of(contents_.unsaved, [&](SessionId id) {
    return contents_.sessions.at(id).unsaved_since < segment;
  });
}

// Saves some of the sessions that prevent the log from being cut; false if there are none.
Result<bool> FilesWriter::save_old() {
  std::vector<SessionId> due;
  {
    const std::scoped_lock lock(contents_.mutex);
    for (const SessionId id : contents_.unsaved) {
      if (contents_.sessions.at(id).unsaved_since < log_->segment()) due.push_back(id);
      if (due.size() == sessions_a_slice) break;
    }
  }
  if (due.empty()) return false;
  TRY_VOID(save(due));
  return true;
}

// Saves sessions that have been quiet for a while, so that people find current files.
Result<bool> FilesWriter::save_quiet() {
  std::vector<SessionId> due;
  {
    const std::scoped_lock lock(contents_.mutex);
    for (const SessionId id : contents_.unsaved) {
      if (contents_.sessions.at(id).quiet_since + options_.quiet_steps <= idle_steps_) {
        due.push_back(id);
      }
      if (due.size() == sessions_a_slice) break;
    }
  }
  if (due.empty()) return false;
  TRY_VOID(save(due));
  return true;
}

Result<> FilesWriter::save_answers() {
  std::string lines;
  std::size_t count = 0;
  {
    const std::scoped_lock lock(contents_.mutex);
    count = contents_.answers_unsaved.size();
    for (const std::string& key : contents_.answers_unsaved) {
      const auto found = contents_.answers.find(key);
      if (found != contents_.answers.end()) lines += answer_line(found->second);
    }
  }
  if (count == 0) return {};
  const auto file = TRY(disk_.open(answers_name, JournalOpen::create));
  if (TRY(file->size()) > answers_bytes_) TRY_VOID(file->truncate(answers_bytes_));
  TRY_VOID(file->write(answers_bytes_, lines));
  TRY_VOID(file->sync());
  TRY_VOID(disk_.sync_folder(""));
  answers_bytes_ += lines.size();
  const std::scoped_lock lock(contents_.mutex);
  contents_.answers_unsaved.erase(
      contents_.answers_unsaved.begin(),
      contents_.answers_unsaved.begin() + static_cast<std::ptrdiff_t>(count));
  return {};
}

Result<> FilesWriter::drop_log() {
  {
    const std::scoped_lock lock(contents_.mutex);
    if (has_unsaved_before(log_->segment())) return {};
  }
  TRY_VOID(save_answers());
  TRY_VOID(disk_.sync_folder("sessions"));
  return log_->drop_old();
}

Result<> FilesWriter::save_everything() {
  if (log_->bytes() > 0) TRY_VOID(log_->rotate());
  while (TRY(save_old())) {}
  return drop_log();
}

bool FilesWriter::idle_step() {
  if (failed_) return false;
  const std::scoped_lock lock(write_mutex_);
  ++idle_steps_;
  if (options_.is_there && !options_.is_there()) return false;
  bool did = commits_.is_full() && commits_.probe_space();
  if (failed_ || commits_.is_full()) return did;
  for (Result<bool> (FilesWriter::* const work)() :
       {&FilesWriter::fill_all, &FilesWriter::save_quiet}) {
    const Result<bool> done = (this->*work)();
    if (!done && !goes_on(std::unexpected(done.error()))) return did;
    did = did || *done;
  }
  if (log_->has_old() && !did) {
    goes_on(maintain_log());
    did = !failed_ && !commits_.is_full();
  }
  if (!failed_ && backup_) did = step_backup() || did;
  return did;
}

Result<> FilesWriter::shut_down() {
  const std::scoped_lock lock(write_mutex_);
  if (failed_) return fail(Code::storage_unknown, "the store has failed");
  const Result<> saved = save_everything();
  if (!saved && saved.error().code() != Code::disk_full) fail_forever(saved.error());
  return saved;
}

Result<> FilesWriter::rewrite_answers() {
  std::string lines;
  {
    const std::scoped_lock lock(contents_.mutex);
    for (const auto& [key, answer] : contents_.answers) lines += answer_line(answer);
  }
  TRY_VOID(replace_file(disk_, answers_name, lines, Replace::synced));
  TRY_VOID(disk_.sync_folder(""));
  answers_dead_ = 0;
  answers_bytes_ = lines.size();
  const std::scoped_lock lock(contents_.mutex);
  contents_.answers_unsaved.clear();
  return {};
}

Result<> FilesWriter::forget_answers(Timestamp now) {
  const std::scoped_lock lock(write_mutex_);
  if (failed_ || (options_.is_there && !options_.is_there())) return {};
  {
    const std::scoped_lock contents_lock(contents_.mutex);
    answers_dead_ += std::erase_if(contents_.answers, [&](const auto& answer) {
      return answer.second.expires && *answer.second.expires < now;
    });
    // Rewrite the file once most of its lines are dead.
    if (answers_dead_ <= contents_.answers.size()) return {};
  }
  const Result<> written = rewrite_answers();
  goes_on(written);
  return written;
}

}  // namespace perdure
