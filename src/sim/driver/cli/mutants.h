// The mutation score: runs each mutant until the simulator detects it.
#pragma once

#include <string>

#include "sim/driver/campaign.h"

namespace perdure::sim {

// Prints the table of mutants.
int list_mutants();
// Enables a mutant by number, or the canary by name. Returns false if it does not exist.
bool choose_mutant(const std::string& name);
// Runs every mutant in its own process over the seeds until it is caught: by a violation, an abort
// or a seed that never ends. Prints the score and the survivors; `equivalent` names a file of
// mutants that change nothing. Returns 0 if at least 90 % are caught.
int score_mutants(const Campaign& campaign, const std::string& equivalent);

}  // namespace perdure::sim
