// CRC-32C (Castagnoli), with the processor's instruction if it has one. It finds every burst of up
// to 32 bits and every flip of a few bits, the typical errors of a decaying disk.
#pragma once

#include <cstdint>
#include <string_view>

namespace perdure {

// The checksum of `bytes`; `seed` is the result for the preceding bytes, 0 at the start.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

// The same without special instructions: the fallback of crc32c(); tests compare the two.
std::uint32_t crc32c_portable(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace perdure
