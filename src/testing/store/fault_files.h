// The disk of a files store in memory: a FaultDisk that fails where the test planned it. As in
// POSIX, a file's name and its bytes become durable separately. Single-threaded.
#pragma once

#include <memory>

#include "store/files/disk.h"
#include "testing/store/fault_disk.h"

namespace perdure {

// Handles opened before a crash() of the disk return errors for everything. The disk must outlive
// the result.
std::unique_ptr<JournalDisk> make_fault_files(FaultDisk& disk);

}  // namespace perdure
