// A folder in memory, for tests and the simulator. It follows the contract of env/folder.h and can
// inject the failures that this allows: a full disk, a partial append. A copy shows what another
// process would find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/folder.h"

namespace perdure {

class MemoryFolder final : public Folder {
 public:
  Result<std::vector<std::string>> list() override;
  Result<> append(const std::string& name, std::string_view bytes) override;
  Result<std::string> read(const std::string& name, std::uint64_t offset,
                           std::size_t bytes_max) override;
  Result<std::uint64_t> size(const std::string& name) override;
  Result<> truncate(const std::string& name, std::uint64_t bytes) override;
  Result<> remove(const std::string& name) override;

  // From here on every append fails with disk_full and changes nothing, until make_room().
  void fill_disk() { is_full_ = true; }
  void make_room() { is_full_ = false; }
  // The next append writes only the first bytes, at most all of them, and fails with
  // storage_unknown, like a write that was cut off. Later appends succeed.
  void tear_next_append(std::size_t bytes_kept) { kept_of_next_ = bytes_kept; }
  // The next remove or truncate fails with `internal` and changes nothing.
  void refuse_next_change() { refuses_change_ = true; }

  // The contents, for a test to inspect and damage.
  std::map<std::string, std::string>& files() { return files_; }
  const std::map<std::string, std::string>& files() const { return files_; }
  std::uint64_t bytes() const;

 private:
  Result<std::string*> find(const std::string& name);
  Result<> check_change(const std::string& name);

  std::map<std::string, std::string> files_;
  bool is_full_ = false;
  bool refuses_change_ = false;
  std::optional<std::size_t> kept_of_next_;
};

}  // namespace perdure
