#include "base/error_codes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"

namespace perdure {
namespace {

constexpr std::array error_kinds = {
#define PERDURE_ROW(name, status, exit, actions) ErrorKind{#name, status, exit_##exit, actions},
    PERDURE_ERROR_CODES(PERDURE_ROW)
#undef PERDURE_ROW
};

}  // namespace

const ErrorKind& kind_of(Code code) {
  const auto index = static_cast<std::size_t>(code);
  CHECK(index < error_kinds.size(), "unknown error code");
  return error_kinds[index];
}

Code parse_code(std::string_view name) {
  const auto* found = std::ranges::find(error_kinds, name, &ErrorKind::name);
  return found == error_kinds.end() ? Code::internal
                                    : static_cast<Code>(found - error_kinds.begin());
}

}  // namespace perdure
