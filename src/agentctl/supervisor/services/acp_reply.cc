#include "agentctl/supervisor/services/acp_reply.h"

#include <algorithm>
#include <utility>

namespace perdure {

AcpError acp_error(const Error& error) {
  switch (error.code()) {
    case Code::not_found: return {acp_not_found, error.message()};
    case Code::invalid_argument:
    case Code::denied:
    case Code::conflict: return {acp_invalid_params, error.message()};
    default: return {acp_internal_error, error.message()};
  }
}

AcpResult acp_result(Result<std::string> result) {
  if (!result) return std::unexpected(acp_error(result.error()));
  return *std::move(result);
}

Result<TreePath> tree_path_of(std::string_view absolute, const std::vector<std::string>& roots) {
  if (!absolute.starts_with('/')) return fail(Code::invalid_argument, "the path is not absolute");
  std::vector<std::string_view> names;
  for (std::string_view rest = absolute; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name == "..") {
      if (!names.empty()) names.pop_back();
    } else if (!name.empty() && name != ".") {
      names.push_back(name);
    }
  }
  std::string clean;
  for (const std::string_view name : names) clean.append("/").append(name);
  for (std::string_view root : roots) {
    while (root.ends_with('/')) root.remove_suffix(1);
    if (!clean.starts_with(root)) continue;
    const std::string_view below = std::string_view(clean).substr(root.size());
    if (below.empty()) return TreePath();
    if (below.starts_with('/')) return TreePath::from_bytes(below.substr(1));
  }
  return fail(Code::denied, escape_name(absolute) + ": outside of the workspace");
}

}  // namespace perdure
