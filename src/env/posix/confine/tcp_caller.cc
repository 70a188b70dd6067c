#include "env/posix/confine/tcp_caller.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/confine/socket_holder.h"
#include "env/posix/process/proc.h"

namespace perdure {
namespace {

constexpr std::size_t holders_known_max = 8;
constexpr int newest_looked_at = 64;

struct Address {
  int family = 0;
  std::array<std::uint32_t, 4> words{};
};

std::optional<Address> parse(std::string_view text) {
  constexpr std::string_view mapped = "::ffff:";
  Address out;
  const std::string plain(
      text.starts_with(mapped) && text.contains('.') ? text.substr(mapped.size()) : text);
  for (const int family : {AF_INET, AF_INET6}) {
    out.family = family;
    if (inet_pton(family, plain.c_str(), out.words.data()) == 1) return out;
  }
  return std::nullopt;
}

// Whether it is an address of this machine: only those can be bound.
bool is_local(const Address& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (address.family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, address.words.data(), sizeof v4.sin_addr);
    size = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, address.words.data(), sizeof v6.sin6_addr);
    size = sizeof v6;
  }
  const Fd probe(socket(address.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool refused = probe &&
                       bind(probe.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0 &&
                       errno == EADDRNOTAVAIL;
  return !refused;
}

struct Question {
  nlmsghdr head;
  inet_diag_req_v2 body;
};

// The inode of the caller's socket; 0: it is closed already. nullopt: there is none on this
// machine, or the kernel does not report it.
std::optional<std::uint32_t> ask_for_socket(const TcpEnds& ends, const Address& theirs,
                                            const Address& ours) {
  const Fd diag(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!diag) return std::nullopt;
  Question question{};
  question.head = {.nlmsg_len = sizeof question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST};
  question.body.sdiag_family = static_cast<std::uint8_t>(theirs.family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  inet_diag_sockid& id = question.body.id;
  id.idiag_sport = htons(ends.their_port);
  id.idiag_dport = htons(ends.our_port);
  std::memcpy(id.idiag_src, theirs.words.data(), sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, ours.words.data(), sizeof id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(diag.get(), &question, sizeof question, 0) < 0) return std::nullopt;
  alignas(nlmsghdr) std::array<char, 8192> answer;
  const ssize_t got = recv(diag.get(), answer.data(), answer.size(), 0);
  nlmsghdr head;
  inet_diag_msg found;
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof found))) return std::nullopt;
  std::memcpy(&head, answer.data(), sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
  // If nothing is connected, the kernel returns a listener of that port.
  if (found.idiag_state == TCP_LISTEN) return std::nullopt;
  return found.idiag_inode;
}

// The most recently assigned pid.
std::int64_t newest_process() {
  const Result<std::string> text = read_small_file("/proc/loadavg");
  if (!text) return 0;
  const std::size_t space = text->rfind(' ');
  return space == std::string::npos ? 0 : std::atoll(text->c_str() + space + 1);
}

// Threads have ids of their own, which /proc shows on request: the process that a thread belongs
// to; 0: the id is unused.
std::int64_t process_of_thread(std::int64_t number) {
  const Result<std::string> text = read_small_file("/proc/" + std::to_string(number) + "/status");
  if (!text) return 0;
  const std::size_t at = text->find("\nTgid:\t");
  return at == std::string::npos ? 0 : std::atoll(text->c_str() + at + 7);
}

// 0 from kernels before 6.2, which do not tell.
std::int64_t descriptor_count(std::int64_t pid) {
  struct stat status{};
  return stat(("/proc/" + std::to_string(pid) + "/fd").c_str(), &status) == 0 ? status.st_size : 0;
}

// Where the socket is to be looked for, or the answer when nobody needs to be found.
struct Search {
  std::optional<CallerPlace> answer;
  std::string link;
};

Search begin_search(const TcpEnds& ends) {
  const std::optional<Address> theirs = parse(ends.their_address);
  const std::optional<Address> ours = parse(ends.our_address);
  if (!theirs || !ours) return {CallerPlace{true, "", "its address cannot be read"}, ""};
  const std::optional<std::uint32_t> inode = ask_for_socket(ends, *theirs, *ours);
  if (inode && *inode != 0) return {std::nullopt, socket_link(*inode)};
  if (!inode && !is_local(*theirs)) return {CallerPlace{false, "", ""}, ""};
  return {CallerPlace{true, "", "no process on this machine holds its connection"}, ""};
}

}  // namespace

CallerPlace TcpCallers::judge(const Holder& holder, const std::string& link) {
  const Result<Fd> pidfd = open_pidfd(holder.pid);
  // Looked at once more: whoever has the number from here on is the one that is judged.
  if (!pidfd || !is_descriptor_for(holder.pid, holder.descriptor, link)) {
    return {true, "", "the calling process has ended"};
  }
  const CallerPlace place = place_of({holder.pid, pidfd->get()}, rules_);
  if (!place.inside) remember(holder);
  return place;
}

std::vector<TcpCallers::Holder> TcpCallers::known() {
  const std::lock_guard guard(mutex_);
  return known_;
}

void TcpCallers::remember(const Holder& holder) {
  const std::lock_guard guard(mutex_);
  std::erase_if(known_, [&](const Holder& one) { return one.pid == holder.pid; });
  known_.insert(known_.begin(), holder);
  if (known_.size() > holders_known_max) known_.pop_back();
}

std::vector<std::int64_t> TcpCallers::processes(bool inside) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> counted;
  for (const std::int64_t pid : process_numbers()) {
    if (is_plainly_inside(pid, rules_) == inside) counted.emplace_back(descriptor_count(pid), -pid);
  }
  // One that holds very many is looked at last, and of others the newest first.
  std::ranges::sort(counted);
  std::vector<std::int64_t> out;
  for (const auto& [count, negative] : counted) out.push_back(-negative);
  return out;
}

std::optional<CallerPlace> TcpCallers::find_outside(const TcpEnds& ends) {
  const Search search = begin_search(ends);
  if (search.answer) return search.answer;
  for (const Holder& holder : known()) {
    const int descriptor =
        descriptor_for(holder.pid, search.link, {.first_look = holder.descriptor});
    if (descriptor >= 0) return judge({holder.pid, descriptor}, search.link);
  }
  const std::int64_t newest = newest_process();
  const std::int64_t oldest = std::max<std::int64_t>(1, newest - newest_looked_at);
  for (std::int64_t number = newest; number >= oldest; --number) {
    if (is_plainly_inside(number, rules_) || descriptor_for(number, search.link) < 0) continue;
    const std::int64_t process = process_of_thread(number);
    const int descriptor = descriptor_for(process, search.link);
    if (descriptor >= 0) return judge({process, descriptor}, search.link);
  }
  for (const std::int64_t pid : processes(false)) {
    const int descriptor = descriptor_for(pid, search.link);
    if (descriptor >= 0) return judge({pid, descriptor}, search.link);
  }
  return std::nullopt;
}

CallerPlace TcpCallers::find_inside(const TcpEnds& ends) {
  const Search search = begin_search(ends);
  if (search.answer) return *search.answer;
  int budget = descriptors_;
  for (const std::int64_t pid : processes(true)) {
    const int descriptor = descriptor_for(pid, search.link, {.budget = &budget});
    if (descriptor >= 0) return judge({pid, descriptor}, search.link);
    if (budget < 0) break;
  }
  return {true, "", "no process was found that holds its connection"};
}

CallerPlace TcpCallers::find(const TcpEnds& ends) {
  std::optional<CallerPlace> place = find_outside(ends);
  return place ? std::move(*place) : find_inside(ends);
}

}  // namespace perdure
