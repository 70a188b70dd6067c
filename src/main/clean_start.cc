#include "main/clean_start.h"

#include <array>
#include <filesystem>
#include <memory>

#include "base/time.h"
#include "env_posix/loop.h"
#include "env_posix/processes.h"
#include "env_posix/world.h"
#include "wire/bootstrap.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// Those of the journal first.
constexpr std::array moved = {
    "perdure.db", "store.json", "answers.jsonl",  "sessions",       "commits",
    "blobs",      "reserve",    "perdure.db-wal", "perdure.db-shm", "perdure.db.reserve",
    "spool",      "env",        "workspaces",     "worktrees",      "log",
    "wait.key"};
constexpr std::size_t of_journal = 11;

}  // namespace

Result<> end_agentctls(const DataFolder& data) {
  const std::unique_ptr<EpollLoop> loop = TRY(EpollLoop::create());
  const auto processes = PosixProcesses::create(*loop);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data.spool(), error)) {
    const std::string exec = entry.path().filename();
    const Result<ExecId> id = ExecId::parse(exec);
    if (!id) continue;  // not made by us
    const std::string mark = exec_mark({*id, data.identity()});
    if (const std::size_t left = processes->kill_marked(mark); left > 0) {
      return fail(Code::unavailable,
                  std::to_string(left) + " processes of execution " + exec + " do not end");
    }
  }
  return {};
}

Result<std::string> put_aside(const std::string& data_path, Aside what) {
  std::error_code error;
  const bool has_journal =
      fs::exists(data_path + "/perdure.db", error) || fs::exists(data_path + "/store.json", error);
  if (!has_journal) return std::string();
  const std::unique_ptr<DataFolder> data = TRY(DataFolder::open(data_path));
  TRY_VOID(data->lock());
  TRY_VOID(end_agentctls(*data));
  const std::unique_ptr<PosixClock> clock = TRY(PosixClock::create());
  const std::string archive = data_path + "/archive";
  const std::string kept = archive + "/" + format_timestamp(clock->now().wall);
  fs::create_directories(kept, error);
  fs::permissions(archive, fs::perms::owner_all, error);
  fs::permissions(kept, fs::perms::owner_all, error);
  if (error) return fail(Code::unavailable, kept + ": " + error.message());
  // The journal goes last: as long as it is in its place, nothing was put aside.
  for (std::size_t left = what == Aside::journal ? of_journal : moved.size(); left > 0; --left) {
    const std::string name = moved[left - 1];
    const std::string from = data_path + "/" + name;
    if (!fs::exists(from, error)) continue;
    fs::rename(from, kept + "/" + name, error);
    if (error) return fail(Code::unavailable, from + ": " + error.message());
  }
  return kept;
}

}  // namespace perdure
