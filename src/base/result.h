// Result<T>: the result of every function that can fail because of its environment. The code is
// stable (one page each in docs/errors), the message is for people, and callers add context.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"

namespace perdure {

class Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error, prefixed with the attempted action: "open store: disk is full".
  Error with_context(std::string_view doing) && {
    message_.insert(0, ": ");
    message_.insert(0, doing);
    return std::move(*this);
  }

  bool operator==(const Error&) const = default;

 private:
  Code code_;
  std::string message_;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error(code, std::move(message)));
}

}  // namespace perdure

// TRY(expression) gives the value of a Result, or returns its error from the enclosing function. It
// may be nested in another TRY: each uses a unique name.
#define PERDURE_JOIN_(a, b) a##b
#define PERDURE_JOIN(a, b) PERDURE_JOIN_(a, b)
#define PERDURE_TRY(name, ...)                                  \
  ({                                                            \
    auto&& name = (__VA_ARGS__);                                \
    if (!name) return std::unexpected(std::move(name).error()); \
    *std::move(name);                                           \
  })
#define TRY(...) PERDURE_TRY(PERDURE_JOIN(try_result_, __COUNTER__), __VA_ARGS__)
#define TRY_VOID(...)                                                       \
  do {                                                                      \
    auto&& try_result = (__VA_ARGS__);                                      \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
  } while (false)
