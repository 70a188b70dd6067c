// Why a verb failed, and the exit code that scripts see.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/api.h"

namespace perdure::cli {

struct Trouble {
  int exit_code = exit_failed;
  std::string code;  // stable
  std::string message;
  std::vector<std::string> actions;

  static Trouble usage(std::string message);
  // An error on this side: no response, an unreadable file, a folder in use.
  static Trouble of(const Error& error);
  // An error response of the daemon.
  static Trouble of(const client::Refusal& refusal);

  // {"error":{"code","message","actions":[…]}}
  std::string json() const;
};

template <class T = void>
using Outcome = std::expected<T, Trouble>;

inline std::unexpected<Trouble> usage(std::string message) {
  return std::unexpected(Trouble::usage(std::move(message)));
}

// The value, or the error as a Trouble.
template <class T>
Outcome<T> told(Result<T> result) {
  if (!result) return std::unexpected(Trouble::of(result.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

}  // namespace perdure::cli
