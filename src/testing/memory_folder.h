// A folder in memory, for tests and the simulator. It keeps to the contract of env/folder.h, and
// where that leaves room for bad luck a test may ask for it: a disk without room, an append of
// which only a part arrived. A copy is what another process would find.
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

  // From here on every append is refused with disk_full and changes nothing, until there is room.
  void fill_disk() { is_full_ = true; }
  void make_room() { is_full_ = false; }
  // Of the next append only the first bytes arrive, at most all: it fails with storage_unknown and
  // leaves them there, as a write that was cut off does. The ones after it are whole again.
  void tear_next_append(std::size_t bytes_kept) { kept_of_next_ = bytes_kept; }
  // The next remove or truncate fails with `internal` and changes nothing.
  void refuse_next_change() { refuses_change_ = true; }

  // What is in it, for a test to look at and to damage.
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
