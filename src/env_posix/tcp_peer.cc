#include "env_posix/tcp_peer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include "env_posix/confine.h"
#include "env_posix/proc.h"

namespace perdure {
namespace {

using Inodes = std::set<std::string>;

std::string hex(std::uint32_t value, int digits) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%0*X", digits, value);
  return text.data();
}

// The peer's end as /proc/net/tcp and tcp6 print it. A socket for IPv6 that speaks to an IPv4
// address stands in the second file.
std::vector<std::string> printed_ends(const LoopbackPeer& peer) {
  const std::string port = ":" + hex(peer.port, 4);
  std::array<std::uint32_t, 4> words{};
  if (inet_pton(AF_INET, peer.address.c_str(), words.data()) == 1) {
    const std::string inner = hex(words[0], 8);
    return {inner + port, std::string(16, '0') + hex(htonl(0xffff), 8) + inner + port};
  }
  if (inet_pton(AF_INET6, peer.address.c_str(), words.data()) != 1) return {};
  std::string printed;
  for (const std::uint32_t word : words) printed += hex(word, 8);
  return {printed + port};
}

Inodes inodes_of(const LoopbackPeer& peer) {
  const std::vector<std::string> ends = printed_ends(peer);
  const std::string our_port = ":" + hex(peer.our_port, 4);
  Inodes found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string number, local, remote, skipped, inode;
      words >> number >> local >> remote;
      if (!remote.ends_with(our_port)) continue;
      if (std::ranges::find(ends, local) == ends.end()) continue;
      for (int i = 0; i < 6; ++i) words >> skipped;  // state, queues, timer, retries, uid, timeout
      words >> inode;
      found.insert("socket:[" + inode + "]");
    }
  }
  return found;
}

enum class Holds { no, yes, unreadable };

Holds holds(std::int64_t pid, const Inodes& inodes) {
  const std::string process = "/proc/" + std::to_string(pid);
  DIR* const open = opendir((process + "/fd").c_str());
  if (!open) return access(process.c_str(), F_OK) == 0 ? Holds::unreadable : Holds::no;
  Holds result = Holds::no;
  while (const dirent* const entry = readdir(open)) {
    char target[64];
    const ssize_t size = readlinkat(dirfd(open), entry->d_name, target, sizeof target);
    if (size > 0 && inodes.contains(std::string(target, static_cast<std::size_t>(size)))) {
      result = Holds::yes;
      break;
    }
  }
  closedir(open);
  return result;
}

}  // namespace

Result<std::string> hosting_session_of(const LoopbackPeer& peer) {
  const Inodes inodes = inodes_of(peer);
  if (inodes.empty()) return fail(Code::not_found, "the connection is gone");
  const std::map<std::int64_t, std::string> sessions = hosting_sessions();
  bool is_hidden = false;
  for (const auto& [pid, session] : sessions) {
    if (session.empty()) continue;
    const Holds held = holds(pid, inodes);
    if (held == Holds::yes) return session;
    is_hidden = is_hidden || held == Holds::unreadable;
  }
  if (!is_hidden) return std::string();
  // One inside keeps its descriptors to itself: then somebody outside must be seen to have it.
  for (const auto& [pid, session] : sessions) {
    if (session.empty() && holds(pid, inodes) == Holds::yes) return std::string();
  }
  return fail(Code::unavailable, "a hosted process hides its descriptors");
}

}  // namespace perdure
