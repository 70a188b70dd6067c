// Loads a question with its whole content: the inbox has only its title, the record has the rest.
#pragma once

#include "cli/session_brief.h"
#include "cli/verb_call.h"

namespace perdure::cli {

// Fills in `asked` of a question from the inbox. If a part cannot be found, is_whole becomes false.
Outcome<void> load_asked(VerbCall& call, Question& question);

}  // namespace perdure::cli
