// The bytes of one group commit. A block is a header, one entry per session's batch (a large batch
// makes several), and a directory of all entries; it is cut into rows of row_bytes. Entries and
// directory have their own checksums: a damaged byte in an entry affects only its session, and a
// reader that knows an entry's position needs only that entry. Layout: docs/protocol/journal.md and
// docs/decisions/0002-sqlite-journal.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace perdure {

// Page and row sizes were chosen by measurement, see docs/decisions/0002-sqlite-journal.md. Two
// rows fill a leaf page without overflow.
inline constexpr int page_bytes = 8192;
inline constexpr std::size_t row_bytes = 4040;

inline constexpr std::size_t block_header_bytes = 24;
inline constexpr std::uint8_t block_version = 1;
// A batch is cut into entries so that reading one record reads little else.
inline constexpr std::size_t entry_records_max = 64;
inline constexpr std::size_t entry_bytes_soft_max = 64UL << 10;  // one record may be larger

// An entry's position: the row, the offset in it, and the number of its records.
struct EntryRef {
  std::uint64_t pos = 0;
  std::uint32_t offset = 0;
  std::uint32_t count = 0;
  bool operator==(const EntryRef&) const = default;
};

// The header of an entry.
struct EntryHead {
  std::uint64_t sid = 0;
  Seq first_seq = 0;
  std::uint64_t count = 0;
  bool removed = false;              // the records were erased; their bytes are zero
  std::optional<SessionId> session;  // only in the entry that starts with record 1
  std::optional<FrameCursor> cursor;
};

struct EntryInput {
  std::uint64_t sid = 0;
  Seq first_seq = 0;
  std::span<const std::string> records;
  std::optional<SessionId> session;
  std::optional<FrameCursor> cursor;
};

// Builds a block in one buffer. add() returns the entry's position relative to the block's start.
class BlockBuilder {
 public:
  void start();
  std::uint32_t add(const EntryInput& entry);
  // Completes the block and returns its bytes, valid until start().
  std::string_view finish();

  bool empty() const { return entry_count_ == 0; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
  std::string directory_;
  std::uint32_t entry_count_ = 0;
};

struct BlockHead {
  std::uint32_t entry_count = 0;
  std::uint32_t total_bytes = 0;
  std::uint32_t directory_at = 0;
};

// Absent if the bytes do not start a block or its header is damaged.
std::optional<BlockHead> parse_block_head(std::string_view bytes);

struct DirectoryLine {
  std::uint64_t sid = 0;
  Seq first_seq = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;  // of the entry in the block
  std::uint64_t length = 0;
};

// Absent if the directory is damaged. `block` is the whole block.
std::optional<std::vector<DirectoryLine>> parse_directory(const BlockHead& head,
                                                          std::string_view block);

inline constexpr std::size_t entry_prefix_bytes = 8;
// The length of the whole entry, read from its first entry_prefix_bytes; 0 if it is impossible.
std::size_t entry_length(std::string_view prefix);

struct Entry {
  EntryHead head;
  std::uint64_t block_offset = 0;
  std::vector<std::string_view> records;  // into the bytes given
};

// Checks and parses one entry; absent if any byte of it is wrong.
std::optional<Entry> parse_entry(std::string_view bytes);

// Overwrites one record with zeros; nothing moves. `bytes` must have parsed.
void blank_record(std::span<char> bytes, std::size_t index);

// Whether a record may have been overwritten this way: its replacement is then in the table
// redactions.
inline bool is_blank_record(std::string_view record) {
  return !record.empty() && record.find_first_not_of('\0') == std::string_view::npos;
}

// Turns the entry into one whose records are erased, of the same length. `bytes` must have parsed.
void erase_entry(std::span<char> bytes);

}  // namespace perdure
