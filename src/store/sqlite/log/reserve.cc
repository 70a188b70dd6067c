#include "store/sqlite/log/reserve.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr std::size_t probe_bytes = 1UL << 20;

}  // namespace

Result<> Reserve::make() {
  if (bytes_ == 0) return {};
  if (made_) return probe();
  Result<> written = write();
  if (!written) {
    if (written.error().code() == Code::disk_full) TRY_VOID(delete_file(place_));
    return written;
  }
  made_ = true;
  return {};
}

Result<> Reserve::write() {
  VfsFile file = TRY(VfsFile::open(place_, VfsFile::Mode::create));
  if (TRY(file.size()) >= bytes_) return {};
  const std::string zeros(std::min<std::size_t>(bytes_, 256UL << 10), '\0');
  for (std::size_t at = 0; at < bytes_; at += zeros.size()) {
    TRY_VOID(file.write(at, std::string_view(zeros).substr(0, bytes_ - at)));
  }
  return file.sync();
}

// Writes past the end and truncates again.
Result<> Reserve::probe() {
  VfsFile file = TRY(VfsFile::open(place_, VfsFile::Mode::create));
  Result<> written = file.write(bytes_, std::string(probe_bytes, '\0'));
  if (!written && written.error().code() != Code::disk_full) return written;
  TRY_VOID(file.truncate(bytes_));
  return written;
}

Result<bool> Reserve::release() {
  made_ = false;
  if (bytes_ == 0 || !TRY(file_exists(place_))) return false;
  TRY_VOID(delete_file(place_));
  return true;
}

}  // namespace perdure
