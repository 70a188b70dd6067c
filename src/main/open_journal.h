// Which engine keeps the journal of a data folder, and opening it. A folder has one engine, from
// its first start on: what is in it says which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fields.h"
#include "base/result.h"
#include "store/engine.h"
#include "wire/search_text.h"

namespace perdure {

enum class EngineName { sqlite, files };
ENUM_TEXT(EngineName, "sqlite", "files");

// Where a store is: ENGINE:PATH, a file for sqlite and a folder for files.
struct StorePlace {
  EngineName engine = EngineName::sqlite;
  std::string path;
  std::string text() const;
};

// invalid_argument: no such engine.
Result<EngineName> parse_engine(const std::string& text);
// `files:PATH`, `sqlite:PATH`, or the path of a data folder, a file or a folder that has a store.
Result<StorePlace> parse_store_place(const std::string& text);

// The store of a data folder; nothing when it has none yet. conflict: it has two.
Result<std::optional<StorePlace>> find_journal(const std::string& data_path);
// The one it has, or else where that engine would make one. conflict: it has one of another engine.
Result<StorePlace> choose_journal(const std::string& data_path,
                                  const std::optional<EngineName>& asked);
// The file whose being there says that the store is there.
std::string landmark(const StorePlace& place);

struct OpenJournal {
  std::function<void(Error)> on_fatal = {};
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece = {};
  std::function<bool()> is_there = {};
  bool create = false;
};
Result<std::unique_ptr<StoreEngine>> open_journal(const StorePlace& place, OpenJournal order);

}  // namespace perdure
