#include "core/wire/agentctl/worktree.h"

#include <utility>

#include "base/json/fields_json.h"
#include "core/wire/agentctl/git_name.h"

namespace perdure {

std::string encode_worktree_request(const WorktreeRequest& request) {
  return encode_fields(request);
}

Result<WorktreeRequest> decode_worktree_request(std::string_view text) {
  WithUnknown<WorktreeRequest> decoded = TRY(decode_fields<WorktreeRequest>(text));
  // An unknown member may be one that hides something.
  if (!decoded.unknown.text.empty()) {
    return fail(Code::format_too_new, "the order for a worktree has members that are not known");
  }
  const WorktreeRequest& value = decoded.value;
  const auto is_absolute = [](const std::string& path) { return path.starts_with('/'); };
  if (!value.session || !is_absolute(value.repository) || !is_absolute(value.path) ||
      value.branch.empty()) {
    return fail(Code::invalid_argument,
                "the order for a worktree lacks one of session_id, repository, path, branch");
  }
  // git creates a branch by running `git branch NAME`, which would treat `-D` as an option.
  if (!checked_git_name(value.branch)) {
    return fail(Code::invalid_argument, "branch: not the name of a branch");
  }
  return std::move(decoded.value);
}

std::string encode_worktree_answer(const WorktreeAnswer& answer) { return encode_fields(answer); }

Result<WorktreeAnswer> decode_worktree_answer(std::string_view text) {
  return std::move(TRY(decode_fields<WorktreeAnswer>(text)).value);
}

}  // namespace perdure
