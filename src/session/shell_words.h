// Command lines, read for permission rules. Two readers with opposite errors: simple_command()
// understands little and is exact, so an allow rule may rely on it; commands_within() finds rather
// too much than too little, so a deny rule may rely on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

using Words = std::vector<std::string>;

// A longer text is never understood.
inline constexpr std::size_t command_text_bytes_max = 16UL << 10;

// The words of a text that every common shell runs as one simple command with exactly these words:
// nothing is expanded, assigned, redirected, substituted or chained. Everything else is nothing:
// quotes within the command's name, bytes outside printable ASCII, any letter with a meaning in
// sh, bash, zsh, ksh or fish.
std::optional<Words> simple_command(std::string_view text);

// The same for words that were given as a list: each must read alike if a shell sees it after all.
std::optional<Words> simple_words(const Words& words);

// Whether the program runs what its arguments say: sh, env, sudo, xargs and the like.
bool runs_other_commands(std::string_view program);

// Every command that the text may run, as words without quotes: the parts of a compound command,
// those in substitutions, those behind `sudo` or `xargs`, those in the text given to `sh -c`.
std::vector<Words> commands_within(std::string_view text);

bool has_prefix(const Words& words, const Words& prefix);
// The same, but `/usr/bin/rm` also counts as `rm`.
bool has_program_prefix(const Words& words, const Words& prefix);

}  // namespace perdure
