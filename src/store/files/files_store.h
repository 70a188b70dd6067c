// The journal as plain files, for people who want to read and grep it. The folder has, per session,
// its records as JSON lines, its snapshot and its token index, and a commit log that they are
// filled from. Layout: docs/protocol/files.md; guarantees: store/store.h.
//
// One thread steps it, like every StoreEngine. No thread, clock or randomness is used in here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/engine.h"
#include "store/files/disk.h"

namespace perdure {

class FilesWriter;

struct FilesOptions {
  std::shared_ptr<JournalDisk> disk;  // of the store's folder

  // Runs once, on the thread that met the error, when the outcome of a write is unknown: the
  // process must exit. Must not call the store.
  std::function<void(Error)> on_fatal;
  // Extracts the text by which a record's session is found. Search requires it.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;
  // Checked before each group is written; false refuses the group (disk_full).
  std::function<bool()> is_there;
  // Opens another folder, for backups.
  std::function<Result<std::unique_ptr<JournalDisk>>(const std::string& path)> make_disk;

  bool create = true;           // false: a missing store is an error
  bool salvage = false;         // skip unreadable groups of the commit log
  std::string new_log_id;       // for a new store or a restored backup; must be unique
  std::uint64_t epoch_min = 0;  // the epoch is at least this

  std::size_t reserve_bytes = 4UL << 20;    // freed for essential appends; 0: none
  std::size_t group_bytes_max = 8UL << 20;  // a commit takes no more appends after this
  std::size_t fill_bytes = 256UL << 10;     // unfilled bytes that trigger a fill; when idle, any do
  std::size_t segment_bytes = 32UL << 20;   // of the commit log before sessions are saved
  std::uint64_t quiet_steps = 10;  // idle steps without an append before a session is saved
  std::size_t files_open_max = 256;
  std::size_t search_bytes_max = 64UL << 20;  // of records that one search reads
};

class FilesStore final : public StoreEngine {
 public:
  // Opens or creates the store and recovers it. Reads every session's rows and the commit log, not
  // the records. Errors as SqliteStore::open. After an error the files are unchanged.
  static Result<std::unique_ptr<FilesStore>> open(FilesOptions options);
  ~FilesStore() override;

  bool step() override;
  bool idle_step() override;
  bool wait_for_work(std::chrono::milliseconds timeout) override;
  void wake() override;
  Result<> shut_down() override;
  Result<> backup(std::string path, Done done) override;
  Result<> forget_answers(Timestamp now) override;
  using StoreEngine::verify;
  Result<VerifyReport> verify(const OnVerified& on_session) override;
  EngineTotals totals() override;
  Result<SessionBelongings> belongings(SessionId session) override;
  Result<std::vector<StoredAnswer>> answers(std::string_view after, std::size_t limit) override;

  // Checks again whether the disk has space; true if appends are accepted.
  bool retry_space();
  std::vector<std::string> notes() const override;

  void append(Append batch, Done done) override;
  Result<RecordPage> read(SessionId session, ReadRange range) override;
  Result<SessionHead> head(SessionId session) override;
  Result<std::optional<StoredSnapshot>> snapshot(SessionId session) override;
  Result<std::vector<OutboxRow>> outbox(SessionId session) override;
  Result<std::optional<StoredAnswer>> answer(std::string_view key) override;
  Result<std::optional<SessionId>> find_ref(std::string_view ref) override;
  Result<std::string> blob(const Hash& hash) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) override;
  // Reads records, most recently appended sessions first, up to search_bytes_max of them.
  Result<std::vector<SearchHit>> search(const SearchAsk& ask) override;
  Result<> remove(SessionId session) override;
  Result<> redact(Redaction redaction) override;
  std::uint64_t epoch() const override;
  const std::string& log_id() const override;

 private:
  explicit FilesStore(std::unique_ptr<FilesWriter> writer);

  std::unique_ptr<FilesWriter> writer_;
};

}  // namespace perdure
