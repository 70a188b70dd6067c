// The full-text index: a projection of the log that follows behind with a watermark of its own, in
// bounded slices. The row number of a text says where its record lies, so nothing else is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "store_sqlite/log_reader.h"
#include "store_sqlite/sqlite_db.h"

namespace perdure {

// Of a longer text only the beginning can be found.
inline constexpr std::size_t search_text_bytes_max = 64UL << 10;

// Where a record lies, as the row number of its text: row, offset and place in the entry.
struct TextPlace {
  EntryRef entry;         // its count is not known
  std::size_t index = 0;  // of the record in the entry
};
std::int64_t text_row(const TextPlace& place);
TextPlace text_place(std::int64_t row);

// A person's words as an FTS5 query: all of them must occur; no syntax, so no syntax errors. Empty
// when there is nothing to look for.
std::string search_query(std::string_view words);

class SearchProjection {
 public:
  using Text = std::function<std::optional<std::string>(std::string_view record)>;

  static Result<SearchProjection> create(Db& db, Text text);

  bool behind(std::uint64_t next_pos) const { return text_ && pos_ < next_pos; }
  // Inside an open transaction: indexes about `bytes_max` of text. On an error, or when the
  // transaction is rolled back, reload() has to be called.
  Result<> slice(std::uint64_t next_pos, std::size_t bytes_max);
  // Inside an open transaction: takes an entry's texts out.
  Result<> remove(const EntryRef& entry);
  // The same with the text of one record, and with what the index still holds of removed ones.
  Result<> forget(const TextPlace& place);
  // Inside an open transaction: drops everything; reload() afterwards.
  Result<> clear();
  Result<> reload();

 private:
  SearchProjection(Db& db, LogReader log, Text text)
      : db_(&db), log_(std::move(log)), text_(std::move(text)) {}

  Result<std::size_t> add(const ScannedBlock& block, const ScannedEntry& entry);
  Result<> save();

  Db* db_;
  LogReader log_;
  Text text_;
  Statement insert_, delete_;
  std::uint64_t pos_ = 0;      // the block to go on with
  std::uint64_t entries_ = 0;  // entries of it that are done
};

}  // namespace perdure
