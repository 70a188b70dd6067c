#include "core/wire/question/question_mentions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json/json_view.h"

namespace perdure {
namespace {

bool is_one_of(std::string_view text, auto&& texts) {
  return std::ranges::find(texts, text) != std::ranges::end(texts);
}

class Finder {
 public:
  explicit Finder(Mentions& found) : found_(found) {}

  void add_mention(std::string_view raw) {
    Mention mention{.raw = raw, .members = {}};
    if (auto tool = JsonObject::parse(raw)) {
      mention.members = tool->members();
    } else {
      found_.is_clear = false;
    }
    found_.of_tool.push_back(std::move(mention));
  }

  void add_question(const JsonObject& asked) {
    int calls = 0;
    for (const auto& [name, value] : asked.members()) {
      const bool is_object = value.starts_with('{');
      if (name == "toolCall" && is_object) {
        add_mention(value);
        ++calls;
      } else if (name == "subject" && is_object) {
        add_subject(value);
        ++calls;
      } else if (name == "title" && value.starts_with('"')) {
        found_.title = JsonView(value).text();
      } else if (name != "sessionId" && name != "options") {
        add_other(name, value);
      }
    }
    if (calls != 1) found_.is_clear = false;
  }

 private:
  // ACP v2: {"type":"tool_call","toolCall":{…}}, or the call itself, like {"type":"command",…}.
  void add_subject(std::string_view raw) {
    const auto subject = JsonObject::parse(raw);
    if (!subject) {
      found_.others.emplace_back("subject", raw);
      found_.is_clear = false;
      return;
    }
    const std::string_view type = subject->find("type");
    if (const std::string_view tool = subject->find("toolCall"); tool.starts_with('{')) {
      add_mention(tool);
      for (const auto& [name, value] : subject->members()) {
        const bool is_known = name == "toolCall" || (name == "type" && type == "\"tool_call\"");
        if (!is_known) add_other("subject." + name, value);
      }
      return;
    }
    JsonWriter tool;
    tool.begin_object();
    const bool is_command = type == "\"command\"" || !subject->find("command").empty();
    if (is_command) tool.key("kind").string("execute");
    tool.key("rawInput").begin_object();
    for (const auto& [name, value] : subject->members()) {
      if (name != "type" || value != "\"command\"") tool.key(name).raw(value);
    }
    tool.end_object().end_object();
    found_.kept.push_back(std::move(tool).take());
    add_mention(found_.kept.back());
  }

  void add_other(const std::string& name, std::string_view value) {
    found_.others.emplace_back(name, value);
    if (name != "_meta" && name != "description" && !says_nothing(value)) found_.is_clear = false;
  }

  Mentions& found_;
};

}  // namespace

Mentions mentions_of(std::string_view params, std::span<const std::string> updates) {
  Mentions found;
  Finder finder(found);
  for (const std::string& update : updates) {
    const auto view = JsonView::read(update);
    if (view && view->is_object()) {
      finder.add_mention(view->raw());
    } else {
      found.is_json = false;
    }
  }
  const auto asked = JsonView::read(params);
  if (!asked || !asked->is_object()) {
    found.is_json = false;
  } else if (const auto members = JsonObject::parse(asked->raw())) {
    finder.add_question(*members);
  } else {
    found.others.emplace_back("question", asked->raw());
    found.is_clear = false;
  }
  found.is_clear = found.is_clear && found.is_json;
  return found;
}

bool says_nothing(std::string_view raw) {
  return raw.empty() || raw == "null" || raw == "\"\"" || raw == "[]" || raw == "{}";
}

bool is_command_name(std::string_view name) { return name == "command" || name == "cmd"; }

bool is_folder_name(std::string_view name) {
  static constexpr auto names = std::to_array<std::string_view>(
      {"cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"});
  return is_one_of(name, names);
}

bool is_bookkeeping(std::string_view name) {
  static constexpr auto names =
      std::to_array<std::string_view>({"toolCallId", "sessionUpdate", "status"});
  return is_one_of(name, names);
}

}  // namespace perdure
