// What a permission question is about, out of what its agent sent: the parameters of
// session/request_permission, and the updates of the tool call that it names. Everything is an
// agent's word. What is not understood makes the question unclear, never narrower.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "session/rule.h"

namespace perdure {

// `params` as the record keeps them; `updates` are earlier mentions of the same tool call, oldest
// first. Any bytes: what cannot be read gives a question without a kind.
Question read_question(std::string_view params, std::span<const std::string> updates);

}  // namespace perdure
