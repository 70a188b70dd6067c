// Keeps a folder out of sight of this process's later children, by a mount namespace of its own.
// Descriptors that are open already go on leading to what they led to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct HiddenFolder {
  std::string folder;             // absolute
  std::vector<std::string> show;  // folders in it that stay visible, absolute
  std::vector<std::string> hide;  // folders within those that are empty all the same
};

// From here on the folder is an empty, read-only one for this process and its children. Needs root
// or a kernel that lets everybody make user namespaces; `unavailable` with the reason otherwise,
// and nothing has changed. Call it with one thread.
Result<> hide_folder(const HiddenFolder& hidden);

// Whether the machine lets this user have a mount namespace at all; tried in a child.
bool allows_mount_namespaces();

// The session in which this process runs, as far as its ancestors tell: the value of
// PERDURE_SESSION in the environment that it or one of them was started with. Empty: none.
// not_found: no such process, so that nothing can be said.
Result<std::string> hosting_session_of(std::int64_t pid);

// The same of every process that /proc shows; an empty text: in none.
std::map<std::int64_t, std::string> hosting_sessions();

}  // namespace perdure
