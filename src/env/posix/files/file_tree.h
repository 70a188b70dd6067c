// FileTree on Linux: openat2 resolves every path beneath the root, so that neither `..` nor a
// symlink, even one created between two system calls, leads out.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "env/file_tree.h"

namespace perdure {

struct FileTreeSetting {
  mode_t umask = 022;  // for new files and folders, because detach() narrows our own
};

// `root` is made canonical once; if a symlink appears in that path later, calls are refused.
// workspace_missing: no such folder. unavailable: the kernel has no openat2 (before Linux 5.6).
// Holds no descriptor between calls. An absolute symlink counts as leading out, even if its target
// is inside.
Result<std::unique_ptr<FileTree>> open_file_tree(const std::string& root,
                                                 FileTreeSetting setting = {});

}  // namespace perdure
