#include "daemon/setup/data_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "env/posix/confine/hidden_folder.h"
#include "env/posix/files/fd.h"
#include "env/posix/world.h"

namespace perdure {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// The XDG rules ignore relative paths.
std::string xdg(const char* name, const std::string& home, const char* otherwise) {
  const std::string given = variable(name);
  if (given.starts_with('/')) return given;
  return home.empty() ? "" : home + otherwise;
}

Result<> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(Code::unavailable, path + " cannot be made: " + std::strerror(errno));
}

std::string random_hex() {
  PosixRandom random;
  Hash bits;
  for (std::size_t i = 0; i < bits.bytes.size(); i += 8) {
    const std::uint64_t number = random.next();
    std::memcpy(bits.bytes.data() + i, &number, 8);
  }
  return bits.hex();
}

}  // namespace

Result<Places> find_places() {
  Places places;
  places.home = variable("HOME");
  places.user = variable("USER");
  if (places.home.empty() || places.user.empty()) {
    if (const passwd* const entry = getpwuid(geteuid())) {
      if (places.home.empty()) places.home = entry->pw_dir;
      if (places.user.empty()) places.user = entry->pw_name;
    }
  }
  places.data = variable("PERDURE_HOME");
  if (places.data.empty()) {
    const std::string state = xdg("XDG_STATE_HOME", places.home, "/.local/state");
    if (state.empty()) {
      return fail(Code::unavailable, "where to keep data? Set PERDURE_HOME or HOME");
    }
    places.data = state + "/perdure";
  }
  places.data = std::filesystem::absolute(places.data).lexically_normal().string();
  if (places.data.ends_with('/') && places.data.size() > 1) places.data.pop_back();
  places.config = variable("PERDURE_CONFIG");
  if (places.config.empty()) {
    const std::string folder = xdg("XDG_CONFIG_HOME", places.home, "/.config");
    if (!folder.empty()) places.config = folder + "/perdure/config.toml";
  }
  return places;
}

Result<> sync_path(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file && fsync(file.get()) == 0) return {};
  return fail(Code::unavailable, path + ": " + std::strerror(errno));
}

Result<> sync_tree(const std::string& path) {
  TRY_VOID(sync_path(path));
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
    TRY_VOID(sync_path(entry.path()));
  }
  return error ? fail(Code::unavailable, path + ": " + error.message()) : Result<>();
}

Result<std::unique_ptr<DataFolder>> DataFolder::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  TRY_VOID(make_folder(path));
  std::unique_ptr<PosixFolder> folder = TRY(PosixFolder::open(path));
  if (const Result<> is_private = folder->check_private(); !is_private) {
    return fail(Code::denied, path + " must belong to you alone: " + is_private.error().message() +
                                  " (try: chmod 700 " + path + ")");
  }
  std::unique_ptr<DataFolder> made(new DataFolder(path, std::move(folder)));
  for (const std::string& inner :
       {made->run(), made->agentctl_run(), made->container_run(), made->spool(),
        made->environments(), made->workspaces(), made->worktrees(), made->probes(),
        made->remotes(), made->logs(), made->programs()}) {
    TRY_VOID(make_folder(inner));
  }
  return made;
}

Result<> DataFolder::share_executions(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path + "/token", error)) {
    return fail(Code::invalid_argument,
                path + " is a data folder; executions are shared in a folder of their own");
  }
  TRY_VOID(make_folder(path));
  std::unique_ptr<PosixFolder> folder = TRY(PosixFolder::open(path));
  if (const Result<> is_private = folder->check_private(); !is_private) {
    return fail(Code::denied, path + " must belong to you alone: " + is_private.error().message() +
                                  " (try: chmod 700 " + path + ")");
  }
  executions_ = std::move(folder);
  executions_path_ = path;
  for (const std::string& inner : {path + "/run", agentctl_run(), container_run(), spool(),
                                   environments(), workspaces(), worktrees()}) {
    TRY_VOID(make_folder(inner));
  }
  return {};
}

// Written to a temporary name and then linked: one of several daemons wins, and a reader never sees
// a part of the file.
Result<std::string> DataFolder::home() const {
  constexpr std::size_t bytes_max = 256;
  PosixFolder& folder = executions_ ? *executions_ : *folder_;
  const int descriptor = folder.descriptor().get();
  for (int i = 0; i < 2; ++i) {
    Result<std::string> found = folder.read("home", 0, bytes_max);
    if (found) {
      while (!found->empty() && found->back() == '\n') found->pop_back();
      if (found->size() >= 32) return found;
      return fail(Code::damaged, executions() + "/home is too short to be a name");
    }
    if (found.error().code() != Code::not_found) return found;
    const std::string fresh = "home." + random_hex().substr(0, 16);
    TRY_VOID(folder.append(fresh, random_hex().substr(0, 32) + "\n"));
    const Fd file(openat(descriptor, fresh.c_str(), O_RDONLY | O_CLOEXEC));
    const bool is_made =
        file && fsync(file.get()) == 0 &&
        (linkat(descriptor, fresh.c_str(), descriptor, "home", 0) == 0 || errno == EEXIST);
    const int why = errno;
    TRY_VOID(folder.remove(fresh));
    if (!is_made) return fail(Code::unavailable, executions() + "/home: " + std::strerror(why));
  }
  return fail(Code::unavailable, executions() + "/home cannot be read");
}

Result<> DataFolder::lock() {
  Result<FileLock> lock = FileLock::try_acquire(*folder_, "lock");
  if (!lock) {
    if (lock.error().code() != Code::conflict) return std::unexpected(std::move(lock).error());
    return fail(Code::conflict, "another daemon has " + path_ + " already");
  }
  lock_ = std::move(*lock);
  return {};
}

// Written under another name first, so that a reader never sees a part of the file.
Result<std::string> DataFolder::secret_file(const std::string& name, std::string_view prefix) {
  constexpr std::size_t bytes_max = 4096;
  Result<std::string> found = folder_->read(name, 0, bytes_max);
  if (found) {
    while (!found->empty() && (found->back() == '\n' || found->back() == ' ')) found->pop_back();
    if (found->size() >= 32) return found;
    return fail(Code::damaged, path_ + "/" + name + " is too short to be a secret");
  }
  if (found.error().code() != Code::not_found) return found;
  const std::string text = std::string(prefix) + random_hex();
  TRY_VOID(folder_->replace(name, text + "\n"));
  return text;
}

Result<std::string> DataFolder::token() { return secret_file("token", "perdure_"); }
Result<std::string> DataFolder::key() { return secret_file("wait.key", ""); }

std::string DataFolder::identity() const {
  return folder_identity((executions_ ? *executions_ : *folder_).descriptor().get());
}

HiddenFolders DataFolder::hidden() const {
  HiddenFolders hidden{.folder = path_,
                       .identity = folder_identity(folder_->descriptor().get()),
                       .also = {},
                       .also_identity = {}};
  if (executions_) {
    hidden.also = executions_path_;
    hidden.also_identity = identity();
  }
  return hidden;
}

bool DataFolder::was_used() const {
  std::error_code error;
  return std::filesystem::exists(path_ + "/wait.key", error);
}

}  // namespace perdure
