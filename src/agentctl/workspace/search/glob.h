// Name patterns: `*` and `?` stay within one name, `**` crosses folders, `[a-z]` and `[!a-z]` match
// one character of a set. Matches bytes in O(pattern × path) time.
#pragma once

#include <string_view>

namespace perdure {

enum class LetterCase { exact, ignored };

// A pattern without a slash matches the last component, one with a slash the whole path (a leading
// slash is the workspace).
bool glob_matches(std::string_view pattern, std::string_view path, LetterCase letters);

}  // namespace perdure
