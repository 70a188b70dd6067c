// A question with everything that it asks for: the inbox has only its title, the record has the
// rest.
#pragma once

#include "cli/session_brief.h"
#include "cli/verb_call.h"

namespace perdure::cli {

// Fills in `asked` of a question of the inbox. What cannot be found leaves it not whole.
Outcome<void> load_asked(VerbCall& call, Question& question);

}  // namespace perdure::cli
