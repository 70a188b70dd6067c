// Events in sentences: receipts, boundaries, interruptions, and why a session is in its state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "client/json_view.h"
#include "perdure/verbs/session_brief.h"

namespace perdure::cli {

// For a resume: how the session was restored, and what the agent no longer knows. One sentence
// each.
std::vector<std::string> receipt_sentences(JsonView receipt);

// For a context.boundary record, short enough for a rule across the screen.
std::string boundary_words(JsonView record);

// "the agent's process ended" for process_exit.
std::string interruption_words(std::string_view reason);

// "until 14:05 UTC (in 3h)", for a limit that is waited out.
std::string reset_words(Timestamp reset, Timestamp now);
bool needs_login(const SessionBrief& session);

// Why the session is in its state, and what to do: one sentence each.
std::vector<std::string> why_sentences(const SessionBrief& session, Timestamp now);

}  // namespace perdure::cli
