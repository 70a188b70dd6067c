// A prompt as an agent gets it: ACP content blocks, with the history that is injected around them.
#pragma once

#include <string>

#include "session/values.h"

namespace perdure {

// A JSON array. `history` is that of SendPrompt: with one, K30's sections are blocks of their own
// in front of what was typed and behind it; without one the prompt stands alone.
std::string prompt_blocks(const Prompt& prompt, const std::string& history);

}  // namespace perdure
