// A transcript as a Markdown document for people.
#pragma once

#include <span>
#include <string>

#include "session/read_model.h"
#include "session/transcript.h"

namespace perdure {

// Text from the agent or its tools is fenced wherever it could be mistaken for structure.
std::string transcript_markdown(const SessionView& view,
                                std::span<const TranscriptMessage> messages);

}  // namespace perdure
