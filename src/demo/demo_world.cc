#include "demo/demo_world.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"

namespace perdure::demo {
namespace {

struct Started {
  int pid = -1;
  int output = -1;
  int error = 0;
};

Started spawn(const CommandRun& run) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.error = errno};
  std::vector<std::string> words = run.words;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&files, run.cwd.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Started started;
  started.error =
      posix_spawnp(&started.pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (started.error != 0) {
    close(ends[0]);
    return {.error = started.error};
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  started.output = ends[0];
  return started;
}

}  // namespace

RealWorld::RealWorld(std::string home) : home_(std::move(home)) {
  std::error_code ignored;  // without a home the agent works but stores nothing
  std::filesystem::create_directories(home_, ignored);
}

RealWorld::~RealWorld() {
  for (const auto& [number, running] : running_) {
    if (running.pid > 0) kill(-running.pid, SIGKILL), waitpid(running.pid, nullptr, 0);
    if (running.output >= 0) close(running.output);
  }
}

std::optional<std::string> RealWorld::session_path(const std::string& id) const {
  const bool is_plain = std::ranges::all_of(id, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (id.empty() || id.size() > 64 || !is_plain) return std::nullopt;
  return home_ + "/" + id + ".json";
}

std::optional<std::string> RealWorld::load_session(const std::string& id) {
  const auto path = session_path(id);
  if (!path) return std::nullopt;
  std::ifstream file(*path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void RealWorld::store_session(const std::string& id, const std::string& text) {
  const auto path = session_path(id);
  if (!path) return;
  const std::string draft = *path + "." + std::to_string(getpid()) + ".new";
  {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) return;
  }
  std::rename(draft.c_str(), path->c_str());
}

std::vector<std::string> RealWorld::list_sessions() {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(home_, error)) {
    if (entry.path().extension() == ".json") ids.push_back(entry.path().stem().string());
  }
  std::ranges::sort(ids);
  return ids;
}

std::optional<std::string> RealWorld::read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  if (std::filesystem::file_size(path, error) > demo_file_bytes_max || error) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!is_utf8(text)) return std::nullopt;
  return text;
}

Result<> RealWorld::write_file(const std::string& path, std::string_view text) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !read_file(path)) {
    return fail(Code::conflict, "something that is not ours is there already");
  }
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) return fail(Code::denied, "the file cannot be written");
  return {};
}

void RealWorld::start_command(const CommandRun& run) {
  const Started started = spawn(run);
  Running running{.pid = started.pid, .output = started.output};
  if (started.error != 0) running.words = std::string(std::strerror(started.error)) + "\n";
  running_[run.number] = std::move(running);
}

void RealWorld::kill_command(std::int64_t number) {
  const auto at = running_.find(number);
  if (at != running_.end() && at->second.pid > 0) kill(-at->second.pid, SIGKILL);
}

std::vector<int> RealWorld::descriptors() const {
  std::vector<int> open;
  for (const auto& [number, running] : running_) {
    if (running.output >= 0) open.push_back(running.output);
  }
  return open;
}

bool RealWorld::has_ends_to_tell() const {
  return std::ranges::any_of(running_, [](const auto& one) { return one.second.output < 0; });
}

bool RealWorld::has_ended(Running& running) {
  if (running.output >= 0) return false;
  if (running.pid < 0) return true;
  int status = 0;
  if (waitpid(running.pid, &status, WNOHANG) != running.pid) return false;
  running.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

void RealWorld::report(DemoAgent& agent) {
  for (auto at = running_.begin(); at != running_.end();) {
    auto& [number, running] = *at;
    char bytes[4096];
    while (running.output >= 0) {
      const ssize_t count = read(running.output, bytes, sizeof bytes);
      if (count > 0) {
        agent.command_output(number, {bytes, static_cast<std::size_t>(count)});
      } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(std::exchange(running.output, -1));
      } else {
        break;
      }
    }
    if (!has_ended(running)) {
      ++at;
      continue;
    }
    if (!running.words.empty()) agent.command_output(number, running.words);
    agent.command_ended(number, running.code);
    at = running_.erase(at);
  }
}

}  // namespace perdure::demo
