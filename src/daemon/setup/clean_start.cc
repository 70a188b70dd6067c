#include "daemon/setup/clean_start.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "base/time.h"
#include "core/wire/agentctl/bootstrap.h"
#include "env/posix/loop/loop.h"
#include "env/posix/process/processes.h"
#include "env/posix/world.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// For both engines. The files that identify a journal come first: a start refuses the rest without
// them, but SQLite's file without its -wal would open as if it were complete.
constexpr std::array of_journal = {"perdure.db",
                                   "store.json",
                                   "answers.jsonl",
                                   "sessions",
                                   "commits",
                                   "blobs",
                                   "reserve",
                                   "perdure.db-wal",
                                   "perdure.db-wal.redo",
                                   "perdure.db-journal",
                                   "perdure.db-shm",
                                   "perdure.db.reserve"};
// The key comes last: while it exists, no start creates an empty journal.
constexpr std::array beside_journal = {"env", "workspaces", "worktrees", "log", "wait.key"};

// The names that exist and have to move, in the order of the move. Empty without a journal or the
// remainder of an interrupted move.
std::vector<std::string> names_to_move(const std::string& data_path, Aside what) {
  std::error_code error;
  std::vector<std::string> names = journal_parts(data_path);
  const std::string spool = data_path + "/spool";
  const bool has_spools = fs::is_directory(spool, error) && !fs::is_empty(spool, error);
  const bool has_key = fs::exists(data_path + "/wait.key", error);
  if (names.empty() && !has_spools && (what == Aside::journal || !has_key)) return {};
  const auto add = [&](const char* name) {
    if (fs::exists(data_path + "/" + name, error)) names.emplace_back(name);
  };
  add("spool");
  if (what == Aside::everything) std::ranges::for_each(beside_journal, add);
  return names;
}

}  // namespace

Result<> end_agentctls(const DataFolder& data) {
  const std::unique_ptr<EpollLoop> loop = TRY(EpollLoop::create());
  const auto processes = PosixProcesses::create(*loop);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data.spool(), error)) {
    const std::string exec = entry.path().filename();
    const Result<ExecId> id = ExecId::parse(exec);
    if (!id) continue;  // not created by us
    const std::string mark = exec_mark({*id, data.identity()});
    if (const std::size_t left = processes->kill_marked(mark); left > 0) {
      return fail(Code::unavailable,
                  std::to_string(left) + " processes of execution " + exec + " do not end");
    }
  }
  return {};
}

std::vector<std::string> journal_parts(const std::string& data_path) {
  std::error_code error;
  std::vector<std::string> out;
  for (const char* const name : of_journal) {
    if (fs::exists(data_path + "/" + name, error)) out.emplace_back(name);
  }
  return out;
}

Result<std::string> put_aside(const std::string& data_path, Aside what) {
  if (names_to_move(data_path, what).empty()) return std::string();
  const std::unique_ptr<DataFolder> data = TRY(DataFolder::open(data_path));
  TRY_VOID(data->lock());
  TRY_VOID(end_agentctls(*data));
  const std::unique_ptr<PosixClock> clock = TRY(PosixClock::create());
  const std::string archive = data_path + "/archive";
  const std::string kept = archive + "/" + format_timestamp(clock->now().wall);
  std::error_code error;
  fs::create_directories(kept, error);
  fs::permissions(archive, fs::perms::owner_all, error);
  fs::permissions(kept, fs::perms::owner_all, error);
  if (error) return fail(Code::unavailable, kept + ": " + error.message());
  for (const std::string& name : names_to_move(data_path, what)) {
    const std::string from = data_path + "/" + name;
    fs::rename(from, kept + "/" + name, error);
    if (error) return fail(Code::unavailable, from + ": " + error.message());
    // Makes the order hold on the disk too.
    TRY_VOID(sync_path(kept));
    TRY_VOID(sync_path(data_path));
  }
  return kept;
}

}  // namespace perdure
