#include "perdure/offline/copy_store.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "env/posix/files/file_lock.h"
#include "env/posix/files/folder.h"
#include "store/line_chain.h"
#include "store/postgres/postgres_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t group_bytes = 4UL << 20;
constexpr std::size_t page = 256;

// Appends to a store that no other code steps, with many batches per commit.
class Filler {
 public:
  explicit Filler(StoreEngine& store) : store_(store) {}

  Result<> add(Append batch) {
    batch.epoch = store_.epoch();
    for (const std::string& record : batch.records) bytes_ += record.size();
    for (const Blob& blob : batch.blobs) bytes_ += blob.bytes.size();
    bytes_ += 256;
    store_.append(std::move(batch), [this](Result<> done) {
      if (!done && outcome_) outcome_ = std::move(done);
    });
    return bytes_ < group_bytes ? outcome_ : flush();
  }
  Result<> flush() {
    bytes_ = 0;
    while (store_.step()) {}
    return outcome_;
  }

 private:
  StoreEngine& store_;
  std::size_t bytes_ = 0;
  Result<> outcome_;
};

class Copy {
 public:
  Copy(StoreEngine& from, StoreEngine& to, const CopyOrder& order)
      : from_(from), to_(to), order_(order), filler_(to) {}

  Result<CopiedStore> run() {
    sessions_ = TRY(sessions());
    for (const SessionId id : sessions_) {
      tell("copied");
      TRY_VOID(of(id, copy_session(id)));
      done_.sessions += 1;
    }
    TRY_VOID(copy_answers());
    TRY_VOID(filler_.flush());
    TRY_VOID(to_.shut_down());
    done_.sessions = 0;
    for (const SessionId id : sessions_) {
      tell("compared");
      TRY_VOID(of(id, compare_session(id)));
      done_.sessions += 1;
    }
    const VerifyReport found = TRY(to_.verify());
    if (!found.damages.empty()) return fail(Code::damaged, found.damages.front().what);
    return done_;
  }

 private:
  static Result<> of(SessionId id, Result<> done) {
    if (done) return done;
    return std::unexpected(std::move(done.error()).with_context(id.text()));
  }

  void tell(const char* done) const {
    if (!order_.on_progress) return;
    order_.on_progress(std::to_string(done_.sessions) + " of " + std::to_string(sessions_.size()) +
                       " sessions " + done + ", " + std::to_string(done_.records) + " records");
  }

  Result<std::vector<SessionId>> sessions() {
    std::vector<SessionId> out;
    SessionId after;
    while (true) {
      const std::vector<ListedSession> listed = TRY(from_.list(after, page));
      for (const ListedSession& line : listed) out.push_back(line.session);
      if (listed.size() < page) return out;
      after = out.back();
    }
  }

  // The listing requires the rows: without them the session could not be opened.
  Result<Append> rows_of(SessionId id) {
    Append rows{.session = id};
    const SessionHead head = TRY(from_.head(id));
    rows.expected_head = head.seq;
    rows.cursor = head.cursor;
    rows.outbox_add = TRY(from_.outbox(id));
    const SessionId before(Ulid{.high = id.ulid().low == 0 ? id.ulid().high - 1 : id.ulid().high,
                                .low = id.ulid().low - 1});
    const std::vector<ListedSession> listed = TRY(from_.list(before, 1));
    if (!listed.empty() && listed.front().session == id) rows.listing = listed.front().listing;
    if (rows.listing && *rows.listing == Listing{}) rows.listing.reset();
    return rows;
  }

  Result<> copy_session(SessionId id) {
    const std::optional<StoredSnapshot> snapshot = TRY(from_.snapshot(id));
    SessionBelongings belongings = TRY(from_.belongings(id));
    Append rows = TRY(rows_of(id));
    rows.refs = std::move(belongings.refs);
    Seq at = 0;
    while (at < rows.expected_head) {
      const bool is_before = snapshot && at < snapshot->seq;
      const std::size_t limit =
          is_before ? std::min<Seq>(page_records_max, snapshot->seq - at) : page_records_max;
      RecordPage records =
          TRY(from_.read(id, {.after = at, .limit = limit, .bytes_max = group_bytes}));
      if (records.records.empty()) return fail(Code::damaged, "records are missing");
      Append batch{.session = id, .expected_head = at, .records = std::move(records.records)};
      at += batch.records.size();
      done_.records += batch.records.size();
      if (snapshot && at == snapshot->seq) batch.snapshot = snapshot->bytes;
      TRY_VOID(filler_.add(std::move(batch)));
      if (at / page_records_max % 64 == 63) tell("copied");
    }
    // One append each, because together they may exceed the limit of an append.
    for (const Hash& hash : belongings.blobs) {
      Append batch{.session = id, .expected_head = at};
      batch.blobs.push_back({.hash = hash, .bytes = TRY(from_.blob(hash))});
      TRY_VOID(filler_.add(std::move(batch)));
      done_.blobs += 1;
    }
    return filler_.add(std::move(rows));
  }

  // Stored answers belong to the store. They are appended with the first session, which is not
  // changed.
  Result<> copy_answers() {
    if (sessions_.empty()) return {};
    const SessionId carrier = sessions_.front();
    const SessionHead head = TRY(from_.head(carrier));
    std::string after;
    while (true) {
      std::vector<StoredAnswer> answers = TRY(from_.answers(after, page));
      if (answers.empty()) return {};
      after = answers.back().key;
      done_.answers += answers.size();
      TRY_VOID(filler_.add(
          {.session = carrier, .expected_head = head.seq, .answers = std::move(answers)}));
    }
  }

  Result<> compare_session(SessionId id) {
    const SessionHead head = TRY(from_.head(id));
    if (TRY(to_.head(id)) != head) return fail(Code::damaged, "the copy has another head");
    if (TRY(to_.outbox(id)) != TRY(from_.outbox(id))) {
      return fail(Code::damaged, "the copy has another outbox");
    }
    LineChain chain;
    for (Seq at = 0; at < head.seq;) {
      const ReadRange range{.after = at, .limit = page_records_max, .bytes_max = group_bytes};
      const RecordPage left = TRY(from_.read(id, range));
      const RecordPage right = TRY(to_.read(id, range));
      if (left.records.empty() || left.records != right.records) {
        return fail(Code::damaged, "the copy differs behind record " + std::to_string(at));
      }
      for (const std::string& record : right.records) {
        ++at;
        if (chain.add(record) == LineChain::Link::broken) {
          return fail(Code::damaged,
                      "record " + std::to_string(at) + " does not hold the hash of the one before");
        }
      }
    }
    return {};
  }

  StoreEngine& from_;
  StoreEngine& to_;
  const CopyOrder& order_;
  Filler filler_;
  std::vector<SessionId> sessions_;
  CopiedStore done_;
};

// Removes only what the copy created.
void remove_copy(const StorePlace& place) {
  std::error_code error;
  if (place.engine == EngineName::postgres) {
    (void)drop_postgres_store(place.path);
    return;
  }
  if (place.engine == EngineName::sqlite) {
    for (const std::string& part : sqlite_parts(place.path)) fs::remove(part, error);
    return;
  }
  for (const char* const name :
       {"store.json", "answers.jsonl", "sessions", "commits", "blobs", "reserve"}) {
    fs::remove_all(place.path + "/" + name, error);
  }
}

Result<> check_target(const StorePlace& to) {
  std::error_code error;
  if (to.engine == EngineName::postgres) {
    if (!TRY(has_postgres_store(to.path))) return {};
    return fail(Code::conflict, "the database at " + to.text() + " has a store already");
  }
  if (fs::exists(landmark(to), error)) {
    return fail(Code::conflict, to.text() + " is there already");
  }
  if (to.engine == EngineName::sqlite) {
    for (const std::string& part : sqlite_parts(to.path)) {
      if (fs::exists(part, error)) return fail(Code::conflict, part + " is there already");
    }
    return {};
  }
  for (const char* const name : {"sessions", "commits", "blobs"}) {
    if (fs::exists(to.path + "/" + name, error)) {
      return fail(Code::conflict, to.path + "/" + name + " is there already");
    }
  }
  return {};
}

}  // namespace

Result<StoreLock> StoreLock::acquire(const StorePlace& place) {
  struct Held {
    std::unique_ptr<PosixFolder> folder;
    std::optional<FileLock> lock;
  };
  // The database itself knows which daemons use it.
  if (place.engine == EngineName::postgres) return StoreLock();
  const std::string path =
      place.engine == EngineName::files ? place.path : fs::path(place.path).parent_path().string();
  StoreLock out;
  std::error_code error;
  if (!fs::exists(path + "/lock", error)) return out;
  const auto held = std::make_shared<Held>();
  held->folder = TRY(PosixFolder::open(path));
  Result<FileLock> lock = FileLock::try_acquire(*held->folder, "lock");
  if (!lock && lock.error().code() == Code::conflict) {
    return fail(Code::conflict,
                "a daemon is using " + path +
                    "; end it with `perdure serve --stop` first (the agents go on)");
  }
  held->lock = TRY(std::move(lock));
  out.held_ = held;
  return out;
}

Result<CopiedStore> copy_store(const CopyOrder& order) {
  if (order.from.path == order.to.path) {
    return fail(Code::conflict, "a store is not copied to its own place");
  }
  const auto folder_of = [](const StorePlace& place) {
    return place.engine == EngineName::files ? place.path
                                             : fs::path(place.path).parent_path().string();
  };
  const StoreLock from_lock = TRY(StoreLock::acquire(order.from));
  std::optional<StoreLock> to_lock;
  if (folder_of(order.from) != folder_of(order.to)) to_lock = TRY(StoreLock::acquire(order.to));
  TRY_VOID(check_target(order.to));
  const std::unique_ptr<StoreEngine> from = TRY(open_journal(order.from, {}));
  const auto copy = [&]() -> Result<CopiedStore> {
    // Agents may still be running, and they obey no owner of an earlier epoch than they know.
    const std::unique_ptr<StoreEngine> to =
        TRY(open_journal(order.to, {.create = true, .epoch_min = from->epoch()}));
    const CopiedStore copied = TRY(Copy(*from, *to, order).run());
    TRY_VOID(to->shut_down());
    return copied;
  };
  Result<CopiedStore> copied = copy();
  if (!copied) remove_copy(order.to);
  return copied;
}

}  // namespace perdure
