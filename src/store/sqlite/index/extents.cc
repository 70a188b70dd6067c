#include "store/sqlite/index/extents.h"

#include "store/sqlite/index/codec.h"

namespace perdure {
namespace {

std::string key_bytes(const ExtentKey& key) {
  std::string out;
  append_varint(out, key.sid);
  append_varint(out, key.first_seq);
  return out;
}

}  // namespace

std::string pack_extent(const ExtentKey& key, std::span<const EntryRef> refs) {
  std::string out;
  std::uint64_t before = 0;
  for (const EntryRef& ref : refs) {
    append_varint(out, ref.pos - before);
    append_varint(out, ref.offset);
    append_varint(out, ref.count);
    before = ref.pos;
  }
  return seal(key_bytes(key), out);
}

std::optional<std::vector<EntryRef>> unpack_extent(const ExtentKey& key, std::string_view packed) {
  std::optional<std::string_view> rest = unseal(key_bytes(key), packed);
  if (!rest) return std::nullopt;
  std::vector<EntryRef> out;
  std::uint64_t pos = 0;
  while (!rest->empty()) {
    std::uint64_t step = 0;
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    if (!take_varint(*rest, step) || !take_varint(*rest, offset) || !take_varint(*rest, count)) {
      return std::nullopt;
    }
    pos += step;
    out.push_back({pos, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(count)});
  }
  return out;
}

Seq records_in(std::span<const EntryRef> refs) {
  Seq count = 0;
  for (const EntryRef& ref : refs) count += ref.count;
  return count;
}

}  // namespace perdure
