// The help and the manual page, made from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "perdure/terminal/style.h"
#include "perdure/verbs/call/args.h"

namespace perdure::cli {

// All verbs, one line each.
std::string help_overview(std::span<const Verb> verbs, const Style& style);
// One verb: usage, options, an example.
std::string help_verb(const Verb& verb, const Style& style);
// perdure.1, in man's format.
std::string man_page(std::span<const Verb> verbs, std::string_view version);

// "perdure send SESSION TEXT…"
std::string usage_line(const Verb& verb);

}  // namespace perdure::cli
