// Characters that disguise text: direction changes, invisible and control characters, and letters
// of another script inside a Latin word. Each is replaced or followed by its code, as in
// `<U+202E>`, so that it is visible and has no effect. The page has the same sets in
// web/src/core/suspicious.ts; tests/shared/deceptive_cases.json tests both.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace perdure {

enum class Care {
  prose,    // text to read: allows what languages and emoji need
  title,    // names and titles: also marks look-alike letters
  command,  // text to approve: allows nothing, not even odd spaces
};

// Calls `take` with each part of the text in order. A deceptive character is a separate part,
// represented by its mark. Ill-formed UTF-8 becomes U+FFFD. Newlines and tabs are never marked.
using TakePart = std::function<void(std::string_view part, bool is_mark)>;
void split_deceptive(std::string_view text, Care care, const TakePart& take);

// The whole text with its marks. A look-alike letter stays, followed by its code.
std::string mark_deceptive(std::string_view text, Care care);
// The number of marked characters.
std::size_t count_deceptive(std::string_view text, Care care);

}  // namespace perdure
