// The disk of a files store in memory: a FaultDisk that fails where the test planned it. A file's
// name and its bytes are made durable apart, as POSIX has it. Single-threaded.
#pragma once

#include <memory>

#include "store_files/disk.h"
#include "testing/fault_disk.h"

namespace perdure {

// What was opened before a crash() of the disk gives errors for all that is asked of it. The disk
// outlives what is made here.
std::unique_ptr<JournalDisk> make_fault_files(FaultDisk& disk);

}  // namespace perdure
