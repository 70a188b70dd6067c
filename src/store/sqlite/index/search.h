// The full-text index: a projection that lags behind the log, with its own watermark, in bounded
// slices. It indexes texts by message. Pieces of an unfinished message are stored next to the index
// and indexed when their size has doubled, when the message ends, or when the store is idle. So the
// work grows with the words, not with how they were cut.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/sqlite/log/log_reader.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

// A record's position as the row number of the text that begins with it: row, offset and place in
// the entry.
struct TextPlace {
  EntryRef entry;         // its count is unknown
  std::size_t index = 0;  // of the record in the entry
};
std::int64_t text_row(const TextPlace& place);

// A person's words as an FTS5 query: all must occur, quoted words adjacent. No other syntax, so no
// syntax errors. Empty if there is nothing to search for.
std::string search_query(std::string_view words);

// Whether the text tables exist: an older file has none until the first slice.
Result<bool> has_texts(Db& db);

class SearchProjection {
 public:
  using Piece = std::function<std::optional<SearchPiece>(std::string_view record)>;

  static Result<SearchProjection> create(Db& db, Piece piece);

  bool behind(std::uint64_t next_pos) const {
    return piece_ && (pos_ < next_pos || (is_stale_ && next_pos > 1));
  }
  // Inside an open transaction: indexes about `bytes_max` of text. Call reload() after an error or
  // a rollback.
  Result<> slice(std::uint64_t next_pos, std::size_t bytes_max);
  // Whether words of unfinished messages are not yet in the index.
  bool has_unwritten() const { return piece_ && !is_stale_ && has_unwritten_; }
  // Inside an open transaction: indexes some of them.
  Result<> write_open();
  // Inside an open transaction: removes the texts that begin in an entry.
  Result<> remove(const EntryRef& entry);
  // The bytes of the session's record with this number.
  using RecordAt = std::function<Result<std::string>(std::uint64_t seq)>;
  struct Place {
    std::uint64_t sid = 0;
    std::uint64_t seq = 0;
  };
  // Inside an open transaction, for a record that is blank now: rebuilds the texts it was part of
  // and purges the rest of removed texts from the index.
  Result<> forget(const Place& place, const RecordAt& record_at);
  // Inside an open transaction: drops everything; call reload() afterwards.
  Result<> clear();
  Result<> reload();

 private:
  // A row of the text table, with how much of it is indexed.
  struct Kept {
    std::int64_t row = 0;
    std::size_t indexed = 0;
    bool is_new = false;
    bool is_touched = false;
  };

  SearchProjection(Db& db, LogReader log, Piece piece)
      : db_(&db), log_(std::move(log)), piece_(std::move(piece)) {}

  Result<> prepare();
  Result<std::size_t> add(const ScannedBlock& block, const ScannedEntry& entry);
  Result<> load_open(std::uint64_t sid);
  Result<> put_piece(std::int64_t row, std::uint64_t seq, const SearchPiece& piece);
  Result<> save_texts(std::uint64_t sid);
  Result<> write(std::int64_t row);
  Result<> drop_pieces(std::int64_t row);
  Result<> refold(std::int64_t row, const RecordAt& record_at);
  Result<> save();

  Db* db_;
  LogReader log_;
  Piece piece_;
  Statement insert_, delete_, open_, put_text_, delete_text_, put_piece_, pieces_, drop_pieces_;
  std::uint64_t pos_ = 0;      // the next block
  std::uint64_t entries_ = 0;  // its entries that are done
  bool is_stale_ = false;      // the tables have an earlier form or do not exist
  bool has_unwritten_ = true;  // until the first look
  // For the current entry: its session's texts, and what is known here about each.
  TextFolder folder_;
  std::vector<Kept> kept_;
};

}  // namespace perdure
