// Puts a whole file in place at once: a temporary file beside it, on the disk, then one rename. A
// version that was expected is checked after the exchange, so that no other writer slips between.
#pragma once

#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "env/file_tree.h"
#include "env_posix/beneath.h"

namespace perdure {

struct AtomicWrite {
  WriteTerms terms;
  mode_t new_mode = 0644;  // of a file that was not there; another keeps its own
};

// `place` names no symlink. Errors as FileTree::write.
Result<FileStat> atomic_write(const beneath::Place& place, std::string_view bytes,
                              const AtomicWrite& how);

}  // namespace perdure
