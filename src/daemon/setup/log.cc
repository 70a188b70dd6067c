#include "daemon/setup/log.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace perdure {

Log::Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
Log::~Log() { logger_->flush(); }

Result<std::unique_ptr<Log>> Log::open(const Setting& setting) {
  std::vector<spdlog::sink_ptr> sinks;
  try {
    sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        setting.file, static_cast<std::size_t>(setting.bytes_max), setting.files));
    if (setting.also_stderr) {
      sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
      sinks.back()->set_pattern("perdure: %v");
    }
  } catch (const spdlog::spdlog_ex& error) {
    return fail(Code::unavailable, std::string("the log cannot be opened: ") + error.what());
  }
  sinks.front()->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
  auto logger = std::make_shared<spdlog::logger>("perdure", sinks.begin(), sinks.end());
  logger->flush_on(spdlog::level::info);
  return std::unique_ptr<Log>(new Log(std::move(logger)));
}

void Log::hide(const SecretMask& secrets) {
  const std::scoped_lock lock(secrets_mutex_);
  secrets_.add(secrets);
}

std::string Log::masked(std::string_view text) {
  const std::scoped_lock lock(secrets_mutex_);
  return secrets_.mask(text);
}

void Log::note(std::string_view text) { logger_->info(masked(text)); }
void Log::warn(std::string_view text) { logger_->warn(masked(text)); }
void Log::error(std::string_view text) { logger_->error(masked(text)); }
void Log::flush() { logger_->flush(); }

bool has_service_manager() {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  return path && (path[0] == '/' || path[0] == '@');
}

void tell_service_manager(std::string_view state) {
  if (!has_service_manager()) return;
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t bytes = std::strlen(path);
  if (bytes >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, bytes);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return;
  (void)sendto(socket_fd, state.data(), state.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes));
  close(socket_fd);
}

}  // namespace perdure
