// The folder of a store on the real disk, held by its descriptor and locked: no second process
// opens the store while this one lives.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store_files/disk.h"

namespace perdure {

// Makes the folder (0700) when it is missing and `mode` says so; the one above must be there.
// conflict: another process has it; not_found, unavailable: the place is not there or not ours.
Result<std::unique_ptr<JournalDisk>> open_posix_disk(const std::string& path, JournalOpen mode);

}  // namespace perdure
