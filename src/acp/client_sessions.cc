#include "acp/client_sessions.h"

#include <algorithm>

#include "base/limits.h"

namespace perdure::acp {

RpcId OpenCalls::add(OpenCall call) {
  if (calls_.size() >= acp_calls_open_max) calls_.erase(calls_.begin());
  calls_.emplace(next_id_, std::move(call));
  return RpcId::number(next_id_++);
}

std::optional<OpenCall> OpenCalls::take(const RpcId& id) {
  // An agent that keeps ids as texts gives ours back in quotes.
  std::string_view text = id.text;
  if (text.size() > 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  const auto number = json_int(text);
  const auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end()) return std::nullopt;
  OpenCall call = std::move(found->second);
  calls_.erase(found);
  return call;
}

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
