// Files as strings, sorted by name; memory_folder.h lists the possible faults.
#include "testing/store/memory_folder.h"

#include <utility>

namespace perdure {

Result<std::vector<std::string>> MemoryFolder::list() {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) names.push_back(name);
  return names;
}

Result<> MemoryFolder::append(const std::string& name, std::string_view bytes) {
  if (is_full_) return fail(Code::disk_full, "append to " + name + ": no room");
  if (const auto kept = std::exchange(kept_of_next_, std::nullopt)) {
    files_[name] += bytes.substr(0, *kept);
    return fail(Code::storage_unknown, "append to " + name + " left a part that stays");
  }
  files_[name] += bytes;
  return {};
}

Result<std::string*> MemoryFolder::find(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return fail(Code::not_found, "there is no file " + name);
  return &found->second;
}

Result<> MemoryFolder::check_change(const std::string& name) {
  if (!std::exchange(refuses_change_, false)) return {};
  return fail(Code::internal, name + " cannot be changed just now");
}

Result<std::string> MemoryFolder::read(const std::string& name, std::uint64_t offset,
                                       std::size_t bytes_max) {
  const std::string& bytes = *TRY(find(name));
  return offset >= bytes.size() ? std::string() : bytes.substr(offset, bytes_max);
}

Result<std::uint64_t> MemoryFolder::size(const std::string& name) {
  return TRY(find(name))->size();
}

Result<> MemoryFolder::truncate(const std::string& name, std::uint64_t bytes) {
  std::string& file = *TRY(find(name));
  TRY_VOID(check_change(name));
  if (bytes < file.size()) file.resize(bytes);
  return {};
}

Result<> MemoryFolder::remove(const std::string& name) {
  TRY_VOID(check_change(name));
  files_.erase(name);
  return {};
}

std::uint64_t MemoryFolder::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : files_) sum += bytes.size();
  return sum;
}

}  // namespace perdure
