// The answer to a request from the agent: a JSON result, or an error with an ACP code.
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

// Converts a Perdure error to the error that the agent receives.
AcpError acp_error(const Error& error);
AcpResult acp_result(Result<std::string> result);

// Converts an absolute path to the path below one of the roots; `..` is resolved textually. denied:
// the path is outside every root. invalid_argument: the path is not absolute.
Result<TreePath> tree_path_of(std::string_view absolute, const std::vector<std::string>& roots);

}  // namespace perdure
