#include "core/wire/agentctl/git_name.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr std::size_t name_bytes_max = 512;

}  // namespace

Result<std::string> checked_git_name(std::string name) {
  const bool odd = std::ranges::any_of(name, [](char c) { return c >= 0 && c < ' '; });
  if (name.empty() || name.starts_with('-') || odd || name.size() > name_bytes_max) {
    return fail(Code::invalid_argument, "not the name of a commit or branch");
  }
  return name;
}

}  // namespace perdure
