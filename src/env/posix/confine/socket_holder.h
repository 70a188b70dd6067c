// Which process holds a socket: the kernel names sockets by the numbers of their inodes, and shows
// for each process where its descriptors lead.
#pragma once

#include <cstdint>
#include <string>

namespace perdure {

// What a descriptor of that socket leads to in /proc.
std::string socket_link(std::uint32_t inode);

struct DescriptorSearch {
  int first_look = -1;    // where it probably is; -1: not known
  int* budget = nullptr;  // lowered by each descriptor examined; below 0 the search ends
};
// The descriptor of the process that leads there; -1: none is seen.
int descriptor_for(std::int64_t pid, const std::string& link, const DescriptorSearch& search = {});
// Whether this descriptor of the process leads there.
bool is_descriptor_for(std::int64_t pid, int descriptor, const std::string& link);

// Whether the process is seen to hold the other end of this unix socket. False also when the kernel
// does not tell, or when the process has too many descriptors to look at while a caller waits.
bool holds_other_end(std::int64_t pid, int unix_socket);

}  // namespace perdure
