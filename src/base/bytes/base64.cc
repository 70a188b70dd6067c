// Encodes three bytes as four characters, and decodes them.
#include "base/bytes/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace perdure {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto values = [] {
  std::array<std::int8_t, 256> out{};
  out.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return out;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
    out += alphabet[group >> 18U];
    out += alphabet[group >> 12U & 63U];
    out += i + 1 < bytes.size() ? alphabet[group >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? alphabet[group & 63U] : '=';
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail(Code::invalid_argument, "base64 comes in groups of four characters");
  }
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t padded = i + 4 == text.size() ? padding : 0;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const int value = j >= 4 - padded ? 0 : values[static_cast<unsigned char>(text[i + j])];
      if (value < 0) return fail(Code::invalid_argument, "a character that is not base64");
      group = group << 6U | static_cast<std::uint32_t>(value);
    }
    if ((padded == 1 && (group & 0xffU) != 0) || (padded == 2 && (group & 0xffffU) != 0)) {
      return fail(Code::invalid_argument, "base64 with bits left over");
    }
    out += static_cast<char>(group >> 16U);
    if (padded < 2) out += static_cast<char>(group >> 8U & 0xffU);
    if (padded < 1) out += static_cast<char>(group & 0xffU);
  }
  return out;
}

}  // namespace perdure
