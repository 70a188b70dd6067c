#include "store_sqlite/wal_recovery.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store_sqlite/codec.h"

namespace perdure {
namespace {

constexpr std::uint64_t header_bytes = 32;
constexpr std::uint64_t frame_header_bytes = 24;
constexpr std::size_t copy_bytes = 1UL << 20;

std::uint32_t big_endian(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8U) | static_cast<unsigned char>(at[i]);
  return value;
}

void put_big_endian(char* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>((value >> (24 - 8 * i)) & 0xffU);
}

// SQLite's running checksum over 32-bit words, in the byte order that the log's magic names.
struct Checksum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const Checksum&) const = default;
};

struct WalHead {
  bool big = false;
  std::uint32_t page = 0;
  std::array<char, 8> salt{};
  Checksum sum;
};

Checksum advance(Checksum sum, bool big, std::span<const char> bytes) {
  const auto word = [&](std::size_t at) {
    const std::uint32_t value = big_endian(bytes.data() + at);
    return big ? value : __builtin_bswap32(value);
  };
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sum.first += word(at) + sum.second;
    sum.second += word(at + 4) + sum.first;
  }
  return sum;
}

Checksum stored_sum(const char* at) { return {big_endian(at), big_endian(at + 4)}; }

Result<std::optional<WalHead>> read_head(VfsFile& wal) {
  if (TRY(wal.size()) < header_bytes) return std::nullopt;
  std::array<char, header_bytes> bytes{};
  TRY_VOID(wal.read(0, bytes));
  const std::uint32_t magic = big_endian(bytes.data());
  WalHead head{.big = (magic & 1U) != 0, .page = big_endian(bytes.data() + 8)};
  if ((magic & ~1U) != 0x377f0682U || head.page < 512 || head.page > 65536) return std::nullopt;
  std::copy_n(bytes.data() + 16, 8, head.salt.data());
  head.sum = advance({}, head.big, std::span<const char>(bytes).first(24));
  if (head.sum != stored_sum(bytes.data() + 24)) return std::nullopt;
  return head;
}

std::uint64_t frame_at(const WalHead& head, std::uint64_t number) {
  return header_bytes + number * (frame_header_bytes + head.page);
}

bool has_salt(const WalHead& head, std::span<const char> frame) {
  return std::equal(head.salt.begin(), head.salt.end(), frame.begin() + 8);
}

Checksum frame_sum(const WalHead& head, Checksum before, std::span<const char> frame) {
  return advance(advance(before, head.big, frame.first(8)), head.big,
                 frame.subspan(frame_header_bytes));
}

constexpr std::string_view redo_key = "wal redo";

Result<> write_redo(const FilePlace& place, std::string_view payload) {
  TRY_VOID(delete_file(place));
  VfsFile file = TRY(VfsFile::open(place, VfsFile::Mode::create));
  TRY_VOID(file.write(0, seal(redo_key, payload)));
  return file.sync();
}

}  // namespace

// Frames behind the first bad one are either the rest of one torn transaction, which ends the log
// at its commit mark at the latest, or what followed a decayed frame: there the checksums chain on
// across a commit mark. Only the second was ever acknowledged.
Result<WalFound> inspect_wal(VfsFile& wal) {
  WalFound found;
  const std::optional<WalHead> head = TRY(read_head(wal));
  if (!head) return found;
  const std::uint64_t bytes = TRY(wal.size());
  std::vector<char> frame(frame_header_bytes + head->page);
  Checksum sum = head->sum;
  bool good = true;
  bool commit_seen = false;
  for (std::uint64_t i = 0; frame_at(*head, i + 1) <= bytes; ++i) {
    TRY_VOID(wal.read(frame_at(*head, i), frame));
    const bool chained =
        has_salt(*head, frame) && frame_sum(*head, sum, frame) == stored_sum(frame.data() + 16);
    sum = stored_sum(frame.data() + 16);
    if (good && chained) {
      found.frames_good = i + 1;
      if (big_endian(frame.data() + 4) != 0) {
        found.frames_settled = std::exchange(found.frames_committed, i + 1);
      }
      continue;
    }
    good = false;
    if (has_salt(*head, frame)) found.frames_behind = i + 1 - found.frames_good;
    if (!chained) commit_seen = false;
    if (chained && commit_seen) found.commits_behind = true;
    if (has_salt(*head, frame) && big_endian(frame.data() + 4) != 0) commit_seen = true;
  }
  return found;
}

Result<> refresh_wal(VfsFile& wal, const WalFound& found, const FilePlace& redo) {
  const std::optional<WalHead> head = TRY(read_head(wal));
  if (!head || found.frames_committed == 0) return {};
  const std::uint64_t from = found.frames_settled == 0 ? 0 : frame_at(*head, found.frames_settled);
  const std::uint64_t end = frame_at(*head, found.frames_committed);
  std::string payload(header_bytes, '\0');
  TRY_VOID(wal.read(0, payload));
  append_varint(payload, from);
  const std::size_t bytes_at = payload.size();
  payload.resize(bytes_at + (end - from));
  TRY_VOID(wal.read(from, std::span(payload).subspan(bytes_at)));
  const Result<> kept = write_redo(redo, payload);
  if (!kept && kept.error().code() != Code::disk_full) return kept;
  TRY_VOID(wal.write(from, std::string_view(payload).substr(bytes_at)));
  TRY_VOID(wal.sync());
  return delete_file(redo);
}

Result<> finish_refresh(const FilePlace& wal_place, const FilePlace& redo) {
  if (!TRY(file_exists(redo))) return {};
  // Of a log that was taken away since.
  if (!TRY(file_exists(wal_place))) return delete_file(redo);
  std::string sealed;
  {
    VfsFile file = TRY(VfsFile::open(redo, VfsFile::Mode::read_only));
    sealed.resize(TRY(file.size()));
    TRY_VOID(file.read(0, sealed));
  }
  // One that is not whole was never synced, and the log not touched yet.
  std::optional<std::string_view> payload = unseal(redo_key, sealed);
  std::uint64_t from = 0;
  if (payload && payload->size() > header_bytes) {
    const std::string_view header = payload->substr(0, header_bytes);
    std::string_view rest = payload->substr(header_bytes);
    VfsFile wal = TRY(VfsFile::open(wal_place, VfsFile::Mode::read_write));
    std::string present(header_bytes, '\0');
    if (TRY(wal.size()) >= header_bytes) TRY_VOID(wal.read(0, present));
    if (take_varint(rest, from) && (from == 0 || present == header)) {
      TRY_VOID(wal.write(from, rest));
      TRY_VOID(wal.sync());
    }
  }
  return delete_file(redo);
}

Result<> salvage_wal(VfsFile& wal, const WalFound& found, const FilePlace& copy_to) {
  const std::optional<WalHead> head = TRY(read_head(wal));
  if (!head) return {};
  FilePlace place = copy_to;
  for (int i = 2; TRY(file_exists(place)); ++i) place.path = copy_to.path + "." + std::to_string(i);
  VfsFile copy = TRY(VfsFile::open(place, VfsFile::Mode::create));
  const std::uint64_t end = frame_at(*head, found.frames_good + found.frames_behind);
  std::vector<char> buffer(copy_bytes);
  for (std::uint64_t at = 0; at < end; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(copy_bytes, end - at));
    TRY_VOID(wal.read(at, buffer));
    TRY_VOID(copy.write(at, {buffer.data(), buffer.size()}));
  }
  TRY_VOID(copy.sync());
  std::vector<char> frame(frame_header_bytes + head->page);
  Checksum sum = head->sum;
  for (std::uint64_t i = 0; i < found.frames_good + found.frames_behind; ++i) {
    TRY_VOID(wal.read(frame_at(*head, i), frame));
    std::copy(head->salt.begin(), head->salt.end(), frame.begin() + 8);
    sum = frame_sum(*head, sum, frame);
    if (i < found.frames_good) continue;
    put_big_endian(frame.data() + 16, sum.first);
    put_big_endian(frame.data() + 20, sum.second);
    TRY_VOID(wal.write(frame_at(*head, i), {frame.data(), frame_header_bytes}));
  }
  return wal.sync();
}

}  // namespace perdure
