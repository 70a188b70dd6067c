#include "testing/agent/cli/folder_home.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace perdure::testagent {

FolderHome::FolderHome(std::string folder) : folder_(std::move(folder)) {
  std::error_code ignored;  // the first use reports any error
  std::filesystem::create_directories(folder_, ignored);
}

FolderHome::~FolderHome() {
  for (const auto& [name, descriptor] : locks_) close(descriptor);
}

std::optional<std::string> FolderHome::path_of(const std::string& name, const char* ending) const {
  const bool is_plain = std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!is_plain || name.empty() || name.size() > 128) return std::nullopt;
  return folder_ + "/" + name + ending;
}

std::optional<std::string> FolderHome::get(const std::string& session_id) {
  const auto path = path_of(session_id, ".json");
  if (!path) return std::nullopt;
  std::ifstream file(*path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void FolderHome::put(const std::string& session_id, const std::string& text) {
  const auto path = path_of(session_id, ".json");
  if (!path) return;
  const std::string draft = *path + "." + std::to_string(getpid()) + ".new";
  {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) return;
  }
  std::rename(draft.c_str(), path->c_str());
}

void FolderHome::remove(const std::string& session_id) {
  if (const auto path = path_of(session_id, ".json")) unlink(path->c_str());
}

std::vector<std::string> FolderHome::list() {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    if (entry.path().extension() == ".json") ids.push_back(entry.path().stem().string());
  }
  std::ranges::sort(ids);
  return ids;
}

bool FolderHome::lock(const std::string& name) {
  if (locks_.contains(name)) return true;
  const auto path = path_of(name, ".lock");
  if (!path) return true;
  const int descriptor = open(path->c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return false;
  }
  locks_.emplace(name, descriptor);
  return true;
}

void FolderHome::unlock(const std::string& name) {
  const auto at = locks_.find(name);
  if (at == locks_.end()) return;
  close(at->second);
  locks_.erase(at);
}

void FolderHome::report_violation(const std::string& line) {
  const std::string path = folder_ + "/violations";
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  const std::string whole = line + " (pid " + std::to_string(getpid()) + ")\n";
  if (write(descriptor, whole.data(), whole.size()) < 0) std::perror("violations");
  close(descriptor);
}

}  // namespace perdure::testagent
