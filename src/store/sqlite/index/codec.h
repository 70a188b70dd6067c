// The building blocks of stored bytes: fixed little-endian numbers, varints and sealed payloads.
// The take functions never read past the end: they return false, which callers report as damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace perdure {

inline constexpr std::size_t varint_bytes_max = 10;

void put_u16(char* to, std::uint16_t value);
void put_u32(char* to, std::uint32_t value);
std::uint16_t get_u16(const char* from);
std::uint32_t get_u32(const char* from);

// Writes at most varint_bytes_max bytes and returns the end.
char* put_varint(char* to, std::uint64_t value);
void append_varint(std::string& out, std::uint64_t value);
// Removes a varint from the front of `bytes`; false if there is none.
bool take_varint(std::string_view& bytes, std::uint64_t& value);

// A session id as 16 big-endian bytes, so that bytes sort as ids do.
std::string id_bytes(const Ulid& ulid);
// A view of the hash's bytes; the hash must outlive it.
std::string_view hash_bytes(const Hash& hash);
std::optional<Ulid> ulid_of(std::string_view bytes);

// A cursor as 16 bytes and a varint; no bytes: no cursor.
std::string cursor_bytes(const std::optional<FrameCursor>& cursor);
bool take_cursor(std::string_view& bytes, FrameCursor& cursor);

// Rows outside the log carry our own checksum over `key` (what they describe) and their payload,
// since SQLite has none. unseal returns nothing if a byte of either changed.
std::string seal(std::string_view key, std::string_view payload);
std::optional<std::string_view> unseal(std::string_view key, std::string_view sealed);

}  // namespace perdure
