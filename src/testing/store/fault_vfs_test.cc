// Drives a real SQLite (WAL, synchronous=FULL, two connections) through the fault VFS: committed
// transactions survive every crash, others never appear, and every fault is reported.
#include "testing/store/fault_vfs.h"

#include <string>

#include <gtest/gtest.h>

namespace perdure {
namespace {

class Connection {
 public:
  explicit Connection(const FaultVfs& vfs, int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    open_code = sqlite3_open_v2("test.db", &db_, flags, vfs.name().c_str());
  }
  ~Connection() { sqlite3_close_v2(db_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int run(const std::string& sql) {
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  // The first column of the first row as text; otherwise "error" or "".
  std::string query(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return "error";
    std::string text;
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
      text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    else if (code != SQLITE_DONE)
      text = "error";
    sqlite3_finalize(statement);
    return text;
  }
  int set_up() {
    if (const int code = run("PRAGMA journal_mode=WAL")) return code;
    if (const int code = run("PRAGMA synchronous=FULL")) return code;
    return run("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, pad BLOB)");
  }
  int insert(int n) {
    return run("INSERT INTO t VALUES(" + std::to_string(n) + ", randomblob(3000))");
  }
  sqlite3* db() { return db_; }

  int open_code = SQLITE_OK;

 private:
  sqlite3* db_ = nullptr;
};

constexpr CrashOutcome outcomes[] = {CrashOutcome::process_only, CrashOutcome::kept,
                                     CrashOutcome::lost, CrashOutcome::torn, CrashOutcome::garbage};

TEST(FaultVfs, TwoConnectionsShareTheWal) {
  FaultVfs vfs;
  Connection writer(vfs);
  ASSERT_EQ(writer.set_up(), SQLITE_OK);
  EXPECT_EQ(writer.query("PRAGMA journal_mode"), "wal");
  Connection reader(vfs, SQLITE_OPEN_READONLY);
  EXPECT_EQ(reader.query("SELECT count(*) FROM t"), "0");
  ASSERT_EQ(reader.run("BEGIN; SELECT * FROM t"), SQLITE_OK);
  ASSERT_EQ(writer.insert(1), SQLITE_OK);
  EXPECT_EQ(reader.query("SELECT count(*) FROM t"), "0") << "a reader keeps its snapshot";
  ASSERT_EQ(reader.run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(reader.query("SELECT count(*) FROM t"), "1");
  ASSERT_EQ(writer.run("BEGIN IMMEDIATE"), SQLITE_OK);
  Connection other(vfs);
  EXPECT_EQ(other.run("BEGIN IMMEDIATE"), SQLITE_BUSY);
  ASSERT_EQ(writer.run("ROLLBACK"), SQLITE_OK);
  EXPECT_EQ(other.run("BEGIN IMMEDIATE; COMMIT"), SQLITE_OK);
  EXPECT_EQ(writer.run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  EXPECT_EQ(reader.query("SELECT count(*) FROM t"), "1");
}

TEST(FaultVfs, RollbackJournalWorksToo) {
  FaultVfs vfs;
  {
    Connection writer(vfs);
    ASSERT_EQ(writer.run("PRAGMA synchronous=EXTRA; CREATE TABLE t(n)"), SQLITE_OK);
    ASSERT_EQ(writer.run("BEGIN; INSERT INTO t VALUES(1)"), SQLITE_OK);
    Connection other(vfs);
    EXPECT_EQ(other.run("INSERT INTO t VALUES(2)"), SQLITE_BUSY);
    vfs.crash(CrashOutcome::torn);
  }
  Connection again(vfs);
  EXPECT_EQ(again.query("SELECT count(*) FROM t"), "0");
}

TEST(FaultVfs, S1_CommittedSurvivesAndUncommittedNeverAppears) {
  for (CrashOutcome outcome : outcomes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(static_cast<int>(outcome));
      FaultVfs vfs(seed);
      {
        Connection writer(vfs);
        Connection reader(vfs, SQLITE_OPEN_READONLY);
        ASSERT_EQ(writer.set_up(), SQLITE_OK);
        // A cache small enough that an open transaction spills into the WAL.
        writer.run("PRAGMA cache_size=5; PRAGMA wal_autocheckpoint=20");
        for (int n = 1; n <= 40; ++n) ASSERT_EQ(writer.insert(n), SQLITE_OK);
        EXPECT_EQ(reader.query("SELECT max(n) FROM t"), "40");
        ASSERT_EQ(writer.run("BEGIN"), SQLITE_OK);
        for (int n = 41; n <= 80; ++n) ASSERT_EQ(writer.insert(n), SQLITE_OK);
        vfs.crash(outcome);
        EXPECT_NE(writer.run("COMMIT"), SQLITE_OK);
      }
      Connection again(vfs);
      EXPECT_EQ(again.query("PRAGMA integrity_check"), "ok");
      EXPECT_EQ(again.query("SELECT count(*) FROM t"), "40");
      EXPECT_EQ(again.query("SELECT max(n) FROM t"), "40");
      EXPECT_EQ(again.insert(41), SQLITE_OK);
    }
  }
}

// The model detects missing syncs: without them, committed data is lost.
TEST(FaultVfs, WithoutSyncsCommitsAreLost) {
  FaultVfs vfs;
  {
    Connection writer(vfs);
    ASSERT_EQ(writer.set_up(), SQLITE_OK);
    ASSERT_EQ(writer.insert(1), SQLITE_OK);
    ASSERT_EQ(writer.run("PRAGMA synchronous=OFF"), SQLITE_OK);
    ASSERT_EQ(writer.insert(2), SQLITE_OK);
    vfs.crash(CrashOutcome::lost);
  }
  EXPECT_EQ(Connection(vfs).query("SELECT max(n) FROM t"), "1");
}

// Cuts the power at the n-th operation of a run with checkpoints, for every n.
TEST(FaultVfs, S1_PowerCutAtEveryOperation) {
  std::uint64_t n = 1;
  for (bool hit = true; hit; ++n) {
    FaultVfs vfs(n);
    int acknowledged = 0;
    {
      Connection writer(vfs);
      ASSERT_EQ(writer.set_up(), SQLITE_OK);
      writer.run("PRAGMA wal_autocheckpoint=8");
      vfs.disk().plan({.at = n,
                       .ops = {DiskOp::write, DiskOp::sync, DiskOp::truncate},
                       .kind = FaultKind::power_cut,
                       .time = FaultTime::from_then_on});
      for (int i = 1; i <= 20; ++i) {
        if (writer.insert(i) != SQLITE_OK) break;
        acknowledged = i;
      }
      hit = vfs.disk().fault_hit();
      vfs.crash(outcomes[1 + n % 4]);
    }
    Connection again(vfs);
    ASSERT_EQ(again.query("PRAGMA integrity_check"), "ok") << n;
    const int count = std::stoi(again.query("SELECT count(*) FROM t"));
    EXPECT_TRUE(count == acknowledged || count == acknowledged + 1) << n;
  }
  EXPECT_GT(n, 50U);
}

// A single failing operation is reported or harmless, and the file stays intact.
TEST(FaultVfs, EveryFaultIsReportedOrHarmless) {
  for (FaultKind kind : {FaultKind::eio, FaultKind::full, FaultKind::short_write}) {
    for (FaultTime time : {FaultTime::once, FaultTime::from_then_on}) {
      for (std::uint64_t n = 1;; ++n) {
        FaultVfs vfs(n);
        vfs.disk().plan({.at = n, .kind = kind, .time = time});
        bool complete = true;
        {
          Connection writer(vfs);
          if (writer.open_code == SQLITE_OK) complete = writer.set_up() == SQLITE_OK;
          for (int i = 1; i <= 3; ++i) complete = complete && writer.insert(i) == SQLITE_OK;
        }
        if (!vfs.disk().fault_hit()) break;
        vfs.disk().plan({});
        Connection again(vfs);
        ASSERT_EQ(again.query("PRAGMA integrity_check"), "ok") << n;
        if (complete) { ASSERT_EQ(again.query("SELECT count(*) FROM t"), "3") << n; }
      }
    }
  }
}

TEST(FaultVfs, EqualSeedsGiveEqualDisks) {
  auto image = [](std::uint64_t seed) {
    FaultVfs vfs(seed);
    {
      Connection writer(vfs);
      writer.set_up();
      for (int n = 1; n <= 10; ++n) writer.insert(n);
      vfs.crash(CrashOutcome::garbage);
    }
    return vfs.disk().contents("test.db").value_or("") +
           vfs.disk().contents("test.db-wal").value_or("");
  };
  EXPECT_TRUE(image(7) == image(7));
  EXPECT_FALSE(image(7) == image(8));
}

TEST(FaultVfs, DISK3_SilentDamageIsSeen) {
  FaultVfs vfs;
  {
    Connection writer(vfs);
    ASSERT_EQ(writer.set_up(), SQLITE_OK);
    for (int n = 1; n <= 30; ++n) ASSERT_EQ(writer.insert(n), SQLITE_OK);
    ASSERT_EQ(writer.run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  }
  vfs.disk().overwrite("test.db", 4096 + 2, std::string(64, '\xff'));
  Connection again(vfs);
  EXPECT_NE(again.query("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace perdure
