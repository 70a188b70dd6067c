// The machine on which we run, for executors: see env/host.h.
#pragma once

#include <memory>
#include <string>

#include "env/host.h"
#include "env/posix/loop/loop.h"

namespace perdure {

class PosixHost final : public Host {
 public:
  explicit PosixHost(EpollLoop& loop) : loop_(loop) {}  // the loop must outlive its links

  ProcessLife life(const ProcessIdentity& process) override;
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& path) override;
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string& folder, const std::string& name) override;

 private:
  EpollLoop& loop_;
};

}  // namespace perdure
