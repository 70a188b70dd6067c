#include "wire/question.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "session/rule_limits.h"
#include "wire/question_mentions.h"

namespace perdure {
namespace {

bool is_one_of(const auto& one, auto&& all) {
  return std::ranges::find(all, one) != std::ranges::end(all);
}

std::optional<std::string> text_of(std::string_view raw) {
  if (!raw.starts_with('"')) return std::nullopt;
  const Result<std::string> text = json_string(raw);
  return text ? std::optional(*text) : std::nullopt;
}

std::vector<std::string_view> elements_of(std::string_view raw) {
  return json_elements(raw).value_or(std::vector<std::string_view>());
}

bool is_flag(std::string_view raw) { return raw == "true" || raw == "false"; }
bool is_number(std::string_view raw) {
  return raw.starts_with('-') || (!raw.empty() && raw[0] >= '0' && raw[0] <= '9');
}

// The words of a list of texts; absent if an element is not a text.
std::optional<Words> words_of(std::string_view raw) {
  if (!raw.starts_with('[')) return std::nullopt;
  Words words;
  for (const std::string_view item : elements_of(raw)) {
    auto word = text_of(item);
    if (!word) return std::nullopt;
    words.push_back(*std::move(word));
  }
  return words;
}

// The text that `sh -c TEXT` would run.
std::optional<std::string> script_of(const Words& words) {
  static constexpr auto shells = std::to_array<std::string_view>({"sh", "bash", "zsh", "dash"});
  if (words.size() != 3 || (words[1] != "-c" && words[1] != "-lc")) return std::nullopt;
  const std::size_t slash = words[0].rfind('/');
  const std::string name = slash == std::string::npos ? words[0] : words[0].substr(slash + 1);
  return is_one_of(name, shells) ? std::optional(words[2]) : std::nullopt;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : ' ' + word;
  return text;
}

// Members of a tool's raw input by what they mean to a rule.
constexpr auto path_names = std::to_array<std::string_view>(
    {"file_path", "filePath", "path", "absolute_path", "absolutePath", "abs_path", "notebook_path",
     "file", "filename", "old_path", "new_path", "oldPath", "newPath", "source", "destination",
     "target_file", "paths", "files", "file_paths"});
// Patterns and texts: rules ignore them as long as they cannot refer to other places.
constexpr auto pattern_names =
    std::to_array<std::string_view>({"pattern", "glob", "query", "regex", "include"});
constexpr auto content_names = std::to_array<std::string_view>(
    {"content", "old_string",  "new_string", "oldString", "newString",  "old_text",     "new_text",
     "oldText", "newText",     "old_str",    "new_str",   "new_source", "unified_diff", "diff",
     "text",    "output_mode", "type",       "cell_id",   "cell_type",  "edit_mode"});
// Flags of tools that search and edit: they select among what the paths name.
constexpr auto flag_names =
    std::to_array<std::string_view>({"-n", "-i", "multiline", "case_sensitive", "recursive",
                                     "respect_git_ignore", "respectGitIgnore", "replaceAll"});
// Of any tool: they do not change what is done.
constexpr auto harmless_names =
    std::to_array<std::string_view>({"description",   "timeout",
                                     "timeout_ms",    "run_in_background",
                                     "is_background", "call_id",
                                     "callId",        "turn_id",
                                     "turnId",        "id",
                                     "reason",        "justification",
                                     "parsed_cmd",    "parsedCmd",
                                     "explanation",   "prompt",
                                     "limit",         "offset",
                                     "line",          "head_limit",
                                     "replace_all",   "max_output_tokens",
                                     "yield_time_ms"});

// Members of a tool call that say nothing about what it does, and kinds of content that are read.
constexpr auto passed_over =
    std::to_array<std::string_view>({"title", "name", "rawOutput", "_meta"});
constexpr auto content_types = std::to_array<std::string_view>({"content", "diff", "terminal"});

// Reads one agent's words about a tool call, mention by mention.
class Reader {
 public:
  Question take(std::string_view params, std::span<const std::string> updates) {
    const Mentions mentions = mentions_of(params, updates);
    if (!mentions.is_json) return {.is_clear = false};
    is_clear_ = mentions.is_clear;
    for (const Mention& mention : mentions.of_tool) add_tool(mention.members);
    for (const std::string& input : raw_inputs_) read_input(input);
    add_args();
    finish_command();
    if (question_.paths.size() > rule_paths_max) {
      question_.paths.resize(rule_paths_max);
      paths_clear_ = false;
    }
    question_.paths_are_all = paths_clear_ && is_clear_;
    question_.is_clear = is_clear_;
    return std::move(question_);
  }

 private:
  // Everything counts that a mention says: a later one may leave out what an earlier one had, and
  // where they differ, more than one thing may be meant.
  void add_tool(const std::vector<JsonObject::Member>& members) {
    for (const auto& [name, value] : members) {
      if (name == "kind") {
        if (const auto kind = text_of(value)) question_.tool_kind = *kind;
      } else if (name == "rawInput") {
        if (!says_nothing(value) && !is_one_of(value, raw_inputs_)) {
          raw_inputs_.emplace_back(value);
        }
      } else if (name == "locations") {
        for (const std::string_view location : list(value)) {
          const Result<JsonObject> at = JsonObject::parse(location);
          add_path(at ? at->find("path") : std::string_view());
        }
      } else if (name == "content") {
        add_contents(value);
      } else if (!is_one_of(name, passed_over) && !is_bookkeeping(name) && !says_nothing(value)) {
        is_clear_ = false;
      }
    }
  }

  void add_contents(std::string_view raw) {
    for (const std::string_view item : list(raw)) {
      const Result<JsonObject> content = JsonObject::parse(item);
      if (!content) {
        is_clear_ = false;
        continue;
      }
      const auto type = text_of(content->find("type"));
      is_clear_ = is_clear_ && type && is_one_of(*type, content_types);
      if (type != "diff") continue;
      question_.changes_files = true;
      if (content->find("changes").empty()) add_path(content->find("path"));
      for (const std::string_view change : list(content->find("changes"))) {
        const Result<JsonObject> file = JsonObject::parse(change);
        add_path(file ? file->find("path") : std::string_view());
        if (file && !says_nothing(file->find("oldPath"))) add_path(file->find("oldPath"));
      }
    }
  }

  std::vector<std::string_view> list(std::string_view raw) {
    if (says_nothing(raw)) return {};
    if (raw.starts_with('[')) return elements_of(raw);
    is_clear_ = false;
    return {};
  }

  void add_path(std::string_view raw) {
    const auto path = text_of(raw);
    if (!path || path->empty()) {
      paths_clear_ = false;
    } else if (!is_one_of(*path, question_.paths)) {
      question_.paths.push_back(*path);
    }
  }

  void read_input(const std::string& raw) {
    const Result<JsonObject> input = JsonObject::parse(raw);
    if (!input) {
      is_clear_ = false;
      if (question_.tool_kind == "execute") add_command(raw);
      return;
    }
    for (const auto& [name, value] : input->members()) {
      if (!says_nothing(value)) read_member(name, value);
    }
  }

  void add_args() {
    if (!args_) return;
    if (commands_.size() == 1 && commands_.front().size() == 1) {
      commands_.front().insert(commands_.front().end(), args_->begin(), args_->end());
      are_words_ = true;
    } else {
      command_clear_ = false;
    }
  }

  void read_member(const std::string& name, std::string_view value) {
    if (is_command_name(name)) return add_command(value);
    if (is_one_of(name, harmless_names)) return;
    if (is_folder_name(name)) {
      const auto folder = text_of(value);
      const bool agrees = folder && (question_.cwd.empty() || question_.cwd == *folder);
      if (!agrees) command_clear_ = false;
      if (folder) question_.cwd = *folder;
      if (name == "directory" || name == "dir_path") add_path(value);
      return;
    }
    if (name == "args") {
      const auto words = words_of(value);
      command_clear_ = command_clear_ && words && (!args_ || args_ == words);
      args_ = words;
      return;
    }
    // A command must stand alone: a variable, an input or another shell changes it, and so does a
    // flag that is false: `"sandbox": false`.
    command_clear_ = false;
    if (is_one_of(name, path_names)) return add_paths(value);
    if (is_one_of(name, content_names) || is_number(value)) return;
    if (is_flag(value) && is_one_of(name, flag_names)) return;
    if (name == "changes") return add_changes(value);
    if (is_one_of(name, pattern_names)) {
      const auto pattern = text_of(value);
      const bool stays = pattern && !pattern->starts_with('/') && !pattern->starts_with('~') &&
                         !pattern->contains("..") && !pattern->contains("{/");
      paths_clear_ = paths_clear_ && stays;
      return;
    }
    paths_clear_ = false;
  }

  void add_paths(std::string_view value) {
    if (!value.starts_with('[')) return add_path(value);
    for (const std::string_view item : elements_of(value)) add_path(item);
  }

  // Codex: {"/path": {"move_path": …}}.
  void add_changes(std::string_view value) {
    question_.changes_files = true;
    const Result<JsonObject> changes = JsonObject::parse(value);
    if (!changes) {
      paths_clear_ = false;
      return;
    }
    for (const auto& [path, change] : changes->members()) {
      if (!is_one_of(path, question_.paths)) question_.paths.push_back(path);
      const Result<JsonObject> file = JsonObject::parse(change);
      if (!file) continue;
      for (const auto& [name, raw] : file->members()) {
        if (name.contains("path") && !says_nothing(raw)) add_path(raw);
      }
    }
  }

  void add_command(std::string_view value) {
    if (const auto text = text_of(value)) {
      if (!is_one_of(Words{*text}, commands_)) commands_.push_back({*text});
    } else if (const auto words = words_of(value); words && !words->empty()) {
      const auto script = script_of(*words);
      are_words_ = are_words_ || !script;
      Words command = script ? Words{*script} : *words;
      if (!is_one_of(command, commands_)) commands_.push_back(std::move(command));
      if (script) within_of(joined(*words));
    } else {
      command_clear_ = false;
      commands_.push_back({std::string(value.substr(0, command_text_bytes_max))});
    }
  }

  void within_of(const std::string& text) {
    for (Words& words : commands_within(text)) question_.within.push_back(std::move(words));
  }

  void finish_command() {
    for (const Words& command : commands_) {
      if (!question_.command.empty()) question_.command += "; ";
      question_.command += joined(command);
      within_of(joined(command));
      for (const std::string& word : command) {
        if (command.size() > 1 && word.contains(' ')) within_of(word);
      }
      if (are_words_) question_.within.push_back(command);
    }
    if (commands_.size() != 1 || !command_clear_ || !is_clear_) return;
    const Words& command = commands_.front();
    question_.words = are_words_ ? simple_words(command) : simple_command(command.front());
  }

  Question question_;
  std::vector<std::string> raw_inputs_;  // that differ
  std::vector<Words> commands_;          // a text is one word
  std::optional<Words> args_;
  bool are_words_ = false;
  bool is_clear_ = true;
  bool paths_clear_ = true;
  bool command_clear_ = true;
};

}  // namespace

Question read_question(std::string_view params, std::span<const std::string> updates) {
  return Reader().take(params, updates);
}

}  // namespace perdure
