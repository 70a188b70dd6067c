// Thin: each call opens what it needs and keeps nothing.
#include "env/posix/process/posix_host.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "env/posix/confine/identity.h"
#include "env/posix/files/folder.h"
#include "env/posix/loop/unix_link.h"

namespace perdure {

ProcessLife PosixHost::life(const ProcessIdentity& process) { return process_life(process); }

Result<std::unique_ptr<Link>> PosixHost::connect(const std::string& folder,
                                                 const std::string& name) {
  const std::unique_ptr<PosixFolder> opened = TRY(PosixFolder::open(folder));
  return TRY(UnixLink::connect(loop_, *opened, name));
}

Result<std::unique_ptr<Folder>> PosixHost::open_folder(const std::string& path) {
  return TRY(PosixFolder::open(path));
}

Result<std::unique_ptr<Folder>> PosixHost::make_folder(const std::string& path) {
  return TRY(PosixFolder::create(path));
}

Result<> PosixHost::remove_folder(const std::string& path) {
  Result<std::unique_ptr<PosixFolder>> folder = PosixFolder::open(path);
  if (!folder && folder.error().code() == Code::not_found) return {};
  if (!folder) return std::unexpected(std::move(folder).error());
  for (const std::string& name : TRY((*folder)->list())) TRY_VOID((*folder)->remove(name));
  if (rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(Code::unavailable, "remove " + path + ": " + std::strerror(errno));
}

Result<> PosixHost::remove_file(const std::string& folder, const std::string& name) {
  return TRY(PosixFolder::open(folder))->remove(name);
}

}  // namespace perdure
