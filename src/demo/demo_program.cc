#include "demo/demo_program.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "demo/demo_agent.h"
#include "demo/demo_world.h"

namespace perdure::demo {
namespace {

constexpr std::int64_t end_check_ms = 20;

std::int64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::uint64_t seed_of_this_life() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40);
}

// False: the reader has gone.
bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int timeout_ms(const DemoAgent& agent, const RealWorld& world) {
  const auto wake = agent.wake_at_ms();
  std::int64_t timeout = wake ? std::max<std::int64_t>(*wake - steady_ms(), 0) : -1;
  if (world.has_ends_to_tell()) {
    timeout = timeout < 0 ? end_check_ms : std::min(timeout, end_check_ms);
  }
  return static_cast<int>(std::min<std::int64_t>(timeout, 60'000));
}

// False: stdin has ended.
bool read_input(DemoAgent& agent) {
  char bytes[1 << 16];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  agent.feed({bytes, static_cast<std::size_t>(count)});
  return true;
}

}  // namespace

DemoFolders demo_folders_from_environment() {
  const char* home = std::getenv("PERDURE_DEMO_HOME");
  if (home && *home) return {home};
  const char* user = std::getenv("HOME");
  if (user && *user) return {std::string(user) + "/.local/state/perdure-demo"};
  return {};
}

int demo_agent_main(const DemoFolders& folders) {
  std::signal(SIGPIPE, SIG_IGN);
  RealWorld world(folders.home);
  DemoAgent agent(world, seed_of_this_life());
  while (true) {
    agent.tick(steady_ms());
    world.report(agent);
    if (!write_all(agent.take_output())) return 0;
    std::vector<pollfd> ready = {{STDIN_FILENO, POLLIN, 0}};
    for (const int descriptor : world.descriptors()) ready.push_back({descriptor, POLLIN, 0});
    if (poll(ready.data(), ready.size(), timeout_ms(agent, world)) < 0 && errno != EINTR) return 1;
    if (ready[0].revents != 0 && !read_input(agent)) return 0;
  }
}

}  // namespace perdure::demo
