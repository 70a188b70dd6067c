// The supervisor's interface to the workspace: calls by name, and notifications from shells. Works
// with or without an agent (L24).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

class WorkspacePort {
 public:
  using Reply = std::move_only_function<void(Result<std::string> result_json)>;
  virtual ~WorkspacePort() = default;
  // The reply comes once, now or later; not_found: unknown method.
  virtual void call(std::string_view method, std::string_view params, Reply reply) = 0;
  virtual std::size_t shells_open() const = 0;
  // Called on the loop when a shell has unread output or has ended.
  virtual void set_on_shell_news(std::move_only_function<void(std::string shell)> on_news) = 0;
  // Ends all shells and programs.
  virtual void stop() = 0;
};

}  // namespace perdure
