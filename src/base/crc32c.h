// CRC-32C (Castagnoli), by the processor's instruction where there is one. It finds every burst of
// up to 32 bits and every flip of a few bits, which is what a decaying disk does.
#pragma once

#include <cstdint>
#include <string_view>

namespace perdure {

// The checksum of `bytes`; `seed` is the result for the bytes before them, 0 at the start.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

// The same without special instructions; crc32c() falls back on it, and the tests compare the two.
std::uint32_t crc32c_portable(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace perdure
