// Hides folders from this process and its later children, which must be in their own mount
// namespace.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct HiddenFolder {
  std::string folder;    // absolute
  std::string identity;  // from folder_identity(); empty: any existing folder
  // What stays visible: paths within `folder`, spelled as there.
  std::vector<std::string> show;
  std::vector<std::string> sealed;  // like `show`, but nothing in them can be changed
  std::vector<std::string> hide;    // folders within those that are empty anyway
};

// Makes the folder empty and read-only. An ordinary user also cannot move the folders above it,
// which would make it visible elsewhere. unavailable: the machine does not allow it. conflict:
// another folder is at that path. Any other error is temporary. After an error, parts of it may be
// done.
Result<> hide_folder(const HiddenFolder& hidden);

// Makes all control groups read-only by their paths; open descriptors can still change them. If the
// daemon has its own groups, a process could otherwise escape its limits, or end others through
// theirs. Errors as above.
Result<> seal_control_groups();

// Distinguishes a folder from all others on this machine, even after a move; "" if it is none.
std::string folder_identity(int descriptor);

}  // namespace perdure
