#include "perdure/offline/local_verbs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "base/json/json.h"
#include "core/session/machine.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/load.h"
#include "daemon/serve.h"
#include "daemon/setup/clean_start.h"
#include "daemon/setup/config.h"
#include "daemon/setup/data_folder.h"
#include "daemon/setup/leftovers.h"
#include "daemon/setup/open_journal.h"
#include "daemon/setup/opencode_rows.h"
#include "daemon/setup/run_backup.h"
#include "daemon/setup/stored_epoch.h"
#include "editor/stdio.h"
#include "env/posix/files/file_tree.h"
#include "env/posix/world.h"
#include "perdure/offline/copy_store.h"
#include "perdure/offline/doctor.h"
#include "perdure/offline/remote_verbs.h"
#include "perdure/offline/salvage_store.h"
#include "perdure/offline/service.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// The data folder under its lock, and its store if it has one.
struct Offline {
  std::unique_ptr<DataFolder> data;
  std::unique_ptr<StoreEngine> store;
};

Result<std::unique_ptr<DataFolder>> locked_folder() {
  const Places places = TRY(find_places());
  std::unique_ptr<DataFolder> data = TRY(DataFolder::open(places.data));
  const Result<> locked = data->lock();
  if (!locked && locked.error().code() == Code::conflict) {
    return fail(Code::conflict,
                "a daemon is using " + places.data +
                    "; end it with `perdure serve --stop` first (the agents go on)");
  }
  TRY_VOID(locked);
  return data;
}

Result<Offline> open_offline() {
  Offline out{.data = TRY(locked_folder()), .store = nullptr};
  const StorePlace place = TRY(choose_journal(out.data->path(), std::nullopt));
  out.store = TRY(open_journal(place, {}));
  return out;
}

// The size of one file, or the total size of all files below one folder.
std::uint64_t bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  }
  return bytes;
}

Result<cli::VerifyReport> verify_store(StoreEngine& store) {
  const VerifyReport found = TRY(store.verify());
  cli::VerifyReport report{.sessions = TRY(sessions_of(store)).size(),
                           .records = found.record_count};
  for (const Damage& damage : found.damages) {
    const std::string name = damage.session ? damage.session->text() : "";
    report.damaged.push_back({name, damage.good, damage.what});
  }
  return report;
}

Result<cli::VerifyReport> verify(const std::string& session) {
  const Offline offline = TRY(open_offline());
  cli::VerifyReport report = TRY(verify_store(*offline.store));
  std::erase_if(report.damaged, [&](const cli::DamagedSession& damaged) {
    return !session.empty() && damaged.session != session;
  });
  return report;
}

Result<cli::VerifyReport> verify_place(const std::string& text) {
  const StorePlace place = TRY(parse_store_place(text));
  const StoreLock lock = TRY(StoreLock::acquire(place));
  const std::unique_ptr<StoreEngine> store = TRY(open_journal(place, {}));
  return verify_store(*store);
}

// Without a place: the journal of the data folder.
Result<cli::SalvageReport> salvage(const std::string& text) {
  const StorePlace place = TRY(parse_store_place(text.empty() ? TRY(find_places()).data : text));
  const StoreLock lock = TRY(StoreLock::acquire(place));
  const SalvagedStore salvaged = TRY(salvage_store(place));
  const cli::VerifyReport verified = TRY(verify_store(*salvaged.store));
  TRY_VOID(salvaged.store->shut_down());
  return cli::SalvageReport{.kept = salvaged.kept,
                            .indexes_rebuilt = salvaged.indexes_rebuilt,
                            .sessions = verified.sessions,
                            .records = verified.records,
                            .damaged = verified.damaged};
}

Result<cli::CopyReport> copy(const cli::CopyLocally& order) {
  const StorePlace from = TRY(parse_store_place(order.from));
  const StorePlace to = TRY(parse_store_place(order.to));
  const CopiedStore copied =
      TRY(copy_store({.from = from, .to = to, .on_progress = order.on_progress}));
  return cli::CopyReport{.sessions = copied.sessions,
                         .records = copied.records,
                         .answers = copied.answers,
                         .blobs = copied.blobs};
}

// The steps that the daemon would write, by the same decision.
std::vector<std::string> repair_steps(const State& state) {
  const Result<Decision> decision = decide(state, Input{.body = RepairSession{}});
  if (!decision) return {"look whether its agent still runs; its end closes what is open"};
  std::vector<std::string> steps;
  for (const Event& event : decision->events) {
    std::string step = "add " + std::string(event_kind(event));
    if (const auto* tool = get_if<RepairClosedTool>(&event.body)) step += " " + tool->tool_call_id;
    steps.push_back(std::move(step));
  }
  return steps;
}

// Writes nothing: the daemon appends a repair when it next checks the session.
Result<cli::RepairReport> repair(const cli::RepairLocally& order) {
  if (!order.dry_run) {
    return fail(Code::unavailable,
                "without a daemon a repair can only be planned (--dry-run); it is written when the "
                "daemon next runs");
  }
  const Offline offline = TRY(open_offline());
  cli::RepairReport report{.dry_run = true};
  for (const SessionId session : TRY(sessions_of(*offline.store))) {
    const std::string name = session.text();
    if (!order.session.empty() && order.session != name) continue;
    const Result<LoadedSession> loaded = load_session(*offline.store, session);
    if (!loaded) {
      report.steps.push_back(name + ": cannot be read: " + loaded.error().message());
      continue;
    }
    for (const std::string& step : repair_steps(loaded->state)) {
      report.steps.push_back(name + ": " + step);
    }
  }
  return report;
}

Result<cli::FileReport> back_up(const std::string& file) {
  const Offline offline = TRY(open_offline());
  const std::string path = fs::absolute(file).lexically_normal();
  TRY_VOID(run_backup(*offline.store, path));
  return cli::FileReport{.file = path,
                         .sessions = TRY(sessions_of(*offline.store)).size(),
                         .bytes = bytes_of(path),
                         .damaged = {}};
}

// The files of SQLite at a separate place, or the folder of the files engine.
std::vector<std::string> parts_of(const StorePlace& place) {
  if (place.engine == EngineName::files) return {place.path};
  return sqlite_parts(place.path);
}

// Includes the log beside it, which a killed daemon leaves.
Result<> copy_backup(const std::string& from, const StorePlace& candidate) {
  std::error_code error;
  fs::copy(from, candidate.path, fs::copy_options::recursive, error);
  for (const char* const tail : {"-wal", "-wal.redo"}) {
    if (error || candidate.engine != EngineName::sqlite) break;
    if (fs::exists(from + tail, error)) fs::copy(from + tail, candidate.path + tail, error);
  }
  return error ? fail(Code::unavailable, candidate.path + ": " + error.message()) : Result<>();
}

// The epoch of the journal that is to be replaced. Agents on other hosts may still obey the daemon
// of its last epoch, and none of an earlier one.
struct EpochBefore {
  std::uint64_t epoch = 0;
  bool is_last = false;  // otherwise there may have been later ones
};
EpochBefore epoch_before(const std::optional<StorePlace>& place) {
  if (!place) return {};
  if (const auto store = open_journal(*place, {})) return {(*store)->epoch(), true};
  return {stored_epoch(*place).value_or(0), false};
}

// More openings than any journal has between a backup and its end.
constexpr std::uint64_t epoch_step = 1'000'000;

std::uint64_t epoch_behind(const EpochBefore& before, const StorePlace& candidate) {
  if (before.is_last) return before.epoch + 1;
  return std::max(before.epoch, stored_epoch(candidate).value_or(0)) + epoch_step;
}

// Refuses what a daemon would refuse. A damaged session is served read-only, and the notes of an
// opening, such as a torn end that was cut, are no obstacle.
Result<> refuse_damaged_store(const StoreEngine& store, const cli::VerifyReport& found) {
  const std::vector<std::string> notes = store.notes();
  for (const cli::DamagedSession& damage : found.damaged) {
    if (damage.session.empty() && std::ranges::find(notes, damage.message) == notes.end()) {
      return fail(Code::damaged, damage.message);
    }
  }
  return {};
}

// Copies the backup to `candidate`, which gets an epoch later than `before`, and reads all of it.
// Removes the candidate after an error.
struct Candidate {
  std::string from;
  StorePlace place;
  EpochBefore before;
};
Result<cli::VerifyReport> copy_and_verify(const Candidate& order) {
  const auto& [from, candidate, before] = order;
  std::error_code error;
  const auto without = [&] {
    for (const std::string& part : parts_of(candidate)) fs::remove_all(part, error);
  };
  without();
  const auto read = [&]() -> Result<cli::VerifyReport> {
    TRY_VOID(copy_backup(from, candidate));
    const std::unique_ptr<StoreEngine> store =
        TRY(open_journal(candidate, {.epoch_min = epoch_behind(before, candidate)}));
    cli::VerifyReport found = TRY(verify_store(*store));
    TRY_VOID(refuse_damaged_store(*store, found));
    TRY_VOID(store->shut_down());
    return found;
  };
  Result<cli::VerifyReport> found = read();
  if (found) return found;
  without();
  return std::unexpected(std::move(found).error().with_context(from));
}

Result<> move_folder(const StorePlace& candidate, const std::string& data) {
  std::error_code error;
  for (const char* const name :
       {"reserve", "blobs", "commits", "sessions", "answers.jsonl", "store.json"}) {
    const std::string from = candidate.path + "/" + name;
    if (!fs::exists(from, error)) continue;
    fs::rename(from, data + "/" + name, error);
    if (error) return fail(Code::unavailable, from + ": " + error.message());
  }
  fs::remove_all(candidate.path, error);
  return {};
}

// A folder's files move one by one; the one that marks a store comes last. conflict: parts of
// another journal are there, and SQLite would mix the two.
Result<> put_in_place(const StorePlace& candidate, const DataFolder& data) {
  std::error_code error;
  if (const std::vector<std::string> old = journal_parts(data.path()); !old.empty()) {
    return fail(Code::conflict, data.path() + "/" + old.front() + " is of another journal");
  }
  if (candidate.engine == EngineName::sqlite && bytes_of(candidate.path + "-wal") > 0) {
    return fail(Code::unavailable, candidate.path + "-wal still has commits of the backup");
  }
  TRY_VOID(sync_tree(candidate.path));
  if (candidate.engine == EngineName::sqlite) {
    for (const std::string& part : parts_of(candidate)) {
      if (part != candidate.path) fs::remove(part, error);
    }
    fs::rename(candidate.path, data.path() + "/perdure.db", error);
    if (error) return fail(Code::unavailable, data.path() + ": " + error.message());
  } else {
    TRY_VOID(move_folder(candidate, data.path()));
  }
  return sync_path(data.path());
}

// Checks the backup before anything changes, and moves the old journal aside without destroying it.
Result<cli::FileReport> restore(const cli::RestoreLocally& order) {
  const std::string from = fs::absolute(order.file).lexically_normal();
  std::error_code error;
  const bool is_folder = fs::exists(from + "/store.json", error);
  if (!is_folder && !fs::is_regular_file(from, error)) {
    return fail(Code::not_found, from + " is not there, or no backup");
  }
  const Places places = TRY(find_places());
  const std::optional<StorePlace> present = TRY(find_journal(places.data));
  if (present && present->engine == EngineName::postgres) {
    return fail(
        Code::conflict,
        "the journal is in a database: restore it there with pg_restore, or copy FILE into a "
        "new database with: perdure store copy sqlite:FILE postgres://…");
  }
  const bool has_store = present.has_value();
  if (has_store && !order.replace) {
    return fail(Code::conflict,
                places.data + " has a journal already; with --replace it is put aside first");
  }
  const StorePlace candidate =
      is_folder
          ? StorePlace{.engine = EngineName::files, .path = places.data + "/restoring"}
          : StorePlace{.engine = EngineName::sqlite, .path = places.data + "/perdure.db.restoring"};
  cli::VerifyReport found;
  {
    const std::unique_ptr<DataFolder> data = TRY(locked_folder());
    found =
        TRY(copy_and_verify({.from = from, .place = candidate, .before = epoch_before(present)}));
    TRY_VOID(end_agentctls(*data));
  }
  TRY(put_aside(places.data, Aside::journal));
  const std::unique_ptr<DataFolder> data = TRY(locked_folder());
  TRY_VOID(put_in_place(candidate, *data));
  const StorePlace restored = TRY(choose_journal(data->path(), std::nullopt));
  return cli::FileReport{.file = restored.path,
                         .sessions = found.sessions,
                         .bytes = bytes_of(is_folder ? from : restored.path),
                         .damaged = std::move(found.damaged)};
}

Result<cli::GcReport> collect(const cli::GcLocally& order) {
  const Offline offline = TRY(open_offline());
  ApiWorld::Collected found = TRY(collect_leftovers(
      *offline.data, *offline.store,
      {.how = order.dry_run ? ApiWorld::Collect::look : ApiWorld::Collect::take}));
  cli::GcReport report{.dry_run = order.dry_run};
  report.removed = std::move(found.removed);
  report.bytes = found.bytes;
  return report;
}

}  // namespace

cli::LocalVerbs local_verbs(const std::string& program) {
  const std::string agentctl = fs::path(program).parent_path() / "perdure-agentctl";
  cli::LocalVerbs verbs;
  verbs.version = PERDURE_VERSION;
  verbs.serve = [program, agentctl](const cli::ServeOptions& options) {
    std::optional<AskedStore> store;
    if (!options.store.empty()) {
      Result<AskedStore> asked = parse_asked_store(options.store);
      if (!asked) {
        std::fprintf(stderr, "perdure: %s\n", asked.error().message().c_str());
        return 2;
      }
      store = *std::move(asked);
      store->node = options.node;
    }
    return serve({.listen = options.listen.empty() ? "" : options.listen.front(),
                  .config = options.config,
                  .tls_certificate = options.tls_certificate,
                  .tls_key = options.tls_key,
                  .advertise = options.advertise,
                  .executions = options.executions,
                  .lease_secs = options.lease_secs,
                  .store = store,
                  .background = options.background,
                  .clean_start = options.clean_start,
                  .stop = options.stop,
                  .program = program,
                  .agentctl = agentctl});
  };
  verbs.acp = [](const cli::BridgeWorld& world, const cli::BridgeOptions& options) {
    return face::serve_stdio(
        {world.daemon, world.revive},
        {.version = PERDURE_VERSION, .agent = options.agent, .session = options.session});
  };
  verbs.doctor = [agentctl] { return examine(agentctl); };
  verbs.verify = verify;
  verbs.store_copy = copy;
  verbs.store_verify = verify_place;
  verbs.store_salvage = salvage;
  verbs.repair = repair;
  verbs.backup = back_up;
  verbs.restore = restore;
  verbs.gc = collect;
  verbs.service_install = [program](const cli::InstallService& order) {
    return install_service(program, order.enable);
  };
  verbs.service_status = service_status;
  verbs.config_show = [] -> Result<std::string> {
    const Places places = TRY(find_places());
    return "# " + places.config + "\n" + show_config(TRY(read_config(places.config)));
  };
  give_remote_verbs(verbs, program);
  verbs.open_tree = [](const std::string& root) { return open_file_tree(root); };
  verbs.opencode_sessions = opencode_sessions;
  return verbs;
}

}  // namespace perdure
