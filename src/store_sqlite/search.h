// The full-text index: a projection of the log that follows behind with a watermark of its own, in
// bounded slices. It holds texts by message: pieces of one that is still being written lie beside
// the index and go in when they have doubled what is there, when the message ends, or when nothing
// else is to do; so the work grows with the words, not with how they were cut.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store_sqlite/log_reader.h"
#include "store_sqlite/sqlite_db.h"
#include "wire/search_text.h"

namespace perdure {

// Where a record lies, as the row number of the text that begins with it: row, offset and place in
// the entry.
struct TextPlace {
  EntryRef entry;         // its count is not known
  std::size_t index = 0;  // of the record in the entry
};
std::int64_t text_row(const TextPlace& place);

// A person's words as an FTS5 query: all of them must occur, those in double quotes together; no
// other syntax, so no syntax errors. Empty when there is nothing to look for.
std::string search_query(std::string_view words);

// Whether the texts are there to be read: a file of before has none until the first slice.
Result<bool> has_texts(Db& db);

class SearchProjection {
 public:
  using Piece = std::function<std::optional<SearchPiece>(std::string_view record)>;

  static Result<SearchProjection> create(Db& db, Piece piece);

  bool behind(std::uint64_t next_pos) const {
    return piece_ && (pos_ < next_pos || (is_stale_ && next_pos > 1));
  }
  // Inside an open transaction: indexes about `bytes_max` of text. On an error, or when the
  // transaction is rolled back, reload() has to be called.
  Result<> slice(std::uint64_t next_pos, std::size_t bytes_max);
  // Whether words of messages that are still being written are not in the index.
  bool has_unwritten() const { return piece_ && !is_stale_ && has_unwritten_; }
  // Inside an open transaction: puts some of them there.
  Result<> write_open();
  // Inside an open transaction: takes the texts out that begin in an entry.
  Result<> remove(const EntryRef& entry);
  // The bytes of the session's record with this number.
  using RecordAt = std::function<Result<std::string>(std::uint64_t seq)>;
  struct Place {
    std::uint64_t sid = 0;
    std::uint64_t seq = 0;
  };
  // Inside an open transaction: a record is blank now. The texts that it was part of are put
  // together anew, and what the index still holds of removed ones goes.
  Result<> forget(const Place& place, const RecordAt& record_at);
  // Inside an open transaction: drops everything; reload() afterwards.
  Result<> clear();
  Result<> reload();

 private:
  // A text of the table, with its row and how much of it is in the index.
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
  std::uint64_t pos_ = 0;      // the block to go on with
  std::uint64_t entries_ = 0;  // entries of it that are done
  bool is_stale_ = false;      // the tables are of an earlier form, or not there
  bool has_unwritten_ = true;  // until a look says otherwise
  // Of the entry at hand: its session's texts and, beside each, what is known of it here.
  TextFolder folder_;
  std::vector<Kept> kept_;
};

}  // namespace perdure
