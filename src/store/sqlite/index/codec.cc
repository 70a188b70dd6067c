#include "store/sqlite/index/codec.h"

#include <array>

#include "base/bytes/crc32c.h"
#include "base/bytes/little_endian.h"

namespace perdure {

void put_u16(char* to, std::uint16_t value) {
  to[0] = static_cast<char>(value & 0xffU);
  to[1] = static_cast<char>(value >> 8U);
}

void put_u32(char* to, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<char>((value >> (8 * i)) & 0xffU);
}

std::uint16_t get_u16(const char* from) { return read_little_endian<std::uint16_t>({from, 2}); }
std::uint32_t get_u32(const char* from) { return read_little_endian<std::uint32_t>({from, 4}); }

char* put_varint(char* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) *to++ = static_cast<char>((value & 0x7fU) | 0x80U);
  *to++ = static_cast<char>(value);
  return to;
}

void append_varint(std::string& out, std::uint64_t value) {
  std::array<char, varint_bytes_max> buffer;
  out.append(buffer.data(), put_varint(buffer.data(), value));
}

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < varint_bytes_max; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

std::string_view hash_bytes(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()};
}

std::string id_bytes(const Ulid& ulid) {
  std::string out(16, '\0');
  for (unsigned i = 0; i < 8; ++i) {
    out[i] = static_cast<char>((ulid.high >> (56 - 8 * i)) & 0xffU);
    out[8 + i] = static_cast<char>((ulid.low >> (56 - 8 * i)) & 0xffU);
  }
  return out;
}

std::optional<Ulid> ulid_of(std::string_view bytes) {
  if (bytes.size() != 16) return std::nullopt;
  Ulid out;
  for (unsigned i = 0; i < 8; ++i) {
    out.high = (out.high << 8U) | static_cast<unsigned char>(bytes[i]);
    out.low = (out.low << 8U) | static_cast<unsigned char>(bytes[8 + i]);
  }
  return out;
}

std::string cursor_bytes(const std::optional<FrameCursor>& cursor) {
  if (!cursor) return {};
  std::string out = id_bytes(cursor->exec.ulid());
  append_varint(out, cursor->frame);
  return out;
}

bool take_cursor(std::string_view& bytes, FrameCursor& cursor) {
  if (bytes.size() < 17) return false;
  cursor.exec = ExecId(*ulid_of(bytes.substr(0, 16)));
  bytes.remove_prefix(16);
  return take_varint(bytes, cursor.frame);
}

std::string seal(std::string_view key, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 4);
  out = payload;
  std::array<char, 4> sum;
  put_u32(sum.data(), crc32c(payload, crc32c(key)));
  return out.append(sum.data(), sum.size());
}

std::optional<std::string_view> unseal(std::string_view key, std::string_view sealed) {
  if (sealed.size() < 4) return std::nullopt;
  const std::string_view payload = sealed.substr(0, sealed.size() - 4);
  if (get_u32(sealed.data() + payload.size()) != crc32c(payload, crc32c(key))) return std::nullopt;
  return payload;
}

}  // namespace perdure
