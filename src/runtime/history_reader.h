// Reads as much of a session's history as an injected prompt can hold, newest first.
#pragma once

#include "session/resume_context.h"
#include "store/store.h"

namespace perdure {

// The context for a prompt behind the given boundary. Reads only as far back as the budget reaches.
Result<ResumeContext> read_resume_context(Store& store, SessionId session,
                                          ResumeContextBuilder::Ask ask);

}  // namespace perdure
