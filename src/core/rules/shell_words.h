// Parses command lines for permission rules. Two parsers with opposite errors: simple_command()
// understands little but exactly, so an allow rule may rely on it; commands_within() prefers false
// positives, so a deny rule may rely on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

using Words = std::vector<std::string>;

// Longer texts are never understood.
inline constexpr std::size_t command_text_bytes_max = 16UL << 10;

// The words of a text that every common shell runs as one simple command with exactly these words:
// nothing is expanded, assigned, redirected, substituted or chained. Absent for everything else:
// quotes within the command's name, bytes outside printable ASCII, any character with a meaning in
// sh, bash, zsh, ksh or fish.
std::optional<Words> simple_command(std::string_view text);

// The same for a list of words: each must mean the same if a shell parses it after all.
std::optional<Words> simple_words(const Words& words);

// Whether the program runs its arguments as a command: sh, env, sudo, xargs and the like.
bool runs_other_commands(std::string_view program);

// Every command that the text may run, as words without quotes: the parts of a compound command, of
// substitutions, after `sudo` or `xargs`, in the text given to `sh -c`.
std::vector<Words> commands_within(std::string_view text);

bool has_prefix(const Words& words, const Words& prefix);
// Whether `words` start with `prefix`; `/usr/bin/rm` also counts as `rm`.
bool has_program_prefix(const Words& words, const Words& prefix);

}  // namespace perdure
