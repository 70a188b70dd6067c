// A prompt as the agent receives it: ACP content blocks, surrounded by the injected history.
#pragma once

#include <string>

#include "core/session/values.h"

namespace perdure {

// A JSON array. `history` is that of SendPrompt: if set, K30's sections are separate blocks before
// and after the typed text; otherwise the prompt stands alone.
std::string prompt_blocks(const Prompt& prompt, const std::string& history);

}  // namespace perdure
