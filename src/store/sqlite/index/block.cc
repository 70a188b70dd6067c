#include "store/sqlite/index/block.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes/crc32c.h"
#include "base/check.h"
#include "base/limits.h"
#include "store/sqlite/index/codec.h"

namespace perdure {
namespace {

constexpr std::string_view magic = "PdB1";

constexpr unsigned char flag_cursor = 1;
constexpr unsigned char flag_session = 2;
constexpr unsigned char flag_removed = 4;
constexpr unsigned char flags_known = flag_cursor | flag_session | flag_removed;

constexpr std::size_t entry_flags_at = entry_prefix_bytes;
// Room for everything in an entry except its records, but including one record's length.
constexpr std::size_t entry_overhead_max = 9 + 2 * 16 + varint_bytes_max * (entry_records_max + 6);

std::uint32_t entry_crc(std::string_view entry) { return crc32c(entry.substr(4)); }

}  // namespace

void BlockBuilder::start() {
  bytes_.assign(block_header_bytes, '\0');
  directory_.clear();
  entry_count_ = 0;
}

std::uint32_t BlockBuilder::add(const EntryInput& entry) {
  CHECK(entry.records.size() <= entry_records_max);
  const std::size_t at = bytes_.size();
  std::array<char, entry_overhead_max> head;
  char* to = head.data() + entry_flags_at;
  *to++ = static_cast<char>((entry.cursor ? flag_cursor : 0) | (entry.session ? flag_session : 0));
  to = put_varint(to, at);
  to = put_varint(to, entry.sid);
  to = put_varint(to, entry.first_seq);
  to = put_varint(to, entry.records.size());
  if (entry.session) {
    const std::string id = id_bytes(entry.session->ulid());
    to = std::copy(id.begin(), id.end(), to);
  }
  if (entry.cursor) {
    const std::string cursor = cursor_bytes(entry.cursor);
    to = std::copy(cursor.begin(), cursor.end(), to);
  }
  std::size_t length = 0;
  for (const std::string& record : entry.records) {
    to = put_varint(to, record.size());
    length += record.size();
  }
  length += static_cast<std::size_t>(to - head.data());
  CHECK(length <= UINT32_MAX - at);
  put_u32(head.data() + 4, static_cast<std::uint32_t>(length));
  bytes_.append(head.data(), to);
  for (const std::string& record : entry.records) bytes_ += record;
  put_u32(bytes_.data() + at, entry_crc(std::string_view(bytes_).substr(at)));

  to = head.data();
  to = put_varint(to, entry.sid);
  to = put_varint(to, entry.first_seq);
  to = put_varint(to, entry.records.size());
  to = put_varint(to, length);
  directory_.append(head.data(), to);
  entry_count_ += 1;
  return static_cast<std::uint32_t>(at);
}

std::string_view BlockBuilder::finish() {
  const std::size_t directory_at = bytes_.size();
  bytes_ += directory_;
  std::array<char, 4> sum;
  put_u32(sum.data(), crc32c(directory_));
  bytes_.append(sum.data(), sum.size());
  CHECK(bytes_.size() <= UINT32_MAX);
  char* head = bytes_.data();
  std::memcpy(head, magic.data(), magic.size());
  head[4] = static_cast<char>(block_version);
  put_u16(head + 6, row_bytes);
  put_u32(head + 8, entry_count_);
  put_u32(head + 12, static_cast<std::uint32_t>(bytes_.size()));
  put_u32(head + 16, static_cast<std::uint32_t>(directory_at));
  put_u32(head + 20, crc32c(std::string_view(head, 20)));
  return bytes_;
}

std::optional<BlockHead> parse_block_head(std::string_view bytes) {
  if (bytes.size() < block_header_bytes || !bytes.starts_with(magic)) return std::nullopt;
  if (get_u32(bytes.data() + 20) != crc32c(bytes.substr(0, 20))) return std::nullopt;
  if (bytes[4] != block_version || get_u16(bytes.data() + 6) != row_bytes) return std::nullopt;
  const BlockHead head{.entry_count = get_u32(bytes.data() + 8),
                       .total_bytes = get_u32(bytes.data() + 12),
                       .directory_at = get_u32(bytes.data() + 16)};
  if (head.total_bytes < block_header_bytes + 4 || head.directory_at < block_header_bytes ||
      head.directory_at > head.total_bytes - 4) {
    return std::nullopt;
  }
  return head;
}

std::optional<std::vector<DirectoryLine>> parse_directory(const BlockHead& head,
                                                          std::string_view block) {
  if (block.size() < head.total_bytes) return std::nullopt;
  std::string_view lines =
      block.substr(head.directory_at, head.total_bytes - 4 - head.directory_at);
  if (get_u32(block.data() + head.total_bytes - 4) != crc32c(lines)) return std::nullopt;
  std::vector<DirectoryLine> out;
  std::uint64_t offset = block_header_bytes;
  while (!lines.empty()) {
    DirectoryLine line{.offset = offset};
    if (!take_varint(lines, line.sid) || !take_varint(lines, line.first_seq) ||
        !take_varint(lines, line.count) || !take_varint(lines, line.length)) {
      return std::nullopt;
    }
    offset += line.length;
    if (line.length < entry_prefix_bytes || offset > head.directory_at) return std::nullopt;
    out.push_back(line);
  }
  if (out.size() != head.entry_count) return std::nullopt;
  return out;
}

std::size_t entry_length(std::string_view prefix) {
  const std::size_t length = get_u32(prefix.data() + 4);
  constexpr std::size_t length_max =
      std::max(record_bytes_max, entry_bytes_soft_max) + entry_bytes_soft_max + entry_overhead_max;
  return length <= entry_prefix_bytes || length > length_max ? 0 : length;
}

std::optional<Entry> parse_entry(std::string_view bytes) {
  if (bytes.size() <= entry_prefix_bytes || entry_length(bytes) != bytes.size())
    return std::nullopt;
  if (get_u32(bytes.data()) != entry_crc(bytes)) return std::nullopt;
  Entry entry;
  const auto flags = static_cast<unsigned char>(bytes[entry_flags_at]);
  if ((flags & ~flags_known) != 0) return std::nullopt;
  entry.head.removed = (flags & flag_removed) != 0;
  std::string_view rest = bytes.substr(entry_flags_at + 1);
  if (!take_varint(rest, entry.block_offset) || !take_varint(rest, entry.head.sid) ||
      !take_varint(rest, entry.head.first_seq) || !take_varint(rest, entry.head.count) ||
      entry.head.count > entry_records_max) {
    return std::nullopt;
  }
  if ((flags & flag_session) != 0) {
    if (rest.size() < 16) return std::nullopt;
    entry.head.session = SessionId(*ulid_of(rest.substr(0, 16)));
    rest.remove_prefix(16);
  }
  if ((flags & flag_cursor) != 0) {
    entry.head.cursor.emplace();
    if (!take_cursor(rest, *entry.head.cursor)) return std::nullopt;
  }
  std::array<std::uint64_t, entry_records_max> lengths;
  for (std::size_t i = 0; i < entry.head.count; ++i) {
    if (!take_varint(rest, lengths[i])) return std::nullopt;
  }
  entry.records.reserve(entry.head.count);
  for (std::size_t i = 0; i < entry.head.count; ++i) {
    if (lengths[i] > rest.size()) return std::nullopt;
    entry.records.push_back(rest.substr(0, lengths[i]));
    rest.remove_prefix(lengths[i]);
  }
  if (!rest.empty()) return std::nullopt;
  return entry;
}

void blank_record(std::span<char> bytes, std::size_t index) {
  const std::string_view view(bytes.data(), bytes.size());
  const std::optional<Entry> entry = parse_entry(view);
  CHECK(entry.has_value() && index < entry->records.size());
  const std::string_view record = entry->records[index];
  std::memset(bytes.data() + (record.data() - view.data()), 0, record.size());
  put_u32(bytes.data(), entry_crc(view));
}

void erase_entry(std::span<char> bytes) {
  const std::string_view view(bytes.data(), bytes.size());
  const std::optional<Entry> entry = parse_entry(view);
  CHECK(entry.has_value());
  for (const std::string_view record : entry->records) {
    std::memset(bytes.data() + (record.data() - view.data()), 0, record.size());
  }
  bytes[entry_flags_at] = static_cast<char>(bytes[entry_flags_at] | flag_removed);
  put_u32(bytes.data(), entry_crc(view));
}

}  // namespace perdure
