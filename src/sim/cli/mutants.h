// The mutation score: each mutant is run until the simulator notices it.
#pragma once

#include <string>

#include "sim/campaign.h"

namespace perdure::sim {

// Prints the table of mutants.
int list_mutants();
// Turns on a mutant by number, or the canary by name. False: there is none such.
bool choose_mutant(const std::string& name);
// Runs every mutant in a process of its own over the seeds until it is caught: by a violation, an
// abort or a seed that does not end. Prints the score and the survivors; `equivalent` names a file
// with the mutants that change nothing. 0 when at least 90 % are caught.
int score_mutants(const Campaign& campaign, const std::string& equivalent);

}  // namespace perdure::sim
