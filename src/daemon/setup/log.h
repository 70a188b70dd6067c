// The daemon's log: one rotated file in <data>/log, and stderr when it runs in the foreground. It
// holds what an operator needs, but never a token, a prompt or an agent's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_mask.h"

namespace spdlog {
class logger;
}

namespace perdure {

class Log {
 public:
  struct Setting {
    std::string file;
    std::int64_t bytes_max = 16L << 20;  // the log is rotated at this size
    std::size_t files = 4;
    bool also_stderr = false;
  };
  static Result<std::unique_ptr<Log>> open(const Setting& setting);
  ~Log();

  // Masks these values in all later lines. Any thread.
  void hide(const SecretMask& secrets);

  void note(std::string_view text);
  void warn(std::string_view text);
  void error(std::string_view text);
  // Writes everything before it returns.
  void flush();

 private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  std::string masked(std::string_view text);

  std::shared_ptr<spdlog::logger> logger_;
  std::mutex secrets_mutex_;
  SecretMask secrets_;
};

// Whether a service manager waits for notifications.
bool has_service_manager();
// Notifies a waiting service manager ("READY=1", "STOPPING=1"), if there is one.
void tell_service_manager(std::string_view state);

}  // namespace perdure
