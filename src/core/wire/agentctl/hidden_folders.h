// The folders hidden from agents and shells, except for their cwd. Each has its identity
// (folder_identity() of env_posix), so that an agent that moves it or a folder above it cannot have
// another folder hidden instead. All empty: nothing is hidden.
#pragma once

#include <string>

#include "base/json/fields.h"

namespace perdure {

struct HiddenFolders {
  std::string folder;
  std::string identity;  // empty, as from older daemons: any existing folder
  std::string also;      // a second one; where it overlaps `folder`, the rule above applies
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
