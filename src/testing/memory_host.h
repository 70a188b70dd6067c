// A host whose folders are in memory, for tests of those who work through one. Nobody listens there
// and nothing is known of its processes, unless a test says so in a host of its own.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "env/host.h"
#include "testing/memory_folder.h"

namespace perdure {

struct MemoryHost : Host {
  ProcessLife life(const ProcessIdentity& process) override;
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& path) override;
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string& folder, const std::string& name) override;

  std::map<std::string, std::shared_ptr<MemoryFolder>> folders;  // by path
};

}  // namespace perdure
