// The machine as an executor sees it: other processes by who they are, sockets and folders by their
// paths. What cannot be seen is unknown, never dead (C19).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/folder.h"
#include "env/link.h"

namespace perdure {

// A process for ever: its number may be given to another, but not with the same start time.
// Meaningful in the pid namespace that it was taken in.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since the host's boot, as the kernel counts
  std::string host_boot;
  bool operator==(const ProcessIdentity&) const = default;
};

enum class ProcessLife { alive, dead, unknown };

class Host {
 public:
  virtual ~Host() = default;
  virtual ProcessLife life(const ProcessIdentity& process) = 0;
  // not_found: nobody listens there.
  virtual Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                                const std::string& name) = 0;
  // not_found: there is none.
  virtual Result<std::unique_ptr<Folder>> open_folder(const std::string& path) = 0;
  // Makes it, for its owner only, where it is missing; the folder above must exist.
  virtual Result<std::unique_ptr<Folder>> make_folder(const std::string& path) {
    return fail(Code::unavailable, "no folder can be made here: " + path);
  }
  // With the plain files in it; one that is not there is removed already.
  virtual Result<> remove_folder(const std::string& path) = 0;
  virtual Result<> remove_file(const std::string& folder, const std::string& name) = 0;
};

}  // namespace perdure
