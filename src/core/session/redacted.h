// The redacted form of an event: the ids, counts and settings from which the session's state is
// folded. A fixed word replaces each text, so that readers need not interpret missing fields.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/events.h"
#include "core/session/state.h"

namespace perdure {

// Replaces a redacted text. Readers show it unchanged.
inline constexpr std::string_view redacted_text = "[redacted]";

// The event without its text. Absent: the state does not depend on this event.
std::optional<EventBody> without_text(const EventBody& body);

// False if the event holds no text to redact.
bool holds_text(const EventBody& body);

// The texts of an event that a redaction takes, to look for them elsewhere. Not among them: names
// of answers as short as "Yes, and don't ask again", which stand at every question.
inline constexpr std::size_t answer_name_to_find_min = 32;
std::vector<std::string> texts_of(const EventBody& body);

// The state without redactable text. Two states that differ only in such text become equal.
State without_text(State state);

}  // namespace perdure
