// Replaces a whole file atomically: writes a temporary file beside it, syncs it, and renames it
// once. An expected version is checked after the exchange, so no other writer can come between.
#pragma once

#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "env/file_tree.h"
#include "env/posix/files/beneath.h"

namespace perdure {

struct AtomicWrite {
  WriteTerms terms;
  mode_t new_mode = 0644;  // for a new file; an existing one keeps its own
};

// `place` must not name a symlink. Errors as for FileTree::write.
Result<FileStat> atomic_write(const beneath::Place& place, std::string_view bytes,
                              const AtomicWrite& how);

}  // namespace perdure
