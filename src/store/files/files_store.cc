#include "store/files/files_store.h"

#include <algorithm>

#include "store/files/files_writer.h"
#include "store/files/views.h"

namespace perdure {
namespace {

// Looks at the session under the lock; not_found if it does not exist.
template <class Look>
Result<> look_at(Contents& contents, SessionId session, Look look) {
  const std::scoped_lock lock(contents.mutex);
  const auto found = contents.sessions.find(session);
  if (found == contents.sessions.end()) {
    return fail(Code::not_found, "no such session: " + session.text());
  }
  look(found->second);
  return {};
}

}  // namespace

FilesStore::FilesStore(std::unique_ptr<FilesWriter> writer) : writer_(std::move(writer)) {}
FilesStore::~FilesStore() = default;

Result<std::unique_ptr<FilesStore>> FilesStore::open(FilesOptions options) {
  std::unique_ptr<FilesWriter> writer = TRY(FilesWriter::open(std::move(options)));
  return std::unique_ptr<FilesStore>(new FilesStore(std::move(writer)));
}

bool FilesStore::step() { return writer_->step(); }
bool FilesStore::idle_step() { return writer_->idle_step(); }
bool FilesStore::wait_for_work(std::chrono::milliseconds timeout) {
  return writer_->wait_for_work(timeout);
}
void FilesStore::wake() { writer_->wake(); }
Result<> FilesStore::shut_down() { return writer_->shut_down(); }
Result<> FilesStore::backup(std::string path, Done done) {
  return writer_->backup(std::move(path), std::move(done));
}
Result<> FilesStore::forget_answers(Timestamp now) { return writer_->forget_answers(now); }
EngineTotals FilesStore::totals() { return writer_->totals(); }
bool FilesStore::retry_space() { return writer_->retry_space(); }
std::vector<std::string> FilesStore::notes() const { return writer_->notes(); }
void FilesStore::append(Append batch, Done done) {
  writer_->append(std::move(batch), std::move(done));
}
Result<> FilesStore::remove(SessionId session) { return writer_->remove(session); }
Result<> FilesStore::redact(Redaction redaction) { return writer_->redact(redaction); }
std::uint64_t FilesStore::epoch() const { return writer_->epoch(); }
const std::string& FilesStore::log_id() const { return writer_->log_id(); }

namespace {

// A page of a session in its current state: the part in the file, and where the tail begins.
struct PageView {
  RecordPlace place;
  SeqSpan in_file;
  std::vector<std::string> tail;
  Seq good = 0;
};

// Call under the lock.
Result<PageView> view_page(const StoredSession& session, const ReadRange& range) {
  if (range.after > session.head) {
    return fail(Code::cursor_invalid, "the cursor " + std::to_string(range.after) +
                                          " is beyond the head " + std::to_string(session.head));
  }
  if (session.good && range.after >= *session.good) {
    return fail(Code::damaged,
                "the session is damaged behind record " + std::to_string(*session.good));
  }
  PageView view{.place = place_of(session)};
  view.good = session.good.value_or(session.head);
  const Seq wanted = std::min<Seq>(range.limit, view.good - range.after);
  const Seq last = range.after + wanted;
  view.in_file = {.after = range.after, .last = std::min(last, session.filled)};
  std::size_t bytes = 0;
  const Seq tail_from = std::max(range.after, session.filled);
  for (Seq seq = tail_from + 1; seq <= last && bytes < range.bytes_max + 1; ++seq) {
    const std::string& record = session.tail[seq - session.filled - 1].record;
    bytes += record.size();
    view.tail.push_back(record);
  }
  return view;
}

}  // namespace

Result<RecordPage> FilesStore::read(SessionId session, ReadRange range) {
  Result<PageView> view = fail(Code::internal, "not looked at");
  TRY_VOID(look_at(writer_->contents(), session,
                   [&](const StoredSession& found) { view = view_page(found, range); }));
  if (!view) return std::unexpected(view.error());
  RecordPage page;
  std::size_t bytes = 0;
  bool is_full = false;
  const auto add = [&](Seq seq, std::string_view record) {
    if (page.records.empty()) page.first = seq;
    page.records.emplace_back(record);
    bytes += record.size();
    is_full = bytes >= range.bytes_max;
    return !is_full;
  };
  const Result<> done =
      writer_->records().read(view->place, view->in_file,
                              [&](const RecordSeen& seen) { return add(seen.seq, seen.record); });
  if (!done && done.error().code() == Code::damaged) {
    // A removal or a redaction may have changed the session since it was looked at.
    const Seq good = range.after + page.records.size();
    TRY_VOID(look_at(writer_->contents(), session, [&](StoredSession& found) {
      if (found.position == view->place.position && (!found.good || *found.good > good)) {
        found.good = good;
      }
    }));
    if (!page.records.empty()) return page;
  }
  if (!done) return std::unexpected(done.error());
  for (std::size_t i = 0; i < view->tail.size() && !is_full; ++i) {
    add(std::max(range.after, view->place.filled) + 1 + i, view->tail[i]);
  }
  return page;
}

Result<SessionHead> FilesStore::head(SessionId session) {
  SessionHead head;
  TRY_VOID(look_at(writer_->contents(), session, [&](const StoredSession& found) {
    head = {.seq = found.head, .cursor = found.cursor};
  }));
  return head;
}

Result<std::optional<StoredSnapshot>> FilesStore::snapshot(SessionId session) {
  std::optional<Seq> seq;
  std::optional<std::string> unsaved;
  TRY_VOID(look_at(writer_->contents(), session, [&](const StoredSession& found) {
    seq = found.snapshot_seq;
    unsaved = found.snapshot_unsaved;
  }));
  if (!seq) return std::nullopt;
  if (unsaved) return StoredSnapshot{.seq = *seq, .bytes = *std::move(unsaved)};
  std::optional<StoredSnapshot> saved = TRY(writer_->saved_snapshot(session));
  // A snapshot only saves work: without it, records are read from the first one.
  if (!saved || saved->seq != *seq) return std::nullopt;
  return saved;
}

Result<std::vector<OutboxRow>> FilesStore::outbox(SessionId session) {
  std::vector<OutboxRow> rows;
  TRY_VOID(look_at(writer_->contents(), session, [&](const StoredSession& found) {
    for (const auto& [number, payload] : found.outbox) rows.push_back({number, payload});
  }));
  return rows;
}

Result<std::optional<StoredAnswer>> FilesStore::answer(std::string_view key) {
  Contents& contents = writer_->contents();
  const std::scoped_lock lock(contents.mutex);
  const auto found = contents.answers.find(key);
  if (found == contents.answers.end()) return std::nullopt;
  return found->second;
}

Result<std::vector<StoredAnswer>> FilesStore::answers(std::string_view after, std::size_t limit) {
  Contents& contents = writer_->contents();
  const std::scoped_lock lock(contents.mutex);
  std::vector<StoredAnswer> out;
  for (auto at = contents.answers.upper_bound(after);
       at != contents.answers.end() && out.size() < limit; ++at) {
    out.push_back(at->second);
  }
  return out;
}

Result<std::optional<SessionId>> FilesStore::find_ref(std::string_view ref) {
  Contents& contents = writer_->contents();
  const std::scoped_lock lock(contents.mutex);
  const auto found = contents.refs.find(ref);
  if (found == contents.refs.end()) return std::nullopt;
  return found->second;
}

Result<std::string> FilesStore::blob(const Hash& hash) {
  {
    Contents& contents = writer_->contents();
    const std::scoped_lock lock(contents.mutex);
    if (!contents.blob_owners.contains(hash)) {
      return fail(Code::not_found, "no such blob: " + hash.hex());
    }
  }
  std::string bytes = TRY(read_whole(*writer_->options().disk, blob_file(hash)));
  if (sha256(bytes) != hash) return fail(Code::damaged, "the blob " + hash.hex() + " is damaged");
  return bytes;
}

Result<std::vector<SessionId>> FilesStore::open_sessions() {
  Contents& contents = writer_->contents();
  const std::scoped_lock lock(contents.mutex);
  return std::vector<SessionId>(contents.open.begin(), contents.open.end());
}

Result<std::vector<ListedSession>> FilesStore::list(SessionId after, std::size_t limit) {
  Contents& contents = writer_->contents();
  const std::scoped_lock lock(contents.mutex);
  std::vector<ListedSession> out;
  for (auto at = contents.sessions.upper_bound(after);
       at != contents.sessions.end() && out.size() < limit; ++at) {
    out.push_back({at->first, at->second.listing.value_or(Listing{})});
  }
  return out;
}

Result<SessionBelongings> FilesStore::belongings(SessionId session) {
  SessionBelongings out;
  TRY_VOID(look_at(writer_->contents(), session, [&](const StoredSession& found) {
    out.refs.assign(found.refs.begin(), found.refs.end());
    out.blobs.assign(found.blobs.begin(), found.blobs.end());
  }));
  return out;
}

}  // namespace perdure
