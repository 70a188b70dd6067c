#include "store_sqlite/search.h"

#include "base/text.h"
#include "store_sqlite/schema.h"

namespace perdure {
namespace {

constexpr unsigned index_bits = 8;    // entry_records_max fits
constexpr unsigned offset_bits = 16;  // row_bytes fits
static_assert(entry_records_max <= 1UL << index_bits && row_bytes <= 1UL << offset_bits);

}  // namespace

std::int64_t text_row(const TextPlace& place) {
  return static_cast<std::int64_t>((place.entry.pos << (offset_bits + index_bits)) |
                                   (static_cast<std::uint64_t>(place.entry.offset) << index_bits) |
                                   place.index);
}

TextPlace text_place(std::int64_t row) {
  const auto bits = static_cast<std::uint64_t>(row);
  return {.entry = {.pos = bits >> (offset_bits + index_bits),
                    .offset = static_cast<std::uint32_t>((bits >> index_bits) & 0xffffU)},
          .index = bits & 0xffU};
}

std::string search_query(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find_first_of(" \t\r\n"), words.size());
    if (end > 0) {
      out += out.empty() ? "\"" : " \"";
      for (const char c : words.substr(0, end)) {
        if (c == '\0') continue;
        out += c == '"' ? "\"\"" : std::string(1, c);
      }
      out += '"';
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

Result<SearchProjection> SearchProjection::create(Db& db, Text text) {
  SearchProjection out(db, TRY(LogReader::create(db)), std::move(text));
  out.insert_ = TRY(db.prepare("INSERT OR REPLACE INTO search(rowid, text) VALUES(?, ?)"));
  out.delete_ = TRY(db.prepare("DELETE FROM search WHERE rowid = ?"));
  TRY_VOID(out.reload());
  return out;
}

Result<> SearchProjection::reload() {
  pos_ = static_cast<std::uint64_t>(TRY(meta_int(*db_, meta::searched)));
  entries_ = static_cast<std::uint64_t>(TRY(meta_int(*db_, meta::searched_entries)));
  return {};
}

Result<> SearchProjection::save() {
  TRY_VOID(set_meta(*db_, meta::searched, static_cast<std::int64_t>(pos_)));
  return set_meta(*db_, meta::searched_entries, static_cast<std::int64_t>(entries_));
}

Result<> SearchProjection::slice(std::uint64_t next_pos, std::size_t bytes_max) {
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

Result<std::size_t> SearchProjection::add(const ScannedBlock& block, const ScannedEntry& entry) {
  if (entry.damaged || entry.head.removed) return 0;
  const std::optional<Entry> parsed =
      parse_entry(std::string_view(block.bytes).substr(entry.offset, entry.length));
  std::size_t bytes = 0;
  for (std::size_t i = 0; parsed && i < parsed->records.size(); ++i) {
    if (is_blank_record(parsed->records[i])) continue;
    const std::optional<std::string> text = text_(parsed->records[i]);
    if (!text || text->empty()) continue;
    const std::string_view cut = utf8_prefix(*text, search_text_bytes_max);
    TRY_VOID(insert_.bind(1, text_row({.entry = entry.ref, .index = i})).bind_text(2, cut).run());
    bytes += cut.size();
  }
  return bytes;
}

Result<> SearchProjection::remove(const EntryRef& entry) {
  for (std::size_t i = 0; i < entry.count; ++i) {
    TRY_VOID(delete_.bind(1, text_row({.entry = entry, .index = i})).run());
  }
  return {};
}

// A deleted row's words stay in the index's older segments until they are merged.
Result<> SearchProjection::forget(const TextPlace& place) {
  TRY_VOID(delete_.bind(1, text_row(place)).run());
  return db_->exec("INSERT INTO search(search) VALUES('optimize')");
}

Result<> SearchProjection::clear() {
  // Dropping the table is what works even when the index itself is damaged.
  insert_ = Statement();
  delete_ = Statement();
  TRY_VOID(db_->exec("DROP TABLE search"));
  TRY_VOID(db_->exec(search_table_sql));
  insert_ = TRY(db_->prepare("INSERT OR REPLACE INTO search(rowid, text) VALUES(?, ?)"));
  delete_ = TRY(db_->prepare("DELETE FROM search WHERE rowid = ?"));
  pos_ = 1;
  entries_ = 0;
  return save();
}

}  // namespace perdure
