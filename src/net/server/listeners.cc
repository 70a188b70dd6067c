#include "net/server/listeners.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure {
namespace {

// `DESCRIPTOR=NAME`, one per line.
constexpr const char* variable = "PERDURE_LISTENERS";

std::string name_of(const SocketAddress& address) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&address.storage);
  std::string name = "tcp:";
  for (socklen_t i = 0; i < address.size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    name += digits[bytes[i] >> 4U];
    name += digits[bytes[i] & 15U];
  }
  return name;
}

// A socket's file may be replaced by another one at the same path, so the name includes its inode.
std::optional<std::string> name_of(const UnixName& at) {
  struct stat status{};
  if (::stat((at.folder + "/" + at.name).c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) {
    return std::nullopt;
  }
  return "unix:" + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

bool is_listener(int descriptor) {
  int listens = 0;
  socklen_t size = sizeof listens;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 1;
}

}  // namespace

KeptListeners KeptListeners::inherit() {
  KeptListeners out;
  const char* const given = std::getenv(variable);
  const std::string text = given ? given : "";
  ::unsetenv(variable);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    int descriptor = -1;
    const auto [behind, error] =
        std::from_chars(line.data(), line.data() + line.size(), descriptor);
    if (error != std::errc() || behind == line.data() + line.size() || *behind != '=' ||
        descriptor <= STDERR_FILENO || !is_listener(descriptor)) {
      continue;
    }
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    out.kept_.push_back({Socket(descriptor), std::string(behind + 1, line.data() + line.size())});
  }
  return out;
}

Result<Socket> KeptListeners::copy_of(std::string_view name) {
  const auto kept = std::ranges::find(kept_, name, &Kept::name);
  if (kept == kept_.end()) return Socket();
  kept->is_used = true;
  return copy_socket(kept->socket.get());
}

Result<Socket> KeptListeners::keep(Socket made, std::string name) {
  Socket copy = TRY(copy_socket(made.get()));
  kept_.push_back({std::move(made), std::move(name), true});
  return copy;
}

Result<Socket> KeptListeners::listen_tcp(const SocketAddress& address, std::string_view shown) {
  Socket kept = TRY(copy_of(name_of(address)));
  if (kept) return kept;
  Socket made = TRY(listen_tcp_socket(address, shown));
  SocketAddress bound;  // includes the port that was chosen
  bound.size = sizeof bound.storage;
  if (::getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) {
    return fail(Code::unavailable, "read the socket's address");
  }
  return keep(std::move(made), name_of(bound));
}

Result<Socket> KeptListeners::listen_unix(const UnixName& at) {
  if (const auto name = name_of(at)) {
    Socket kept = TRY(copy_of(*name));
    if (kept) return kept;
  }
  Socket made = TRY(listen_unix_socket(at));
  return keep(std::move(made), name_of(at).value_or(""));
}

void KeptListeners::close_unused() {
  std::erase_if(kept_, [](const Kept& kept) { return !kept.is_used; });
  for (Kept& kept : kept_) kept.is_used = false;
}

void KeptListeners::pass_on() const {
  std::string text;
  for (const Kept& kept : kept_) {
    ::fcntl(kept.socket.get(), F_SETFD, 0);
    text += std::to_string(kept.socket.get()) + "=" + kept.name + "\n";
  }
  ::setenv(variable, text.c_str(), 1);
}

}  // namespace perdure
