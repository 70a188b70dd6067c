#include "testing/memory_host.h"

#include <utility>

namespace perdure {
namespace {

// All users of an open folder see each other's changes.
class SharedFolder final : public Folder {
 public:
  explicit SharedFolder(std::shared_ptr<MemoryFolder> folder) : folder_(std::move(folder)) {}
  Result<std::vector<std::string>> list() override { return folder_->list(); }
  Result<> append(const std::string& name, std::string_view bytes) override {
    return folder_->append(name, bytes);
  }
  Result<std::string> read(const std::string& name, std::uint64_t offset,
                           std::size_t bytes_max) override {
    return folder_->read(name, offset, bytes_max);
  }
  Result<std::uint64_t> size(const std::string& name) override { return folder_->size(name); }
  Result<> truncate(const std::string& name, std::uint64_t bytes) override {
    return folder_->truncate(name, bytes);
  }
  Result<> remove(const std::string& name) override { return folder_->remove(name); }

 private:
  std::shared_ptr<MemoryFolder> folder_;
};

}  // namespace

ProcessLife MemoryHost::life(const ProcessIdentity&) { return ProcessLife::unknown; }

Result<std::unique_ptr<Link>> MemoryHost::connect(const std::string&, const std::string& name) {
  return fail(Code::not_found, "nobody listens at " + name);
}

Result<std::unique_ptr<Folder>> MemoryHost::open_folder(const std::string& path) {
  const auto at = folders.find(path);
  if (at == folders.end()) return fail(Code::not_found, path);
  return std::make_unique<SharedFolder>(at->second);
}

Result<std::unique_ptr<Folder>> MemoryHost::make_folder(const std::string& path) {
  folders.try_emplace(path, std::make_shared<MemoryFolder>());
  return open_folder(path);
}

Result<> MemoryHost::remove_folder(const std::string& path) {
  folders.erase(path);
  return {};
}

Result<> MemoryHost::remove_file(const std::string& folder, const std::string& name) {
  return TRY(open_folder(folder))->remove(name);
}

}  // namespace perdure
