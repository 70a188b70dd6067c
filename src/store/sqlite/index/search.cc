#include "store/sqlite/index/search.h"

#include "base/limits.h"
#include "base/text.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

constexpr unsigned index_bits = 8;    // entry_records_max fits
constexpr unsigned offset_bits = 16;  // row_bytes fits
static_assert(entry_records_max <= 1UL << index_bits && row_bytes <= 1UL << offset_bits);

constexpr std::int64_t search_version = 2;
constexpr int texts_per_write = 64;

}  // namespace

std::int64_t text_row(const TextPlace& place) {
  return static_cast<std::int64_t>((place.entry.pos << (offset_bits + index_bits)) |
                                   (static_cast<std::uint64_t>(place.entry.offset) << index_bits) |
                                   place.index);
}

std::string search_query(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const bool quoted = words.front() == '"';
    if (quoted) words.remove_prefix(1);
    const std::size_t end =
        std::min(words.find_first_of(quoted ? "\"" : " \t\r\n\""), words.size());
    std::string term;
    for (const char c : words.substr(0, end)) {
      if (c != '\0') term += c;
    }
    if (!term.empty()) out += (out.empty() ? "\"" : " \"") + term + "\"";
    const bool stop_at_quote = !quoted && end < words.size() && words[end] == '"';
    words.remove_prefix(stop_at_quote ? end : std::min(end + 1, words.size()));
  }
  return out;
}

Result<bool> has_texts(Db& db) {
  Statement has = TRY(db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'text_pieces'"));
  Query query(has);
  return query->step();
}

Result<SearchProjection> SearchProjection::create(Db& db, Piece piece) {
  SearchProjection out(db, TRY(LogReader::create(db)), std::move(piece));
  TRY_VOID(out.reload());
  return out;
}

Result<> SearchProjection::prepare() {
  insert_ = TRY(db_->prepare("INSERT OR REPLACE INTO search(rowid, text) VALUES(?, ?)"));
  delete_ = TRY(db_->prepare("DELETE FROM search WHERE rowid = ?"));
  open_ =
      TRY(db_->prepare("SELECT row, seq, first, last, kind, at, key, name, is_stream, bytes, "
                       "indexed FROM texts WHERE sid = ? AND is_open = 1 ORDER BY row"));
  put_text_ = TRY(db_->prepare(
      "INSERT OR REPLACE INTO texts(row, sid, seq, first, last, kind, at, key, name, is_stream, "
      "is_open, bytes, indexed) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  delete_text_ = TRY(db_->prepare("DELETE FROM texts WHERE row = ?"));
  put_piece_ =
      TRY(db_->prepare("INSERT OR REPLACE INTO text_pieces(row, number, words) VALUES(?, ?, ?)"));
  pieces_ = TRY(db_->prepare("SELECT words FROM text_pieces WHERE row = ? ORDER BY number"));
  drop_pieces_ = TRY(db_->prepare("DELETE FROM text_pieces WHERE row = ?"));
  return {};
}

Result<> SearchProjection::reload() {
  pos_ = static_cast<std::uint64_t>(TRY(meta_int(*db_, meta::searched)));
  entries_ = static_cast<std::uint64_t>(TRY(meta_int(*db_, meta::searched_entries)));
  is_stale_ = TRY(meta_int(*db_, meta::search_version)) != search_version;
  has_unwritten_ = true;
  return is_stale_ ? Result<>() : prepare();
}

Result<> SearchProjection::save() {
  TRY_VOID(set_meta(*db_, meta::searched, static_cast<std::int64_t>(pos_)));
  return set_meta(*db_, meta::searched_entries, static_cast<std::int64_t>(entries_));
}

Result<> SearchProjection::slice(std::uint64_t next_pos, std::size_t bytes_max) {
  if (is_stale_) TRY_VOID(clear());
  log_.forget();
  std::size_t bytes = 0;
  std::size_t scanned = 0;
  while (bytes < bytes_max && scanned < 16 * bytes_max) {
    const std::optional<ScannedBlock> block = TRY(log_.block(pos_, next_pos));
    if (!block) {
      pos_ = next_pos;
      entries_ = 0;
      break;
    }
    if (block->pos != pos_) entries_ = 0;
    pos_ = block->pos;
    while (entries_ < block->entries.size() && bytes < bytes_max) {
      bytes += TRY(add(*block, block->entries[entries_++]));
    }
    if (entries_ < block->entries.size()) break;
    pos_ = block->next_pos;
    entries_ = 0;
    scanned += block->bytes.size();
  }
  return save();
}

Result<> SearchProjection::load_open(std::uint64_t sid) {
  folder_.texts().clear();
  kept_.clear();
  Query query(open_);
  query->bind_u64(1, sid);
  while (TRY(query->step())) {
    kept_.push_back({.row = query->int64(0), .indexed = query->u64(10)});
    folder_.texts().push_back({.seq = query->u64(1),
                               .first = query->u64(2),
                               .last = query->u64(3),
                               .kind = std::string(query->bytes(4)),
                               .at = Timestamp{query->int64(5)},
                               .key = std::string(query->bytes(6)),
                               .name = std::string(query->bytes(7)),
                               .is_stream = query->int64(8) != 0,
                               .is_open = true,
                               .bytes = query->u64(9)});
  }
  return {};
}

Result<std::size_t> SearchProjection::add(const ScannedBlock& block, const ScannedEntry& entry) {
  if (entry.damaged || entry.head.removed) return 0;
  const std::optional<Entry> parsed =
      parse_entry(std::string_view(block.bytes).substr(entry.offset, entry.length));
  std::size_t bytes = 0;
  bool is_loaded = false;
  for (std::size_t i = 0; parsed && i < parsed->records.size(); ++i) {
    if (is_blank_record(parsed->records[i])) continue;
    const std::optional<SearchPiece> piece = piece_(parsed->records[i]);
    if (!piece) continue;
    if (!std::exchange(is_loaded, true)) TRY_VOID(load_open(entry.head.sid));
    const Seq seq = entry.head.first_seq + i;
    const std::optional<TextFolder::Placed> placed = folder_.add(seq, *piece);
    if (!placed) continue;
    if (placed->is_new) {
      kept_.push_back({.row = text_row({.entry = entry.ref, .index = i}), .is_new = true});
    }
    kept_[placed->index].is_touched = true;
    TRY_VOID(put_piece(kept_[placed->index].row, seq, *piece));
    bytes += piece->bytes();
  }
  if (is_loaded) TRY_VOID(save_texts(entry.head.sid));
  return bytes;
}

// Pieces of a stream are numbered by record; parts of other texts by their place.
Result<> SearchProjection::put_piece(std::int64_t row, std::uint64_t seq,
                                     const SearchPiece& piece) {
  for (std::size_t i = 0; i < piece.parts.size(); ++i) {
    if (piece.parts[i].empty()) continue;
    std::string words(utf8_prefix(piece.parts[i], search_text_bytes_max));
    if (piece.replaces) words += '\n';
    put_piece_.bind(1, row).bind_u64(2, piece.replaces ? i : seq).bind_text(3, words);
    TRY_VOID(put_piece_.run());
  }
  return {};
}

Result<> SearchProjection::save_texts(std::uint64_t sid) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const SearchText& text = folder_.texts()[i];
    Kept& kept = kept_[i];
    if (text.is_open && !kept.is_touched) continue;
    const bool has_more = kept.indexed < text.bytes;
    if (has_more && (!text.is_open || text.bytes >= 2 * kept.indexed)) {
      TRY_VOID(write(kept.row));
      kept.indexed = text.bytes;
    }
    if (!text.is_open) TRY_VOID(drop_pieces(kept.row));
    if (kept.indexed < text.bytes) has_unwritten_ = true;
    put_text_.bind(1, kept.row).bind_u64(2, sid).bind_u64(3, text.seq).bind_u64(4, text.first);
    put_text_.bind_u64(5, text.last).bind_text(6, text.kind).bind(7, text.at.ms);
    put_text_.bind_text(8, text.key).bind_text(9, text.name).bind(10, text.is_stream ? 1 : 0);
    put_text_.bind(11, text.is_open ? 1 : 0).bind_u64(12, text.bytes).bind_u64(13, kept.indexed);
    TRY_VOID(put_text_.run());
  }
  return {};
}

Result<> SearchProjection::write(std::int64_t row) {
  std::string text;
  {
    Query query(pieces_);
    query->bind(1, row);
    while (TRY(query->step())) text += query->bytes(0);
  }
  if (text.empty()) return delete_.bind(1, row).run();
  return insert_.bind(1, row).bind_text(2, text).run();
}

Result<> SearchProjection::drop_pieces(std::int64_t row) { return drop_pieces_.bind(1, row).run(); }

Result<> SearchProjection::write_open() {
  std::vector<std::int64_t> rows;
  Statement unwritten =
      TRY(db_->prepare("SELECT row FROM texts WHERE is_open = 1 AND indexed < bytes LIMIT " +
                       std::to_string(texts_per_write)));
  while (TRY(unwritten.step())) rows.push_back(unwritten.int64(0));
  unwritten.reset();
  Statement note = TRY(db_->prepare("UPDATE texts SET indexed = bytes WHERE row = ?"));
  for (const std::int64_t row : rows) {
    TRY_VOID(write(row));
    TRY_VOID(note.bind(1, row).run());
  }
  has_unwritten_ = rows.size() == static_cast<std::size_t>(texts_per_write);
  return {};
}

Result<> SearchProjection::remove(const EntryRef& entry) {
  if (is_stale_) return {};
  for (std::size_t i = 0; i < entry.count; ++i) {
    const std::int64_t row = text_row({.entry = entry, .index = i});
    TRY_VOID(delete_.bind(1, row).run());
    TRY_VOID(delete_text_.bind(1, row).run());
    TRY_VOID(drop_pieces(row));
  }
  return {};
}

// Between a text's first and last record, all pieces with its key belong to it.
Result<> SearchProjection::refold(std::int64_t row, const RecordAt& record_at) {
  Statement select = TRY(db_->prepare("SELECT first, last, key, is_open FROM texts WHERE row = ?"));
  if (!TRY(select.bind(1, row).step())) return {};
  const std::uint64_t last = select.u64(1);
  const std::string key(select.bytes(2));
  const bool is_open = select.int64(3) != 0;
  TRY_VOID(drop_pieces(row));
  for (std::uint64_t seq = select.u64(0); seq <= last; ++seq) {
    const std::string record = TRY(record_at(seq));
    const std::optional<SearchPiece> piece =
        is_blank_record(record) ? std::nullopt : piece_(record);
    if (piece && piece->key == key) TRY_VOID(put_piece(row, seq, *piece));
  }
  TRY_VOID(write(row));
  return is_open ? Result<>() : drop_pieces(row);
}

// A deleted row's words stay in the index's older segments until these are merged.
Result<> SearchProjection::forget(const Place& place, const RecordAt& record_at) {
  if (is_stale_ || !piece_) return {};
  std::vector<std::int64_t> rows;
  Statement covering =
      TRY(db_->prepare("SELECT row FROM texts WHERE sid = ?1 AND first <= ?2 AND last >= ?2"));
  covering.bind_u64(1, place.sid).bind_u64(2, place.seq);
  while (TRY(covering.step())) rows.push_back(covering.int64(0));
  covering.reset();
  for (const std::int64_t row : rows) TRY_VOID(refold(row, record_at));
  return db_->exec("INSERT INTO search(search) VALUES('optimize')");
}

Result<> SearchProjection::clear() {
  // Dropping the tables works even if the index itself is damaged.
  for (Statement* const statement : {&insert_, &delete_, &open_, &put_text_, &delete_text_,
                                     &put_piece_, &pieces_, &drop_pieces_}) {
    *statement = Statement();
  }
  TRY_VOID(db_->exec("DROP TABLE search"));
  TRY_VOID(db_->exec(search_table_sql));
  TRY_VOID(db_->exec(texts_tables_sql));
  TRY_VOID(set_meta(*db_, meta::search_version, search_version));
  TRY_VOID(prepare());
  is_stale_ = false;
  has_unwritten_ = false;
  pos_ = 1;
  entries_ = 0;
  return save();
}

}  // namespace perdure
