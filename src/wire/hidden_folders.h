// The folders that agents and shells do not see, but for what of them is their cwd. Each goes with
// its identity (folder_identity() of env_posix): an agent that can move it, or what is above it,
// shall not have another one hidden in its place. All empty: they see everything.
#pragma once

#include <string>

#include "base/fields.h"

namespace perdure {

struct HiddenFolders {
  std::string folder;
  std::string identity;  // empty, as from older daemons: any folder that is there
  std::string also;      // a second one; what of `folder` is in it stays as above
  std::string also_identity;
  bool empty() const { return folder.empty(); }
  FIELDS {
    visit("hide", self.folder);
    visit("hide_identity", self.identity);
    visit("hide_also", self.also);
    visit("hide_also_identity", self.also_identity);
  }
};

}  // namespace perdure
