// Chooses and opens the engine of a data folder's journal. A folder has one engine from its first
// start on; its contents show which.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "core/wire/search_text.h"
#include "store/engine.h"

namespace perdure {

enum class EngineName { sqlite, files, postgres };
ENUM_TEXT(EngineName, "sqlite", "files", "postgres");

// The place of a store: ENGINE:PATH, with a file for sqlite and a folder for files; or
// postgres://…, which is the path for that engine.
struct StorePlace {
  EngineName engine = EngineName::sqlite;
  std::string path;
  std::string node = {};  // postgres only: the node's name; empty: a tool
  std::string text() const;
};

// The option of `serve`: an engine, or the place of a database.
struct AskedStore {
  EngineName engine = EngineName::sqlite;
  std::string place = {};  // postgres only
  std::string node = {};   // empty: the one in the data folder, otherwise the host's name
};
// invalid_argument: unknown engine, or a place that contains a password.
Result<AskedStore> parse_asked_store(const std::string& text);
// `files:PATH`, `postgres://…`, `sqlite:PATH`, or the path of a data folder, a file or a folder
// that has a store.
Result<StorePlace> parse_store_place(const std::string& text);

// The store of a data folder; nullopt if it has none yet. conflict: it has two.
Result<std::optional<StorePlace>> find_journal(const std::string& data_path);
// The existing store, or the place for a new one. conflict: it has one of another engine.
Result<StorePlace> choose_journal(const std::string& data_path,
                                  const std::optional<AskedStore>& asked);
// Records in the data folder that its journal is in a database, for the next start.
Result<> note_journal(const std::string& data_path, const StorePlace& place);
// The file whose presence means that the store exists; empty for a database.
std::string landmark(const StorePlace& place);
// A file of sqlite and all files that can be beside it, by path, the file first.
std::vector<std::string> sqlite_parts(const std::string& path);

struct OpenJournal {
  std::function<void(Error)> on_fatal = {};
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece = {};
  std::function<bool()> is_there = {};
  bool create = false;
  bool salvage = false;         // skips or fixes damage; not for postgres
  std::uint64_t epoch_min = 0;  // the epoch is at least this
  // For postgres; see PostgresOptions.
  std::string home = {};
  std::optional<std::chrono::milliseconds> lease = {};
  std::function<void(std::vector<SessionId>)> on_changed = {};
  std::function<void(std::vector<SessionId>)> on_redacted = {};
  // For a store without a key: the key with which this folder's agentctls were started.
  std::string new_shared_key = {};
};
// For postgres, conflict means that a daemon of an older version uses the database under another
// name, or, for a tool, that any daemon uses it.
Result<std::unique_ptr<StoreEngine>> open_journal(const StorePlace& place, OpenJournal order);

}  // namespace perdure
