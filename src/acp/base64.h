// Base64 (RFC 4648, with padding): protocol v2 carries a terminal's bytes in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perdure::acp {

std::string base64_encode(std::string_view bytes);
// None for anything that base64_encode() never gives, missing padding apart.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace perdure::acp
