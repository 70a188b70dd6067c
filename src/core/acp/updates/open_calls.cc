#include "core/acp/updates/open_calls.h"

#include "base/limits.h"

namespace perdure::acp {

RpcId OpenCalls::add(OpenCall call) {
  if (calls_.size() >= acp_calls_open_max) calls_.erase(calls_.begin());
  calls_.emplace(next_id_, std::move(call));
  return RpcId::number(next_id_++);
}

std::optional<OpenCall> OpenCalls::take(const RpcId& id) {
  // An agent that stores ids as texts returns ours in quotes.
  std::string_view text = id.text;
  if (text.size() > 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  const auto number = json_int(text);
  const auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end()) return std::nullopt;
  OpenCall call = std::move(found->second);
  calls_.erase(found);
  return call;
}

}  // namespace perdure::acp
