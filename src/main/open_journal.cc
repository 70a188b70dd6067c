#include "main/open_journal.h"

#include <filesystem>

#include "env_posix/world.h"
#include "store_files/files_store.h"
#include "store_files/identity.h"
#include "store_files/posix_disk.h"
#include "store_sqlite/sqlite_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string sqlite_path(const std::string& data_path) { return data_path + "/perdure.db"; }

std::string random_log_id() {
  PosixRandom random;
  const std::uint64_t high = random.next();
  return Ulid{.high = high, .low = random.next()}.text();
}

}  // namespace

std::string StorePlace::text() const { return std::string(enum_text(engine)) + ":" + path; }

Result<EngineName> parse_engine(const std::string& text) {
  for (const EngineName engine : {EngineName::sqlite, EngineName::files}) {
    if (text == enum_text(engine)) return engine;
  }
  return fail(Code::invalid_argument, "there is no engine '" + text + "': sqlite or files");
}

Result<StorePlace> parse_store_place(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto absolute = [](const std::string& path) {
    return fs::absolute(path).lexically_normal().string();
  };
  if (colon != std::string::npos && text.find('/') > colon) {
    if (const Result<EngineName> engine = parse_engine(text.substr(0, colon))) {
      if (text.size() == colon + 1) return fail(Code::invalid_argument, text + " names no place");
      return StorePlace{.engine = *engine, .path = absolute(text.substr(colon + 1))};
    }
  }
  const std::string path = absolute(text);
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return StorePlace{.engine = EngineName::sqlite, .path = path};
  }
  if (const std::optional<StorePlace> found = TRY(find_journal(path))) return *found;
  return fail(Code::not_found,
              "no store is at " + path + "; say where as sqlite:FILE or files:FOLDER");
}

std::string landmark(const StorePlace& place) {
  return place.engine == EngineName::sqlite ? place.path : place.path + "/" + identity_name;
}

Result<std::optional<StorePlace>> find_journal(const std::string& data_path) {
  const StorePlace sqlite{.engine = EngineName::sqlite, .path = sqlite_path(data_path)};
  const StorePlace files{.engine = EngineName::files, .path = data_path};
  const bool has_sqlite = is_there(landmark(sqlite));
  const bool has_files = is_there(landmark(files));
  if (has_sqlite && has_files) {
    return fail(Code::conflict, data_path + " has a journal of sqlite and one of files; put " +
                                    landmark(sqlite) + " or " + landmark(files) + " aside");
  }
  if (has_sqlite) return sqlite;
  if (has_files) return files;
  return std::nullopt;
}

Result<StorePlace> choose_journal(const std::string& data_path,
                                  const std::optional<EngineName>& asked) {
  const std::optional<StorePlace> found = TRY(find_journal(data_path));
  if (found && asked && *asked != found->engine) {
    const std::string has(enum_text(found->engine));
    return fail(Code::conflict, "the journal in " + data_path + " is kept by the engine " + has +
                                    ", not by " + std::string(enum_text(*asked)) +
                                    "; start without --store, or move it with: perdure store copy");
  }
  if (found) return *found;
  if (asked == EngineName::files) return StorePlace{.engine = *asked, .path = data_path};
  return StorePlace{.engine = EngineName::sqlite, .path = sqlite_path(data_path)};
}

Result<std::unique_ptr<StoreEngine>> open_journal(const StorePlace& place, OpenJournal order) {
  if (place.engine == EngineName::sqlite) {
    return TRY(SqliteStore::open({.path = place.path,
                                  .on_fatal = std::move(order.on_fatal),
                                  .search_piece = std::move(order.search_piece),
                                  .is_there = std::move(order.is_there),
                                  .create = order.create}));
  }
  const JournalOpen mode = order.create ? JournalOpen::create : JournalOpen::existing;
  return TRY(FilesStore::open(
      {.disk = TRY(open_posix_disk(place.path, mode)),
       .on_fatal = std::move(order.on_fatal),
       .search_piece = std::move(order.search_piece),
       .is_there = std::move(order.is_there),
       .make_disk =
           [](const std::string& path) { return open_posix_disk(path, JournalOpen::create); },
       .create = order.create,
       .new_log_id = random_log_id()}));
}

}  // namespace perdure
