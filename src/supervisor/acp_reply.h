// How a request of the agent is answered: a result as JSON, or an error with a code of ACP.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/tree_path.h"

namespace perdure {

struct AcpError {
  int code = 0;
  std::string message;
};
inline constexpr int acp_invalid_params = -32602;
inline constexpr int acp_internal_error = -32603;
inline constexpr int acp_not_found = -32002;

using AcpResult = std::expected<std::string, AcpError>;
// Called once.
using AcpReply = std::move_only_function<void(AcpResult)>;

// One of our errors as the agent sees it.
AcpError acp_error(const Error& error);
AcpResult acp_result(Result<std::string> result);

// The path below one of the roots that an absolute one names; `..` is resolved by its text. denied:
// it lies elsewhere. invalid_argument: it is not absolute.
Result<TreePath> tree_path_of(std::string_view absolute, const std::vector<std::string>& roots);

}  // namespace perdure
