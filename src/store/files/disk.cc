#include "store/files/disk.h"

namespace perdure {

Result<std::string> read_whole(JournalDisk& disk, const std::string& name) {
  const std::unique_ptr<JournalFile> file = TRY(disk.open(name, JournalOpen::existing));
  return file->read(0, TRY(file->size()));
}

Result<> replace_file(JournalDisk& disk, const std::string& name, std::string_view bytes,
                      Replace how) {
  const std::string fresh = name + ".new";
  const auto put = [&]() -> Result<> {
    const std::unique_ptr<JournalFile> file = TRY(disk.open(fresh, JournalOpen::create));
    TRY_VOID(file->truncate(0));
    TRY_VOID(file->write(0, bytes));
    if (how == Replace::synced) TRY_VOID(file->sync());
    return disk.rename({.from = fresh, .to = name});
  };
  Result<> done = put();
  // The disk is full: a partial file must not take up space.
  if (!done && done.error().code() == Code::disk_full) TRY_VOID(disk.remove(fresh));
  return done;
}

}  // namespace perdure
