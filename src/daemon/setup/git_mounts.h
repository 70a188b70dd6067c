// Which parts of a git repository a container sees. It must be able to commit, but not to leave
// anything that runs when a person uses the repository on this machine. Hooks and configuration are
// therefore read-only for it.
#pragma once

#include <string>
#include <vector>

#include "daemon/hosting/container/container_engine.h"

namespace perdure {

// The mounts of a worktree that Perdure made. The repository's `.git` is read-only except for what
// a commit writes: objects, refs, logs and the worktree's own part. Empty if the folder is no
// longer where the journal says.
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
