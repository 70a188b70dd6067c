// What a container sees of a git repository. It must be able to commit, and unable to leave
// anything behind that runs when somebody uses the repository on this machine: hooks and
// configuration are read-only for it.
#pragma once

#include <string>
#include <vector>

#include "executors/container_engine.h"

namespace perdure {

// Of a worktree that Perdure made. The repository's `.git` is read-only but for what a commit
// writes: objects, refs, logs and the worktree's own part. Empty unless the folder is still where
// the journal says.
struct MountedWorktree {
  std::string path;
  std::string git_folder;  // Workspace::worktree_repository
};
std::vector<ContainerMount> worktree_mounts(const MountedWorktree& worktree);

// Of the `.git` in a folder that the container can write: hooks, configuration, attributes and all
// that leads git elsewhere are read-only, and neither they nor `.git` can be replaced from inside.
// What is missing of these is made first, so that it cannot be made from inside; in a folder
// without a repository that is an empty `.git`, which git passes over.
std::vector<ContainerMount> folder_mounts(const std::string& folder);

}  // namespace perdure
