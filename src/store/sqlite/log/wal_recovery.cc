#include "store/sqlite/log/wal_recovery.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/index/codec.h"

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

// SQLite's running checksum over 32-bit words, in the byte order given by the log's magic.
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

std::uint32_t page_of(std::span<const char> frame) { return big_endian(frame.data()); }
// The database size if the frame ends a commit, otherwise 0.
std::uint32_t commit_of(std::span<const char> frame) { return big_endian(frame.data() + 4); }

Checksum frame_sum(const WalHead& head, Checksum before, std::span<const char> frame) {
  return advance(advance(before, head.big, frame.first(8)), head.big,
                 frame.subspan(frame_header_bytes));
}

// Whether the frame follows one with that sum. Page number 0 is invalid, as for SQLite.
bool is_chained(const WalHead& head, Checksum before, std::span<const char> frame) {
  return has_salt(head, frame) && page_of(frame) != 0 &&
         frame_sum(head, before, frame) == stored_sum(frame.data() + 16);
}

constexpr std::string_view redo_key = "wal redo";

Result<> write_redo(const FilePlace& place, std::string_view payload) {
  TRY_VOID(delete_file(place));
  VfsFile file = TRY(VfsFile::open(place, VfsFile::Mode::create));
  TRY_VOID(file.write(0, seal(redo_key, payload)));
  return file.sync();
}

// What to do if the redo file does not fit on the disk.
enum class WithoutRoom { go_on, give_up };

struct WalPart {
  std::uint64_t from = 0;
  std::string_view bytes;
  WithoutRoom without_room = WithoutRoom::give_up;
};

// Overwrites a part of the log; if a power cut interrupts it, finish_refresh() completes it.
Result<> put_by_redo(VfsFile& wal, const WalPart& part, const FilePlace& redo) {
  std::string payload(header_bytes, '\0');
  TRY_VOID(wal.read(0, payload));
  append_varint(payload, part.from);
  payload += part.bytes;
  const Result<> kept = write_redo(redo, payload);
  if (!kept &&
      (kept.error().code() != Code::disk_full || part.without_room == WithoutRoom::give_up)) {
    return kept;
  }
  TRY_VOID(wal.write(part.from, part.bytes));
  TRY_VOID(wal.sync());
  return delete_file(redo);
}

Result<> copy_log(VfsFile& wal, std::uint64_t end, const FilePlace& copy_to) {
  FilePlace place = copy_to;
  for (int i = 2; TRY(file_exists(place)); ++i) place.path = copy_to.path + "." + std::to_string(i);
  VfsFile copy = TRY(VfsFile::open(place, VfsFile::Mode::create));
  std::vector<char> buffer(copy_bytes);
  for (std::uint64_t at = 0; at < end; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(copy_bytes, end - at));
    TRY_VOID(wal.read(at, buffer));
    TRY_VOID(copy.write(at, {buffer.data(), buffer.size()}));
  }
  return copy.sync();
}

// The page number, up to `pages`, with which the frame's bytes match its checksum: then only the
// stored number decayed. The checksum over the page is linear in its initial value.
std::optional<std::uint32_t> page_that_fits(const WalHead& head, Checksum before,
                                            std::span<const char> frame, std::uint32_t pages) {
  const std::span<const char> page = frame.subspan(frame_header_bytes);
  const Checksum zero = advance({}, head.big, page);
  const Checksum one = advance({1, 0}, head.big, page);
  const Checksum two = advance({0, 1}, head.big, page);
  const Checksum wanted = stored_sum(frame.data() + 16);
  std::array<char, 8> start{};
  std::copy_n(frame.begin(), start.size(), start.begin());
  for (std::uint32_t number = 1; number <= pages; ++number) {
    put_big_endian(start.data(), number);
    const auto [a, b] = advance(before, head.big, start);
    const Checksum sum{
        zero.first + (one.first - zero.first) * a + (two.first - zero.first) * b,
        zero.second + (one.second - zero.second) * a + (two.second - zero.second) * b};
    if (sum == wanted) return number;
  }
  return std::nullopt;
}

// Whether the frame's page may be written to its page number, as far as can be checked; corrects
// the number if that is possible. `before` is the checksum of the preceding frame.
bool mend_header(const WalHead& head, Checksum before, std::span<char> frame, std::uint32_t pages) {
  if (!has_salt(head, frame)) return false;
  if (is_chained(head, before, frame)) return true;
  if (const auto number = page_that_fits(head, before, frame, pages)) {
    put_big_endian(frame.data(), *number);
  }
  return page_of(frame) >= 1 && page_of(frame) <= pages;
}

// The first usable frame after `number`, for use if no good frame precedes it.
Result<std::vector<char>> next_usable(VfsFile& wal, const WalHead& head, const WalFound& found,
                                      std::uint64_t number) {
  std::vector<char> frame(frame_header_bytes + head.page);
  for (std::uint64_t i = number + 1; i < found.frames_good + found.frames_behind; ++i) {
    TRY_VOID(wal.read(frame_at(head, i), frame));
    if (has_salt(head, frame) && page_of(frame) >= 1 && page_of(frame) <= found.pages) return frame;
  }
  return fail(Code::damaged, "no frame of the write-ahead log can be read");
}

}  // namespace

// Frames after the first bad one have two explanations. Either they are the rest of one torn
// transaction, which ends at its commit mark at the latest, or they followed a decayed frame: then
// the checksums continue across a commit mark. Only the latter were ever acknowledged.
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
    const bool chained = is_chained(*head, sum, frame);
    sum = stored_sum(frame.data() + 16);
    if (chained) found.pages = std::max({found.pages, page_of(frame), commit_of(frame)});
    if (good && chained) {
      found.frames_good = i + 1;
      if (commit_of(frame) != 0) {
        found.frames_settled = std::exchange(found.frames_committed, i + 1);
      }
      continue;
    }
    good = false;
    if (has_salt(*head, frame)) found.frames_behind = i + 1 - found.frames_good;
    if (!chained) commit_seen = false;
    if (chained && commit_seen) found.commits_behind = true;
    if (has_salt(*head, frame) && commit_of(frame) != 0) commit_seen = true;
  }
  return found;
}

Result<> refresh_wal(VfsFile& wal, const WalFound& found, const FilePlace& redo) {
  const std::optional<WalHead> head = TRY(read_head(wal));
  if (!head || found.frames_committed == 0) return {};
  const std::uint64_t from = found.frames_settled == 0 ? 0 : frame_at(*head, found.frames_settled);
  std::string bytes(frame_at(*head, found.frames_committed) - from, '\0');
  TRY_VOID(wal.read(from, bytes));
  return put_by_redo(wal, {.from = from, .bytes = bytes, .without_room = WithoutRoom::go_on}, redo);
}

Result<> finish_refresh(const FilePlace& wal_place, const FilePlace& redo) {
  if (!TRY(file_exists(redo))) return {};
  // Belongs to a log that was deleted since.
  if (!TRY(file_exists(wal_place))) return delete_file(redo);
  std::string sealed;
  {
    VfsFile file = TRY(VfsFile::open(redo, VfsFile::Mode::read_only));
    sealed.resize(TRY(file.size()));
    TRY_VOID(file.read(0, sealed));
  }
  // An incomplete redo was never synced, so the log is unchanged.
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

Result<std::uint64_t> salvage_wal(VfsFile& wal, const WalFound& found,
                                  const SalvagePlaces& places) {
  const std::optional<WalHead> head = TRY(read_head(wal));
  if (!head) return 0;
  const std::uint64_t frames = found.frames_good + found.frames_behind;
  TRY_VOID(copy_log(wal, frame_at(*head, frames), places.copy_to));
  std::uint64_t committed = found.frames_committed;
  std::vector<char> frame(frame_header_bytes + head->page);
  std::vector<char> last;  // as it was written
  Checksum before = head->sum;
  if (found.frames_good > 0) {
    last = frame;
    TRY_VOID(wal.read(frame_at(*head, found.frames_good - 1), last));
    before = stored_sum(last.data() + 16);
  }
  Checksum sum = before;
  std::string mended;
  for (std::uint64_t i = found.frames_good; i < frames; ++i) {
    TRY_VOID(wal.read(frame_at(*head, i), frame));
    const Checksum stored = stored_sum(frame.data() + 16);
    if (!mend_header(*head, std::exchange(before, stored), frame, found.pages)) {
      // Its page is unknown. Writing the preceding frame again instead changes nothing.
      frame = last.empty() ? TRY(next_usable(wal, *head, found, i)) : last;
      put_big_endian(frame.data() + 4, 0);
    }
    std::copy(head->salt.begin(), head->salt.end(), frame.begin() + 8);
    sum = frame_sum(*head, sum, frame);
    put_big_endian(frame.data() + 16, sum.first);
    put_big_endian(frame.data() + 20, sum.second);
    mended.append(frame.data(), frame.size());
    if (commit_of(frame) != 0) committed = i + 1;
    last = frame;
  }
  TRY_VOID(
      put_by_redo(wal, {.from = frame_at(*head, found.frames_good), .bytes = mended}, places.redo));
  return committed;
}

}  // namespace perdure
