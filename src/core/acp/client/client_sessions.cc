#include "core/acp/client/client_sessions.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure::acp {

std::optional<OptionHandle> KnownSession::find_option(std::string_view option) const {
  const std::vector<OptionValue> values = option_values(options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].option != option && options[i].id != option) continue;
    return OptionHandle{.config_id = options[i].id, .is_boolean = options[i].type == "boolean"};
  }
  if (option == "mode" && has_modes) return OptionHandle{.means = OptionHandle::Means::mode};
  if (option == "model" && has_models) return OptionHandle{.means = OptionHandle::Means::model};
  return std::nullopt;
}

KnownSession& KnownSessions::touch(std::string_view session_id) {
  const auto at = std::ranges::find(sessions_, session_id, &KnownSession::session_id);
  if (at == sessions_.end()) {
    if (sessions_.size() >= acp_sessions_known_max) sessions_.erase(sessions_.begin());
    return sessions_.emplace_back(KnownSession{.session_id = std::string(session_id)});
  }
  std::rotate(at, at + 1, sessions_.end());
  return sessions_.back();
}

KnownSession* KnownSessions::find(std::string_view session_id) {
  const auto at = std::ranges::find(sessions_, session_id, &KnownSession::session_id);
  return at == sessions_.end() ? nullptr : &*at;
}

}  // namespace perdure::acp
