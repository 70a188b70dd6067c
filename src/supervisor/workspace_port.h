// What the supervisor needs from the workspace services: calls by name, and shells that speak by
// themselves. They work with or without an agent (L24).
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
  // The reply comes once, now or later; not_found for a method that is not known.
  virtual void call(std::string_view method, std::string_view params, Reply reply) = 0;
  // Input for a shell; one that is not there is ignored.
  virtual void shell_input(std::uint32_t shell, std::string_view bytes) = 0;
  virtual std::size_t shells_open() const = 0;
  // Ends all shells and programs, and calls back when they are gone.
  virtual void stop(std::move_only_function<void()> stopped) = 0;
};

}  // namespace perdure
