// Opening: reads the files of an earlier life, then applies its commit log.
#include <algorithm>

#include "store/files/files_writer.h"
#include "store/files/identity.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr std::uint64_t no_end = ~std::uint64_t{0} >> 1;

}  // namespace

Result<> FilesWriter::recover() {
  TRY_VOID(open_identity());
  TRY_VOID(load_sessions());
  TRY_VOID(load_answers());
  LogScan scan = TRY(replay());
  notes_.insert(notes_.end(), scan.notes.begin(), scan.notes.end());
  TRY_VOID(mend_answers());
  TRY_VOID(adopt_strays());
  has_lost_ = has_lost_ || scan.has_lost;
  TRY_VOID(collect_blobs());
  std::uint64_t numbered_to = 0;
  for (const auto& [id, session] : contents_.sessions) {
    numbered_to = std::max(numbered_to, session.position);
  }
  log_.emplace(TRY(CommitLog::begin(disk_, std::move(scan), numbered_to)));
  const StoreIdentity identity{.log_id = log_id_, .epoch = epoch_, .has_lost = has_lost_};
  TRY_VOID(replace_file(disk_, identity_name, encode_identity(identity), Replace::synced));
  return disk_.sync_folder("");
}

Result<> FilesWriter::open_identity() {
  const Result<std::string> text = read_whole(disk_, identity_name);
  if (!text && text.error().code() != Code::not_found) return std::unexpected(text.error());
  if (text) {
    const StoreIdentity before = TRY(decode_identity(*text));
    log_id_ = before.is_backup ? options_.new_log_id : before.log_id;
    epoch_ = std::max(before.epoch + 1, options_.epoch_min);
    has_lost_ = before.has_lost;
    return {};
  }
  if (!options_.create) return fail(Code::unavailable, "no journal found here");
  // Created last and never removed: if sessions exist without it, something is wrong.
  if (!TRY(disk_.list("sessions")).empty()) {
    return fail(Code::damaged, std::string(identity_name) + " is missing, and sessions are there");
  }
  log_id_ = options_.new_log_id;
  epoch_ = std::max(std::uint64_t{1}, options_.epoch_min);
  for (const char* const folder : {"sessions", "commits", "blobs"}) {
    TRY_VOID(disk_.make_folder(folder));
  }
  return disk_.sync_folder("");
}

Result<> FilesWriter::load_sessions() {
  for (const std::string& name : TRY(disk_.list("sessions"))) {
    if (const auto id = session_of_file(name, SessionPart::rows)) TRY_VOID(load_session(*id));
  }
  return {};
}

Result<> FilesWriter::load_session(SessionId id) {
  const std::string text = TRY(read_whole(disk_, session_file(id, SessionPart::rows)));
  Result<StoredSession> rows = decode_rows(text);
  if (!rows && rows.error().code() != Code::damaged) return std::unexpected(rows.error());
  if (rows && rows->id != id) rows = fail(Code::damaged, "its rows are another session's");
  StoredSession session = rows.value_or(StoredSession{.id = id});
  RecordPlace place = place_of(session);
  if (!rows) place.filled = place.filled_bytes = no_end;
  if (rows && TRY(records_.has_sizes(place))) {
    contents_.add_loaded(std::move(session));
    return {};
  }
  const RecordFiles::Filled found = TRY(records_.rebuild_index(place));
  if (!rows) {
    notes_.push_back(id.text() + ": " + rows.error().message() + "; its " +
                     std::to_string(found.filled) + " records are readable");
    session.good = found.filled;
    session.head = found.filled;
    session.is_without_rows = true;
  } else if (found.filled < session.filled) {
    notes_.push_back(id.text() + ": of " + std::to_string(session.filled) + " records " +
                     std::to_string(found.filled) + " are whole");
    session.good = found.filled;
  }
  session.filled = found.filled;
  session.filled_bytes = found.filled_bytes;
  contents_.add_loaded(std::move(session));
  return {};
}

Result<> FilesWriter::load_answers() {
  const Result<std::string> text = read_whole(disk_, "answers.jsonl");
  if (!text && text.error().code() == Code::not_found) return {};
  if (!text) return std::unexpected(text.error());
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const Result<JsonObject> object = open_sealed(line, "a stored answer");
    Result<StoredAnswer> answer = object ? read_answer(*object) : std::unexpected(object.error());
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!answer) {
      answers_torn_ += 1;
      continue;
    }
    answers_bytes_ = text->size() - rest.size();
    std::string key = answer->key;
    contents_.answers.insert_or_assign(std::move(key), *std::move(answer));
  }
  return {};
}

// The log still has all lines of an interrupted write; more missing lines were lost later.
Result<> FilesWriter::mend_answers() {
  if (answers_torn_ == 0) return {};
  if (answers_torn_ > contents_.answers_unsaved.size()) {
    notes_.push_back(std::to_string(answers_torn_) + " stored answers are damaged and left out");
  }
  answers_torn_ = 0;
  return rewrite_answers();
}

Result<LogScan> FilesWriter::replay() {
  const OnDecay on_decay = options_.salvage ? OnDecay::pass_over : OnDecay::refuse;
  return scan_log(disk_, on_decay, [this](LoggedGroup group) -> Result<> {
    for (LoggedChange& change : group.changes) {
      TRY_VOID(replay_change(std::move(change), group));
    }
    return {};
  });
}

Result<> FilesWriter::replay_change(LoggedChange change, const LoggedGroup& group) {
  const Contents::Committed at{.group = group.number, .segment = group.segment};
  const SessionId id = change.append.session;
  const auto found = contents_.sessions.find(id);
  switch (change.kind) {
    case LoggedChange::Kind::append:
      if (change.records_lost) notes_.push_back(id.text() + ": records in the log are damaged");
      contents_.apply(std::move(change), at);
      return {};
    case LoggedChange::Kind::remove:
      if (found != contents_.sessions.end() && found->second.saved_position >= at.group) return {};
      contents_.erase(id);
      removed_.insert(id);
      return records_.remove(id);
    case LoggedChange::Kind::redact: {
      const Result<> redacted = apply_redaction(change.redaction, at);
      if (!redacted && redacted.error().code() != Code::damaged) return redacted;
      if (!redacted) notes_.push_back(id.text() + ": " + redacted.error().message());
      return {};
    }
  }
  return {};
}

// S7: records without rows still make a session, which must not be started empty again.
Result<> FilesWriter::adopt_strays() {
  for (const std::string& name : TRY(disk_.list("sessions"))) {
    if (name.ends_with(".new")) TRY_VOID(disk_.remove("sessions/" + name));
    const auto id = session_of_file(name, SessionPart::records);
    if (!id || contents_.sessions.contains(*id) || removed_.contains(*id)) continue;
    const RecordFiles::Filled found =
        TRY(records_.rebuild_index({.session = *id, .filled = no_end, .filled_bytes = no_end}));
    if (found.filled == 0) continue;
    notes_.push_back(id->text() + ": its rows are missing; its " + std::to_string(found.filled) +
                     " records are readable");
    StoredSession session{.id = *id, .head = found.filled, .filled = found.filled};
    session.filled_bytes = found.filled_bytes;
    session.good = found.filled;
    session.is_without_rows = true;
    contents_.add_loaded(std::move(session));
  }
  return {};
}

// Removes blobs of uncommitted groups and of removed sessions. A damaged session may have had any
// blob, so each blob then has one additional, unknown owner.
Result<> FilesWriter::collect_blobs() {
  const bool is_damaged = std::ranges::any_of(contents_.sessions, [](const auto& session) {
    return session.second.good || session.second.is_without_rows;
  });
  std::size_t kept = 0;
  for (const std::string& name : TRY(disk_.list("blobs"))) {
    const Result<Hash> hash = Hash::parse_hex(name);
    if (!hash && !name.ends_with(".new")) continue;  // not created by us
    const bool is_owned = hash && contents_.blob_owners.contains(*hash);
    const bool may_be_owned = hash && (is_damaged || has_lost_) && !redacted_blobs_.contains(*hash);
    if (!is_owned && !may_be_owned) {
      TRY_VOID(disk_.remove("blobs/" + name));
      continue;
    }
    if (is_owned && !is_damaged) continue;
    ++contents_.blob_owners[*hash];
    if (!is_owned) ++kept;
  }
  redacted_blobs_.clear();
  if (kept > 0 && is_damaged) {
    notes_.push_back(
        std::to_string(kept) +
        " blobs that no session names are kept: one that is damaged may have had them");
  }
  return {};
}

}  // namespace perdure
