// The bounds of typed permission rules, their questions and their trials; docs/permissions.md lists
// them for users.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perdure {

inline constexpr std::size_t rule_words_max = 64;         // of a command; more: invalid_argument
inline constexpr std::size_t rule_word_bytes_max = 1024;  // a longer one: the same
inline constexpr std::size_t rule_paths_max = 64;         // of a question; more: a person decides
// Records before a question that are read at once for what its tool call said, and how often more
// of them are while the call's beginning is not among them.
inline constexpr std::size_t rule_look_back_records = 200;
inline constexpr std::size_t question_look_backs_max = 20;
// Of what an agent sent with a question, its earlier mentions included; more is not shown whole.
inline constexpr std::size_t question_bytes_max = 8UL << 20;
// Of what an agent sent with a question; of a longer one a person decides.
inline constexpr std::size_t rule_update_bytes_max = 2UL << 20;
inline constexpr std::size_t rule_look_ups_max = 256;  // of folders on the way to paths; the same
// A trial of a rule on the journal. It ends at the first of these bounds and reports that.
inline constexpr std::int64_t rule_trial_days_max = 365;
inline constexpr std::int64_t rule_trial_days = 30;  // before a rule is saved
inline constexpr std::uint64_t rule_trial_records_max = 500'000;
inline constexpr std::uint64_t rule_trial_session_records_max = 50'000;  // of each, the newest
inline constexpr std::int64_t rule_trial_ms = 10'000;
inline constexpr std::size_t rule_trial_list_max = 200;  // questions listed; others are counted
inline constexpr std::size_t rule_trials_max = 2;        // at once; one more: limit_reached

}  // namespace perdure
