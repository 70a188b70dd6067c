// File systems in which the kernel shows itself: proc, sysfs and their kind. What is read there
// depends on who reads, and a write acts on processes and devices. So nobody works on them for
// somebody else, and no workspace lies there.
#pragma once

#include <string>
#include <string_view>

namespace perdure {

// The name of such a file system, if the descriptor is open there. Empty: it is another one.
std::string_view kernel_file_system(int descriptor);
// The same of what a path leads to; also empty: it leads nowhere.
std::string_view kernel_file_system_at(const std::string& path);

}  // namespace perdure
