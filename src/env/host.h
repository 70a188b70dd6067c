// The machine as an executor sees it: other processes by identity, sockets and folders by path.
// Anything that cannot be seen is unknown, never dead (C19).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/folder.h"
#include "env/link.h"

namespace perdure {

// Identifies a process permanently: its number may be reused, but not with the same start time.
// Valid in the pid namespace in which it was read.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since the host's boot, as counted by the kernel
  std::string host_boot;
  bool operator==(const ProcessIdentity&) const = default;
};

enum class ProcessLife { alive, dead, unknown };

class Host {
 public:
  virtual ~Host() = default;
  virtual ProcessLife life(const ProcessIdentity& process) = 0;
  // not_found: no listener.
  virtual Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                                const std::string& name) = 0;
  // not_found: no such folder.
  virtual Result<std::unique_ptr<Folder>> open_folder(const std::string& path) = 0;
  // Creates it, for its owner only, if it is missing; the parent folder must exist.
  virtual Result<std::unique_ptr<Folder>> make_folder(const std::string& path) {
    return fail(Code::unavailable, "no folder can be made here: " + path);
  }
  // Includes the plain files in it. Succeeds also if it does not exist.
  virtual Result<> remove_folder(const std::string& path) = 0;
  virtual Result<> remove_file(const std::string& folder, const std::string& name) = 0;
};

}  // namespace perdure
