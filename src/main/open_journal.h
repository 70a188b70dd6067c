// Which engine keeps the journal of a data folder, and opening it. A folder has one engine, from
// its first start on: what is in it says which.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "store/engine.h"
#include "wire/search_text.h"

namespace perdure {

enum class EngineName { sqlite, files, postgres };
ENUM_TEXT(EngineName, "sqlite", "files", "postgres");

// Where a store is: ENGINE:PATH, a file for sqlite and a folder for files; or postgres://…, which
// is the path of that engine.
struct StorePlace {
  EngineName engine = EngineName::sqlite;
  std::string path;
  std::string node = {};  // of postgres: the name there; empty: that of a tool
  std::string text() const;
};

// What `serve` was told: an engine, or the place of a database.
struct AskedStore {
  EngineName engine = EngineName::sqlite;
  std::string place = {};  // of postgres
  std::string node = {};   // empty: the one that the data folder knows, else the host's name
};
// invalid_argument: no such engine, or a place with a password in it.
Result<AskedStore> parse_asked_store(const std::string& text);
// `files:PATH`, `postgres://…`, `sqlite:PATH`, or the path of a data folder, a file or a folder
// that has a store.
Result<StorePlace> parse_store_place(const std::string& text);

// The store of a data folder; nothing when it has none yet. conflict: it has two.
Result<std::optional<StorePlace>> find_journal(const std::string& data_path);
// The one it has, or else where that engine would make one. conflict: it has one of another engine.
Result<StorePlace> choose_journal(const std::string& data_path,
                                  const std::optional<AskedStore>& asked);
// Notes in the data folder that its journal is in a database, for the next start.
Result<> note_journal(const std::string& data_path, const StorePlace& place);
// The file whose being there says that the store is there; empty for a database.
std::string landmark(const StorePlace& place);
// A file of sqlite and everything that may be beside it, by path, the file first.
std::vector<std::string> sqlite_parts(const std::string& path);

struct OpenJournal {
  std::function<void(Error)> on_fatal = {};
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece = {};
  std::function<bool()> is_there = {};
  bool create = false;
  bool salvage = false;         // what is damaged is passed over or mended; not of postgres
  std::uint64_t epoch_min = 0;  // the epoch is this or a later one
  // Of postgres; see PostgresOptions.
  std::string home = {};
  std::optional<std::chrono::milliseconds> lease = {};
  std::function<void(std::vector<SessionId>)> on_changed = {};
  std::function<void(std::vector<SessionId>)> on_redacted = {};
  // For a store that has no key yet: the one with which this folder's agentctls were started.
  std::string new_shared_key = {};
};
// Of postgres, conflict: a daemon of an older version uses the database under another name; or,
// for a tool, any daemon does.
Result<std::unique_ptr<StoreEngine>> open_journal(const StorePlace& place, OpenJournal order);

}  // namespace perdure
