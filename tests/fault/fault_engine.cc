// Each engine over its fault disk.
#include "fault_engine.h"

#include <gtest/gtest.h>

#include "store/files/files_store.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/store/fault_files.h"
#include "testing/store/fault_vfs.h"

namespace perdure {
namespace {

class FaultSqlite final : public FaultEngine {
 public:
  explicit FaultSqlite(std::uint64_t seed) : vfs_(seed) {}

  FaultDisk& disk() override { return vfs_.disk(); }
  void crash(CrashOutcome outcome) override { vfs_.crash(outcome); }
  Result<std::unique_ptr<StoreEngine>> open(std::function<void(const Error&)> on_fatal) override {
    return TRY(SqliteStore::open({.path = "journal.db",
                                  .vfs = vfs_.name(),
                                  .on_fatal = std::move(on_fatal),
                                  .reserve_bytes = 64UL << 10,
                                  .flush_bytes_min = 8192,
                                  .flush_bytes_max = 16384,
                                  .flush_idle_bytes = 2048,
                                  .checkpoint_bytes = 96UL << 10,
                                  .checkpoint_idle_bytes = 32UL << 10,
                                  .sessions_cached_max = 3,
                                  .readers_max = 1}));
  }
  Result<std::unique_ptr<StoreEngine>> open_plain(std::function<void(const Error&)> on_fatal,
                                                  std::size_t reserve_bytes) override {
    return TRY(SqliteStore::open({.path = "journal.db",
                                  .vfs = vfs_.name(),
                                  .on_fatal = std::move(on_fatal),
                                  .reserve_bytes = reserve_bytes}));
  }
  void check_integrity() override {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open_v2("journal.db", &db, SQLITE_OPEN_READWRITE, vfs_.name().c_str()),
              SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    std::string verdict = "error";
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
      verdict = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    EXPECT_EQ(verdict, "ok");
  }
  bool retry_space(StoreEngine& store) override {
    return static_cast<SqliteStore&>(store).retry_space();
  }

 private:
  FaultVfs vfs_;
};

class FaultFilesEngine final : public FaultEngine {
 public:
  explicit FaultFilesEngine(std::uint64_t seed) : disk_(seed) {}

  FaultDisk& disk() override { return disk_; }
  void crash(CrashOutcome outcome) override { disk_.crash(outcome); }
  Result<std::unique_ptr<StoreEngine>> open(std::function<void(const Error&)> on_fatal) override {
    return TRY(FilesStore::open({.disk = make_fault_files(disk_),
                                 .on_fatal = std::move(on_fatal),
                                 .new_log_id = "log",
                                 .reserve_bytes = 64UL << 10,
                                 .fill_bytes = 2048,
                                 .segment_bytes = 16UL << 10,
                                 .quiet_steps = 2,
                                 .files_open_max = 3}));
  }
  Result<std::unique_ptr<StoreEngine>> open_plain(std::function<void(const Error&)> on_fatal,
                                                  std::size_t reserve_bytes) override {
    return TRY(FilesStore::open({.disk = make_fault_files(disk_),
                                 .on_fatal = std::move(on_fatal),
                                 .new_log_id = "log",
                                 .reserve_bytes = reserve_bytes}));
  }
  // Every line and file proves its own integrity, except those from the last moments before the
  // crash.
  void check_integrity() override {
    auto opened = FilesStore::open({.disk = make_fault_files(disk_), .reserve_bytes = 0});
    ASSERT_TRUE(opened) << opened.error().message();
    const Result<VerifyReport> report = (*opened)->verify();
    ASSERT_TRUE(report) << report.error().message();
    for (const Damage& damage : report->damages) {
      EXPECT_TRUE(!damage.session && damage.what.contains("was cut")) << damage.what;
    }
  }
  bool retry_space(StoreEngine& store) override {
    return static_cast<FilesStore&>(store).retry_space();
  }

 private:
  FaultDisk disk_;
};

}  // namespace

std::unique_ptr<FaultEngine> make_fault_engine(EngineKind kind, std::uint64_t seed) {
  if (kind == EngineKind::sqlite) return std::make_unique<FaultSqlite>(seed);
  return std::make_unique<FaultFilesEngine>(seed);
}

const char* engine_name(EngineKind kind) { return kind == EngineKind::sqlite ? "sqlite" : "files"; }

}  // namespace perdure
