// Integers as bytes, lowest first, as in our binary formats.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace perdure {

template <std::unsigned_integral T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

// Reads the first sizeof(T) bytes, which must exist.
template <std::unsigned_integral T>
T read_little_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return value;
}

}  // namespace perdure
