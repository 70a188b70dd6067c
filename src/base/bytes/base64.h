// Bytes as text for JSON (RFC 4648, with padding), if they are not UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

std::string base64_encode(std::string_view bytes);
// Strict: padding is required, and characters outside the alphabet are invalid_argument.
Result<std::string> base64_decode(std::string_view text);

}  // namespace perdure
