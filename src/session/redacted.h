// What stays of an event when its text is taken back: ids, counts and settings that the state of
// the session is folded from. Text is replaced by a fixed word, so that nothing has to be guessed
// from what is missing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/events.h"
#include "session/state.h"

namespace perdure {

// Stands where a text was. Readers show it as it is.
inline constexpr std::string_view redacted_text = "[redacted]";

// The event without its text. Nothing: the state needs nothing of such an event.
std::optional<EventBody> without_text(const EventBody& body);

// False for an event that is the same without its text: there is nothing to take back.
bool holds_text(const EventBody& body);

// The texts of an event that a redaction takes, to look for them elsewhere. Not among them: names
// of answers as short as "Yes, and don't ask again", which stand at every question.
inline constexpr std::size_t answer_name_to_find_min = 32;
std::vector<std::string> texts_of(const EventBody& body);

// The state without any of the text that a redaction takes. Two states that differ in such text
// only are equal then.
State without_text(State state);

}  // namespace perdure
