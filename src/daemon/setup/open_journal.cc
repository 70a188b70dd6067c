#include "daemon/setup/open_journal.h"

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "env/posix/world.h"
#include "store/files/files_store.h"
#include "store/files/identity.h"
#include "store/files/posix_disk.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

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

// 32 bytes, as hex.
std::string random_key() {
  PosixRandom random;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:016x}", random.next());
  return out;
}

bool is_database(const std::string& text) {
  return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "perdure";
  return name.data();
}

// Two lines: the place, without a password, and the node's name.
std::string note_path(const std::string& data_path) { return data_path + "/postgres.place"; }

std::optional<StorePlace> noted_journal(const std::string& data_path) {
  std::ifstream in(note_path(data_path));
  StorePlace place{.engine = EngineName::postgres, .path = {}};
  if (!std::getline(in, place.path) || !std::getline(in, place.node)) return std::nullopt;
  return place;
}

Result<std::unique_ptr<StoreEngine>> open_database(const StorePlace& place, OpenJournal&& order) {
  const bool is_tool = place.node.empty();
  PostgresOptions options{.place = place.path,
                          .node = is_tool ? "perdure store" : place.node,
                          .home = std::move(order.home),
                          .instance = host_name() + "/" + std::to_string(::getpid()),
                          .new_log_id = random_log_id(),
                          .new_shared_key = order.new_shared_key.empty()
                                                ? random_key()
                                                : std::move(order.new_shared_key),
                          .epoch_min = order.epoch_min,
                          .on_fatal = std::move(order.on_fatal),
                          .on_changed = std::move(order.on_changed),
                          .on_redacted = std::move(order.on_redacted),
                          .search_piece = std::move(order.search_piece),
                          .create = order.create,
                          .alone = is_tool};
  if (order.lease) options.lease = *order.lease;
  return TRY(PostgresStore::open(std::move(options)));
}

}  // namespace

std::string StorePlace::text() const {
  return engine == EngineName::postgres ? path : std::string(enum_text(engine)) + ":" + path;
}

Result<AskedStore> parse_asked_store(const std::string& text) {
  if (is_database(text)) {
    TRY_VOID(check_postgres_place(text));
    return AskedStore{.engine = EngineName::postgres, .place = text};
  }
  for (const EngineName engine : {EngineName::sqlite, EngineName::files}) {
    if (text == enum_text(engine)) return AskedStore{.engine = engine};
  }
  return fail(Code::invalid_argument,
              "unknown engine '" + text + "': sqlite, files or postgres://…");
}

Result<StorePlace> parse_store_place(const std::string& text) {
  if (is_database(text)) {
    TRY_VOID(check_postgres_place(text));
    return StorePlace{.engine = EngineName::postgres, .path = text};
  }
  const std::size_t colon = text.find(':');
  const auto absolute = [](const std::string& path) {
    return fs::absolute(path).lexically_normal().string();
  };
  if (colon != std::string::npos && text.find('/') > colon) {
    if (const Result<AskedStore> asked = parse_asked_store(text.substr(0, colon))) {
      if (text.size() == colon + 1) return fail(Code::invalid_argument, text + " names no place");
      return StorePlace{.engine = asked->engine, .path = absolute(text.substr(colon + 1))};
    }
  }
  const std::string path = absolute(text);
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return StorePlace{.engine = EngineName::sqlite, .path = path};
  }
  if (const std::optional<StorePlace> found = TRY(find_journal(path))) return *found;
  return fail(Code::not_found, "no store is at " + path +
                                   "; say where as sqlite:FILE, files:FOLDER or postgres://…");
}

std::string landmark(const StorePlace& place) {
  if (place.engine == EngineName::postgres) return "";
  return place.engine == EngineName::sqlite ? place.path : place.path + "/" + identity_name;
}

std::vector<std::string> sqlite_parts(const std::string& path) {
  std::vector<std::string> parts;
  for (const char* const tail : {"", "-wal", "-wal.redo", "-journal", "-shm", ".reserve"}) {
    parts.push_back(path + tail);
  }
  return parts;
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
  const std::optional<StorePlace> noted = noted_journal(data_path);
  if (noted && (has_sqlite || has_files)) {
    return fail(Code::conflict, data_path + " has a journal and a note of one in a database; put " +
                                    landmark(has_sqlite ? sqlite : files) + " or " +
                                    note_path(data_path) + " aside");
  }
  if (has_sqlite) return sqlite;
  if (has_files) return files;
  return noted;
}

Result<StorePlace> choose_journal(const std::string& data_path,
                                  const std::optional<AskedStore>& asked) {
  std::optional<StorePlace> found = TRY(find_journal(data_path));
  if (found && asked && asked->engine != found->engine) {
    const std::string has(enum_text(found->engine));
    return fail(Code::conflict, "the journal in " + data_path + " is kept by the engine " + has +
                                    ", not by " + std::string(enum_text(asked->engine)) +
                                    "; start without --store, or move it with: perdure store copy");
  }
  if (asked && asked->engine == EngineName::postgres) {
    const std::string known = found ? found->node : host_name();
    return StorePlace{.engine = EngineName::postgres,
                      .path = asked->place,
                      .node = asked->node.empty() ? known : asked->node};
  }
  if (found) return *found;
  if (asked && asked->engine == EngineName::files) {
    return StorePlace{.engine = EngineName::files, .path = data_path};
  }
  return StorePlace{.engine = EngineName::sqlite, .path = sqlite_path(data_path)};
}

Result<> note_journal(const std::string& data_path, const StorePlace& place) {
  if (place.engine != EngineName::postgres) return {};
  const std::string path = note_path(data_path);
  {
    std::ofstream out(path + ".new", std::ios::trunc);
    out << place.path << "\n" << place.node << "\n";
    if (!out.flush()) return fail(Code::unavailable, path + " cannot be written");
  }
  std::error_code error;
  fs::rename(path + ".new", path, error);
  if (error) return fail(Code::unavailable, path + ": " + error.message());
  return {};
}

Result<std::unique_ptr<StoreEngine>> open_journal(const StorePlace& place, OpenJournal order) {
  if (place.engine == EngineName::postgres) return open_database(place, std::move(order));
  if (place.engine == EngineName::sqlite) {
    return TRY(SqliteStore::open({.path = place.path,
                                  .on_fatal = std::move(order.on_fatal),
                                  .search_piece = std::move(order.search_piece),
                                  .is_there = std::move(order.is_there),
                                  .create = order.create,
                                  .salvage = order.salvage,
                                  .epoch_min = order.epoch_min}));
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
       .salvage = order.salvage,
       .new_log_id = random_log_id(),
       .epoch_min = order.epoch_min}));
}

}  // namespace perdure
