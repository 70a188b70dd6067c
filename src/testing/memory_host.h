// A host whose folders are in memory, for tests of code that works through a host. It has no
// listeners and no known processes unless a test's own host provides them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "env/host.h"
#include "testing/store/memory_folder.h"

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
