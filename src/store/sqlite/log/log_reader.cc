#include "store/sqlite/log/log_reader.h"

namespace perdure {
namespace {

EntryRef ref_of(const ScannedBlock& block, std::size_t offset, std::uint64_t count) {
  return {.pos = block.pos + offset / row_bytes,
          .offset = static_cast<std::uint32_t>(offset % row_bytes),
          .count = static_cast<std::uint32_t>(count)};
}

// Adds the entry at `offset` if it is intact; returns its length, or 0 if it is not.
std::size_t add_if_whole(ScannedBlock& block, std::size_t offset) {
  const std::string_view rest = std::string_view(block.bytes).substr(offset);
  if (rest.size() <= entry_prefix_bytes) return 0;
  const std::size_t length = entry_length(rest);
  if (length == 0 || length > rest.size()) return 0;
  const std::optional<Entry> entry = parse_entry(rest.substr(0, length));
  if (!entry || entry->block_offset != offset) return 0;
  block.entries.push_back({.ref = ref_of(block, offset, entry->head.count),
                           .offset = offset,
                           .length = length,
                           .head = entry->head});
  return length;
}

void add_by_directory(ScannedBlock& block, const std::vector<DirectoryLine>& lines) {
  for (const DirectoryLine& line : lines) {
    if (add_if_whole(block, line.offset) != 0) continue;
    block.entries.push_back(
        {.ref = ref_of(block, line.offset, line.count),
         .offset = line.offset,
         .length = line.length,
         .head = {.sid = line.sid, .first_seq = line.first_seq, .count = line.count},
         .damaged = true});
  }
}

// Without a directory, tries every byte to find entries: each knows its own length, checksum and
// position in the block.
void add_by_search(ScannedBlock& block, std::size_t from) {
  std::size_t offset = from;
  while (offset + entry_prefix_bytes < block.bytes.size()) {
    const std::size_t length = add_if_whole(block, offset);
    offset += length == 0 ? 1 : length;
  }
}

}  // namespace

Result<LogReader> LogReader::create(Db& db) {
  Statement row = TRY(db.prepare("SELECT data FROM log WHERE pos = ?"));
  Statement next =
      TRY(db.prepare("SELECT pos FROM log WHERE pos >= ? AND pos < ? ORDER BY pos LIMIT 1"));
  return LogReader(std::move(row), std::move(next));
}

Result<std::optional<std::string_view>> LogReader::row(std::uint64_t pos) {
  if (pos == row_pos_ && pos != 0) return row_bytes_;
  row_pos_ = 0;
  Query query(row_);
  const Result<bool> found = query->bind_u64(1, pos).step();
  if (!found && found.error().code() == Code::damaged) return std::nullopt;
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  row_bytes_ = query->bytes(0);
  row_pos_ = pos;
  return row_bytes_;
}

Result<std::optional<std::uint64_t>> LogReader::first_pos(std::uint64_t pos, std::uint64_t end) {
  for (; pos < end; ++pos) {
    Query query(next_);
    const Result<bool> found = query->bind_u64(1, pos).bind_u64(2, end).step();
    if (found && !*found) return std::nullopt;
    if (found) return query->u64(0);
    if (found.error().code() != Code::damaged) return std::unexpected(found.error());
    // A page of the table itself is damaged: go row by row until one is readable again.
    if (TRY(row(pos))) return pos;
  }
  return std::nullopt;
}

Result<Entry> LogReader::entry(const EntryRef& ref) {
  const auto damaged = [&](const char* what) {
    return fail(Code::damaged, std::string(what) + " at log row " + std::to_string(ref.pos));
  };
  entry_.clear();
  std::size_t wanted = entry_prefix_bytes;
  std::size_t offset = ref.offset;
  for (std::uint64_t pos = ref.pos; entry_.size() < wanted; ++pos) {
    const std::optional<std::string_view> bytes = TRY(row(pos));
    if (!bytes || bytes->size() <= offset) return damaged("bytes are missing");
    entry_.append(bytes->substr(
        offset, wanted == entry_prefix_bytes ? std::string_view::npos : wanted - entry_.size()));
    offset = 0;
    if (wanted == entry_prefix_bytes && entry_.size() >= entry_prefix_bytes) {
      wanted = entry_length(entry_);
      if (wanted == 0) return damaged("the length is impossible");
      entry_.reserve(wanted);
    }
  }
  entry_.resize(wanted);
  std::optional<Entry> entry = parse_entry(entry_);
  if (!entry || (ref.count != 0 && entry->head.count != ref.count))
    return damaged("the checksum is wrong");
  return *std::move(entry);
}

Result<> LogReader::gather(ScannedBlock& block, std::uint64_t rows) {
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::optional<std::string_view> bytes = TRY(row(block.pos + i));
    if (bytes) block.bytes += *bytes;
    // A missing or short row must not shift later rows; the last row may be short.
    if (i + 1 < rows) block.bytes.resize((i + 1) * row_bytes, '\0');
  }
  block.next_pos = block.pos + rows;
  return {};
}

Result<std::optional<ScannedBlock>> LogReader::block(std::uint64_t pos, std::uint64_t end) {
  const std::optional<std::uint64_t> start = TRY(first_pos(pos, end));
  if (!start) return std::nullopt;
  ScannedBlock block{.pos = *start};
  const std::optional<std::string_view> first = TRY(row(*start));
  const std::optional<BlockHead> head = first ? parse_block_head(*first) : std::nullopt;
  if (!head) {
    std::uint64_t rows = 1;
    while (*start + rows < end) {
      const std::optional<std::string_view> next = TRY(row(*start + rows));
      if (next && parse_block_head(*next)) break;
      ++rows;
    }
    TRY_VOID(gather(block, rows));
    add_by_search(block, 0);
    block.uncertain = true;
    return block;
  }
  TRY_VOID(gather(block, (head->total_bytes + row_bytes - 1) / row_bytes));
  block.bytes.resize(head->total_bytes, '\0');
  if (const auto lines = parse_directory(*head, block.bytes)) {
    add_by_directory(block, *lines);
  } else {
    add_by_search(block, block_header_bytes);
    block.uncertain = block.entries.size() != head->entry_count;
  }
  return block;
}

}  // namespace perdure
