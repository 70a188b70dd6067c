// File systems in which the kernel presents itself: proc, sysfs and similar. Their content depends
// on the reader, and writes act on processes and devices. Therefore no process accesses them on
// behalf of another, and they contain no workspace.
#pragma once

#include <string>
#include <string_view>

namespace perdure {

// The name of such a file system, if the descriptor is open there. Empty: it is another one.
std::string_view kernel_file_system(int descriptor);
// The same for a path's target; also empty if that does not exist.
std::string_view kernel_file_system_at(const std::string& path);

}  // namespace perdure
