#include "testing/store/fault_files.h"

#include <algorithm>

namespace perdure {
namespace {

std::unexpected<Error> failed(FaultKind kind, const std::string& doing) {
  const bool is_full =
      kind == FaultKind::full || kind == FaultKind::short_write || kind == FaultKind::full_behind;
  return fail(is_full ? Code::disk_full : Code::storage_unknown, doing);
}

class FaultJournalFile final : public JournalFile {
 public:
  FaultJournalFile(FaultDisk& disk, std::shared_ptr<DiskFile> file)
      : disk_(disk), file_(std::move(file)), life_(disk.life()) {}

  Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) override {
    if (is_stale() || disk_.read(*file_, offset, bytes_max)) {
      return fail(Code::unavailable, "read " + file_->name());
    }
    if (offset >= file_->current().size()) return std::string();
    return file_->current().substr(offset, bytes_max);
  }
  Result<> write(std::uint64_t offset, std::string_view bytes) override {
    if (bytes.empty() && !is_stale()) return {};
    return outcome("write", [&] { return disk_.write(*file_, offset, bytes); });
  }
  Result<> truncate(std::uint64_t bytes) override {
    if (!is_stale() && bytes == file_->current().size()) return {};
    return outcome("truncate", [&] { return disk_.truncate(*file_, bytes); });
  }
  Result<> sync() override {
    return outcome("sync", [&] { return disk_.sync_bytes(file_); });
  }
  Result<std::uint64_t> size() override {
    if (is_stale()) return fail(Code::unavailable, "look at " + file_->name());
    return file_->current().size();
  }

 private:
  bool is_stale() const { return life_ != disk_.life(); }
  template <class Ask>
  Result<> outcome(const char* doing, Ask ask) {
    if (is_stale()) return fail(Code::storage_unknown, "of an earlier life");
    const std::optional<FaultKind> fault = ask();
    if (!fault) return {};
    return failed(*fault, std::string(doing) + " " + file_->name());
  }

  FaultDisk& disk_;
  std::shared_ptr<DiskFile> file_;
  std::uint64_t life_;
};

class FaultFiles final : public JournalDisk {
 public:
  explicit FaultFiles(FaultDisk& disk) : disk_(disk), life_(disk.life()) {}

  Result<std::unique_ptr<JournalFile>> open(const std::string& name, JournalOpen mode) override {
    if (is_stale()) return fail(Code::unavailable, "of an earlier life");
    const bool create = mode == JournalOpen::create;
    const FaultDisk::Opened opened =
        disk_.open(name, create ? FaultDisk::OpenMode::create : FaultDisk::OpenMode::existing);
    if (opened.fault) return fail(Code::unavailable, "open " + name);
    if (!opened.file) return fail(Code::not_found, name);
    return std::make_unique<FaultJournalFile>(disk_, opened.file);
  }
  Result<> rename(const RenameOrder& order) override {
    return outcome(order.from, disk_.rename({.from = order.from, .to = order.to}));
  }
  Result<> remove(const std::string& name) override {
    if (!disk_.exists(name)) return {};
    return outcome(name, disk_.remove(name, FaultDisk::RemoveMode::unsynced));
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    const std::string prefix = folder.empty() ? "" : folder + "/";
    std::vector<std::string> out;
    for (const std::string& name : disk_.names()) {
      if (!name.starts_with(prefix) || name.find('/', prefix.size()) != name.npos) continue;
      out.push_back(name.substr(prefix.size()));
    }
    std::ranges::sort(out);
    return out;
  }
  Result<> make_folder(const std::string&) override { return {}; }
  Result<> sync_folder(const std::string& folder) override {
    return outcome(folder, disk_.sync_names(folder.empty() ? "" : folder + "/"));
  }

 private:
  bool is_stale() const { return life_ != disk_.life(); }
  Result<> outcome(const std::string& name, std::optional<FaultKind> fault) const {
    if (is_stale()) return fail(Code::storage_unknown, "of an earlier life");
    if (fault) return failed(*fault, name);
    return {};
  }

  FaultDisk& disk_;
  std::uint64_t life_;
};

}  // namespace

std::unique_ptr<JournalDisk> make_fault_files(FaultDisk& disk) {
  return std::make_unique<FaultFiles>(disk);
}

}  // namespace perdure
