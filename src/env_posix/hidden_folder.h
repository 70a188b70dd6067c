// Folders that this process and its later children do not see. They must be in a mount namespace
// of their own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct HiddenFolder {
  std::string folder;    // absolute
  std::string identity;  // of folder_identity(); empty: any folder that is there
  // What stays visible of it: paths within `folder`, as they are written there.
  std::vector<std::string> show;
  std::vector<std::string> sealed;  // like `show`, but nothing in them can be changed
  std::vector<std::string> hide;    // folders within those that are empty all the same
};

// From here on the folder is an empty, read-only one. Nor can the folders above it be moved away
// to bring it into sight elsewhere, by an ordinary user. unavailable: the machine does not allow
// it. conflict: another folder lies at that path. Any other error: not just now. After an error
// some of it may be done.
Result<> hide_folder(const HiddenFolder& hidden);

// From here on no control group can be changed by its path; what is open already can. Somebody
// whose daemon has groups of its own could otherwise shed his limits, or end others through theirs.
// Errors as above.
Result<> seal_control_groups();

// Tells a folder from every other one of this machine, wherever it is moved; "" when it is none.
std::string folder_identity(int descriptor);

}  // namespace perdure
