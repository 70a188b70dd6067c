// The bounds of values that people and agents give.
#include "session/values.h"

#include <map>
#include <string>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

struct Bounds {
  const char* name;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

}  // namespace

Result<> check_given(std::string_view name, const RawJson& value) {
  if (!json_is_deeper(value.text, json_depth_given_max)) return {};
  return fail(Code::invalid_argument, std::string(name) + ": it nests deeper than " +
                                          std::to_string(json_depth_given_max) + " levels");
}

SessionId session_behind(std::string_view by) {
  constexpr std::string_view prefix = "session:";
  if (!by.starts_with(prefix)) return {};
  return SessionId::parse(by.substr(prefix.size())).value_or(SessionId());
}

Result<> check_limits(const AgentLimits& limits) {
  for (const Bounds& bounds : {Bounds{"memory_bytes", limits.memory_bytes,
                                      static_cast<std::int64_t>(memory_limit_bytes_min), INT64_MAX},
                               Bounds{"processes", limits.processes,
                                      static_cast<std::int64_t>(processes_limit_min), INT64_MAX},
                               Bounds{"cpu_percent", limits.cpu_percent, 1,
                                      static_cast<std::int64_t>(cpu_limit_percent_max)},
                               Bounds{"run_ms", limits.run_ms, 1, run_limit_ms_max}}) {
    if (bounds.value == 0) continue;
    if (bounds.value < bounds.least || bounds.value > bounds.most) {
      return fail(Code::invalid_argument, std::string(bounds.name) + ": 0 (no limit), or from " +
                                              std::to_string(bounds.least) + " to " +
                                              std::to_string(bounds.most));
    }
  }
  return {};
}

Result<> check_continue(const ContinueAtReset& terms) {
  if (terms.times < 1 || terms.times > continue_times_max) {
    return fail(Code::invalid_argument,
                "continue_at_reset: times is between 1 and " + std::to_string(continue_times_max));
  }
  if (terms.hours < 1 || terms.hours > continue_hours_max) {
    return fail(Code::invalid_argument,
                "continue_at_reset: hours is between 1 and " + std::to_string(continue_hours_max));
  }
  return {};
}

std::vector<PermissionOption> options_offered(std::vector<PermissionOption> options) {
  std::map<std::string, std::size_t> uses;
  for (const PermissionOption& option : options) ++uses[option.id];
  std::erase_if(options, [&](const PermissionOption& option) {
    return option.id.empty() || option.id.size() > question_option_bytes_max || uses[option.id] > 1;
  });
  if (options.size() > question_options_max) options.resize(question_options_max);
  for (PermissionOption& option : options) {
    for (std::string* const text : {&option.name, &option.kind}) {
      text->resize(utf8_prefix(*text, question_option_bytes_max).size());
    }
  }
  return options;
}

std::string question_title(std::string_view title) {
  constexpr std::string_view cut = "…";
  if (title.size() <= title_bytes_max) return std::string(title);
  return std::string(utf8_prefix(title, title_bytes_max - cut.size())).append(cut);
}

bool may_be_cut(std::string_view question_title) {
  constexpr std::size_t split_bytes_max = 3;  // of a character that a cut found in its way
  return question_title.size() + split_bytes_max >= title_bytes_max;
}

bool option_fits(std::string_view name, std::string_view value) {
  return name.size() <= option_name_bytes_max && value.size() <= option_value_bytes_max;
}

}  // namespace perdure
