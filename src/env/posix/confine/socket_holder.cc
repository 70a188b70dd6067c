#include "env/posix/confine/socket_holder.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

namespace perdure {
namespace {

bool leads_to(int folder, const char* name, const std::string& link) {
  std::array<char, 64> target;
  const ssize_t size = readlinkat(folder, name, target.data(), target.size());
  return size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) == link;
}

constexpr int descriptors_looked_at_max = 256;

struct Question {
  nlmsghdr head;
  unix_diag_req body;
};

// The inode of the socket at the other end; 0: it is closed, or the kernel does not tell.
std::uint32_t other_end_of(int unix_socket) {
  struct stat status{};
  const Fd diag(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!diag || fstat(unix_socket, &status) != 0) return 0;
  Question question{};
  question.head = {.nlmsg_len = sizeof question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST};
  question.body.sdiag_family = AF_UNIX;
  question.body.udiag_states = ~0U;
  question.body.udiag_ino = static_cast<std::uint32_t>(status.st_ino);
  question.body.udiag_show = UDIAG_SHOW_PEER;
  question.body.udiag_cookie[0] = question.body.udiag_cookie[1] = ~0U;
  if (send(diag.get(), &question, sizeof question, 0) < 0) return 0;
  alignas(nlmsghdr) std::array<char, 8192> answer;
  const ssize_t got = recv(diag.get(), answer.data(), answer.size(), 0);
  const auto* const head = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(unix_diag_msg))) ||
      head->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
    return 0;
  }
  auto left = static_cast<std::size_t>(got) - NLMSG_LENGTH(sizeof(unix_diag_msg));
  const auto* part =
      reinterpret_cast<const rtattr*>(answer.data() + NLMSG_SPACE(sizeof(unix_diag_msg)));
  for (; RTA_OK(part, left); part = RTA_NEXT(part, left)) {
    if (part->rta_type != UNIX_DIAG_PEER) continue;
    std::uint32_t inode = 0;
    std::memcpy(&inode, RTA_DATA(part), sizeof inode);
    return inode;
  }
  return 0;
}

}  // namespace

std::string socket_link(std::uint32_t inode) { return "socket:[" + std::to_string(inode) + "]"; }

int descriptor_for(std::int64_t pid, const std::string& link, const DescriptorSearch& search) {
  DIR* const open = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (!open) return -1;
  int result = -1;
  const int first = search.first_look;
  if (first >= 0 && leads_to(dirfd(open), std::to_string(first).c_str(), link)) result = first;
  while (const dirent* const entry = result < 0 ? readdir(open) : nullptr) {
    if (search.budget && --*search.budget < 0) break;
    if (!leads_to(dirfd(open), entry->d_name, link)) continue;
    result = std::atoi(entry->d_name);
  }
  closedir(open);
  return result;
}

bool is_descriptor_for(std::int64_t pid, int descriptor, const std::string& link) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  return leads_to(AT_FDCWD, path.c_str(), link);
}

bool holds_other_end(std::int64_t pid, int unix_socket) {
  const std::uint32_t inode = other_end_of(unix_socket);
  int budget = descriptors_looked_at_max;
  return inode != 0 && descriptor_for(pid, socket_link(inode), {.budget = &budget}) >= 0;
}

}  // namespace perdure
