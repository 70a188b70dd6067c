// The table of all verbs, assembled from one file per group.
#pragma once

#include <vector>

#include "perdure/verbs/call/args.h"

namespace perdure::cli {

// Visible verbs in the order of the help, then hidden ones.
const std::vector<Verb>& all_verbs();

std::vector<Verb> live_verbs();
std::vector<Verb> prompt_verbs();
std::vector<Verb> lifecycle_verbs();
std::vector<Verb> open_verbs();
std::vector<Verb> read_verbs();
std::vector<Verb> decide_verbs();
std::vector<Verb> rule_verbs();
std::vector<Verb> care_verbs();
std::vector<Verb> audit_verbs();
std::vector<Verb> agent_verbs();
std::vector<Verb> adopt_verbs();
std::vector<Verb> store_verbs();
std::vector<Verb> remote_verbs();
std::vector<Verb> plumbing_verbs();

}  // namespace perdure::cli
