// CHECK states a condition that holds unless the program has a bug. It is on in every build: a
// broken invariant ends the process at once, and recovery, which is tested, takes over.
#pragma once

#include <string_view>

namespace perdure {

// Prints the place and the condition to stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message = {});

}  // namespace perdure

#define CHECK(condition, ...)   \
  (static_cast<bool>(condition) \
       ? void(0)                \
       : ::perdure::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))
