// A transcript as a Markdown document for people.
#pragma once

#include <span>
#include <string>

#include "core/views/read_model.h"
#include "core/views/transcript.h"

namespace perdure {

// What the agent or its tools wrote stays inside fences where it could be taken for structure.
// `answers` are by seq; each stands behind the messages that began before it.
std::string transcript_markdown(const SessionView& view,
                                std::span<const TranscriptMessage> messages,
                                std::span<const QuestionAnswer> answers);

}  // namespace perdure
