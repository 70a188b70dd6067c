// The subject of a permission question, derived from the agent's data: the parameters of
// session/request_permission, and the updates of the tool call that it names. All of it is the
// agent's claim. Anything not understood makes the question unclear, never narrower.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/rules/rule.h"

namespace perdure {

// `params` as the record keeps them; `updates` are earlier mentions of the same tool call, oldest
// first. Any bytes: unreadable data gives a question without a kind.
Question read_question(std::string_view params, std::span<const std::string> updates);

}  // namespace perdure
