// Characters that make text look like something else: direction changes, invisible and control
// characters, and letters of another script inside a Latin word. Each is replaced or followed by
// its code, as in `<U+202E>`, so that it is seen instead of having its effect. The page keeps the
// same sets in web/src/core/suspicious.ts; tests/shared/deceptive_cases.json holds both to them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace perdure {

enum class Care {
  prose,    // what somebody reads: lets pass what languages and emoji need
  title,    // names and titles: marks look-alike letters as well
  command,  // what somebody approves: lets nothing pass, odd spaces included
};

// Calls `take` with each part of the text in turn. A deceptive character is a part of its own,
// given as its mark. Ill-formed UTF-8 arrives as U+FFFD. Newlines and tabs are never marked.
using TakePart = std::function<void(std::string_view part, bool is_mark)>;
void split_deceptive(std::string_view text, Care care, const TakePart& take);

// The whole text with its marks. A look-alike letter keeps its shape before its code.
std::string mark_deceptive(std::string_view text, Care care);
// How many characters are marked.
std::size_t count_deceptive(std::string_view text, Care care);

}  // namespace perdure
