// Name patterns as people type them: `*` and `?` stay within one name, `**` crosses folders, and
// `[a-z]`, `[!a-z]` match one character of a set. Matches bytes, in time bounded by their product.
#pragma once

#include <string_view>

namespace perdure {

enum class LetterCase { exact, ignored };

// A pattern without a slash is matched against the last component, one with a slash against the
// whole path (a leading slash is the workspace).
bool glob_matches(std::string_view pattern, std::string_view path, LetterCase letters);

}  // namespace perdure
