// The conformance suite on the SQLite engine, over the fault VFS: a crash is a power cut that
// loses, keeps, tears or garbles unsynced data. Runs once with the default thresholds and once with
// thresholds so small that every few commits flush and checkpoint.
#include "base/check.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/store/fault_vfs.h"
#include "testing/store/store_conformance.h"

namespace perdure {
namespace {

constexpr CrashOutcome outcomes[] = {CrashOutcome::lost, CrashOutcome::process_only,
                                     CrashOutcome::torn, CrashOutcome::garbage, CrashOutcome::kept};

class SqliteUnderTest : public StoreUnderTest {
 public:
  explicit SqliteUnderTest(SqliteOptions options) : options_(std::move(options)) {
    options_.path = "journal.db";
    options_.vfs = vfs_.name();
    options_.on_fatal = [](Error error) { CHECK(false, error.message()); };
    options_.search_piece = [](std::string_view record) {
      return SearchPiece{.parts = {std::string(record)}};
    };
    open();
  }
  ~SqliteUnderTest() override { store_.reset(); }

  Store& store() override { return *store_; }
  void pump() override {
    while (store_->step()) {}
    while (store_->idle_step()) {}
  }
  void reopen() override {
    pump();
    CHECK(store_->shut_down().has_value());
    store_.reset();
    open();
  }
  void crash_reopen() override {
    vfs_.crash(outcomes[crashes_++ % std::size(outcomes)]);
    store_.reset();
    open();
  }

 private:
  void open() {
    auto opened = SqliteStore::open(options_);
    CHECK(opened.has_value(), opened ? "" : opened.error().message());
    store_ = *std::move(opened);
  }

  FaultVfs vfs_;
  SqliteOptions options_;
  std::unique_ptr<SqliteStore> store_;
  std::size_t crashes_ = 0;
};

const bool registered = register_store_conformance(
    "Sqlite", [] { return std::make_unique<SqliteUnderTest>(SqliteOptions{}); });

const bool registered_busy = register_store_conformance("SqliteBusy", [] {
  return std::make_unique<SqliteUnderTest>(SqliteOptions{.reserve_bytes = 64UL << 10,
                                                         .flush_bytes_min = 4096,
                                                         .flush_bytes_max = 16384,
                                                         .flush_idle_bytes = 0,
                                                         .checkpoint_bytes = 64UL << 10,
                                                         .checkpoint_idle_bytes = 0,
                                                         .group_bytes_max = 8192,
                                                         .sessions_cached_max = 2,
                                                         .readers_max = 1});
});

}  // namespace
}  // namespace perdure
