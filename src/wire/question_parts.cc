#include "wire/question_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_view.h"
#include "wire/question_mentions.h"

namespace perdure {
namespace {

using Kind = QuestionPart::Kind;
using Names = std::initializer_list<std::string_view>;

constexpr auto kind_names =
    std::to_array<std::string_view>({"command", "folder", "diff", "path", "value", "said"});

bool is_one_of(std::string_view text, auto&& texts) {
  return std::ranges::find(texts, text) != std::ranges::end(texts);
}

// As a shell would take it, so that one argument does not look like two.
std::string shell_word(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").contains(c);
  });
  if (is_plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A text as it is meant; anything else as JSON. A text that cannot be decoded stays JSON too.
std::string leaf_text(std::string_view raw) {
  if (!raw.starts_with('"')) return std::string(raw);
  const auto text = json_string(raw);
  return text ? *text : std::string(raw);
}

// A name in a label: one that would break the line, or look like two, is quoted.
std::string label_of(const std::string& name) {
  const bool is_plain = !name.empty() && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == ':';
  });
  if (is_plain) return name;
  std::string out;
  json_append_string(out, name);
  return out;
}

std::string joined(const std::string& label, const std::string& name) {
  return label.empty() ? label_of(name) : label + "." + label_of(name);
}

std::vector<std::string_view> elements_of(std::string_view raw) {
  if (!raw.starts_with('[')) return {};
  return json_elements(raw).value_or(std::vector<std::string_view>());
}

// The words of a list of texts, in one line for a shell; nothing when one is something else.
std::optional<std::string> command_line(std::string_view raw) {
  std::string line;
  for (const std::string_view item : elements_of(raw)) {
    if (!item.starts_with('"')) return std::nullopt;
    line += (line.empty() ? "" : " ") + shell_word(leaf_text(item));
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

std::string_view find(const std::vector<JsonObject::Member>& members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &JsonObject::Member::first);
  return found == members.end() ? std::string_view() : found->second;
}

bool is_nothing_or_text(std::string_view raw) {
  return raw.empty() || raw == "null" || raw.starts_with('"');
}

class Shower {
 public:
  ShownQuestion take(std::string_view params, std::span<const std::string> updates) {
    const Mentions mentions = mentions_of(params, updates);
    question_.is_whole = mentions.is_json;
    question_.title = mentions.title;
    read_titles(mentions);
    read_members(mentions);
    is_other_ = false;
    for (const Mention& mention : mentions.of_tool) {
      // It repeats a name: all of it, as it stands.
      if (mention.members.empty() && mention.raw != "{}") flatten("", mention.raw);
    }
    for (const auto& [name, value] : mentions.others) flatten(label_of(name), value);
    leave_out_repeats();
    return std::move(question_);
  }

 private:
  // The newest are the question's; the others are shown as values.
  void read_titles(const Mentions& mentions) {
    for (auto one = mentions.of_tool.rbegin(); one != mentions.of_tool.rend(); ++one) {
      read_word(one->members, "title", question_.title);
      read_word(one->members, "kind", question_.tool_kind);
    }
  }

  void read_word(const std::vector<JsonObject::Member>& members, const char* name,
                 std::string& newest) {
    const std::string_view raw = find(members, name);
    if (says_nothing(raw)) return;
    const std::string word = leaf_text(raw);
    const bool is_text = raw.starts_with('"');
    if (newest.empty() && is_text) newest = word;
    is_other_ = is_text;
    if (!is_text || word != newest) flatten(name, raw);
  }

  // Of each member the newest mention that says something is the question's.
  void read_members(const Mentions& mentions) {
    std::vector<std::string> seen;
    for (auto one = mentions.of_tool.rbegin(); one != mentions.of_tool.rend(); ++one) {
      for (const auto& [name, value] : one->members) {
        const bool is_read = name == "title" || name == "kind";
        if (is_read || says_nothing(value)) continue;
        if (is_bookkeeping(name) && value.starts_with('"')) continue;
        is_other_ = is_one_of(name, seen);
        if (!is_other_) seen.push_back(name);
        read_member(name, value);
      }
    }
  }

  void read_member(const std::string& name, std::string_view value) {
    if (name == "rawInput") return read_input(value);
    if (name == "content") return read_list(name, value, &Shower::read_content);
    if (name == "locations") return read_list(name, value, &Shower::read_location);
    flatten(label_of(name), value);
  }

  void read_list(const std::string& name, std::string_view value,
                 bool (Shower::*read)(const std::string&, std::string_view)) {
    if (!value.starts_with('[')) return flatten(name, value);
    const auto items = elements_of(value);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string label = name + "[" + std::to_string(i) + "]";
      if (!(this->*read)(label, items[i])) flatten(label, items[i]);
    }
  }

  void read_input(std::string_view raw) {
    const bool is_command = question_.tool_kind == "execute";
    if (!raw.starts_with('{')) {
      const auto line = raw.starts_with('"') ? leaf_text(raw) : command_line(raw);
      if (is_command && line) return add({Kind::command, "input", *line});
      return flatten("input", raw);
    }
    for (JsonWalk walk(raw); walk.next();) {
      const std::string name = leaf_text(walk.quoted_key());
      const std::string_view value = walk.value();
      if (says_nothing(value)) {
        flatten(label_of(name), value);
      } else if (is_command_name(name) && value.starts_with('"')) {
        add({Kind::command, name, leaf_text(value)});
      } else if (const auto line = is_command_name(name) ? command_line(value) : std::nullopt) {
        add({Kind::command, name, *line});
      } else if (is_folder_name(name) && value.starts_with('"')) {
        add({Kind::folder, name, leaf_text(value)});
      } else {
        flatten(label_of(name), value);
      }
    }
  }

  bool read_content(const std::string& label, std::string_view raw) {
    const auto item = JsonObject::parse(raw);
    if (!item) return false;
    const std::string_view type = item->find("type");
    if (type == "\"content\"") {
      const auto text = JsonObject::parse(item->find("content"));
      const bool is_text =
          text && text->find("type") == "\"text\"" && text->find("text").starts_with('"');
      if (!is_text) return false;
      add({Kind::said, "", leaf_text(text->find("text"))});
      flatten_rest(label + ".content", *text, {"type", "text"});
      flatten_rest(label, *item, {"type", "content"});
      return true;
    }
    if (type != "\"diff\"" || !item->find("path").starts_with('"')) return false;
    const std::string_view before = item->find("oldText");
    if (!item->find("newText").starts_with('"') || !is_nothing_or_text(before)) return false;
    const bool is_new = !before.starts_with('"');
    add({.kind = Kind::diff,
         .label = leaf_text(item->find("path")),
         .text = leaf_text(item->find("newText")),
         .before = is_new ? std::nullopt : std::optional(leaf_text(before))});
    flatten_rest(label, *item, {"type", "path", "oldText", "newText"});
    return true;
  }

  bool read_location(const std::string& label, std::string_view raw) {
    const auto place = JsonObject::parse(raw);
    if (!place || !place->find("path").starts_with('"')) return false;
    const std::string_view line = place->find("line");
    const bool is_line = !line.empty() && line[0] >= '0' && line[0] <= '9';
    add({Kind::path, is_line ? "line " + std::string(line) : "", leaf_text(place->find("path"))});
    is_line ? flatten_rest(label, *place, {"path", "line"}) : flatten_rest(label, *place, {"path"});
    return true;
  }

  void flatten_rest(const std::string& label, const JsonObject& object, Names read) {
    for (const auto& [name, value] : object.members()) {
      if (!is_one_of(name, read)) flatten(joined(label, name), value);
    }
  }

  // Each text, number and flag in it becomes a part. Empty texts and lists do as well: to replace
  // something by nothing is a change.
  void flatten(const std::string& label, std::string_view raw) {
    if (raw == "null" || !question_.is_whole) return;
    if (raw.starts_with('{') && raw != "{}") {
      for (JsonWalk walk(raw); walk.next();) {
        flatten(joined(label, leaf_text(walk.quoted_key())), walk.value());
      }
      return;
    }
    const auto items = elements_of(raw);
    if (items.empty()) return add({Kind::value, label, leaf_text(raw)});
    for (std::size_t i = 0; i < items.size(); ++i) {
      flatten(label + "[" + std::to_string(i) + "]", items[i]);
    }
  }

  void add(QuestionPart part) {
    const bool is_there = std::ranges::any_of(question_.parts, [&](const QuestionPart& one) {
      return one.kind == part.kind && one.text == part.text && one.label == part.label &&
             one.before == part.before;
    });
    if (is_there) return;
    if (question_.parts.size() >= question_parts_max) {
      question_.is_whole = false;
      return;
    }
    part.is_other = is_other_;
    const auto at = std::ranges::upper_bound(question_.parts, part.kind, {}, &QuestionPart::kind);
    question_.parts.insert(at, std::move(part));
  }

  // What an edit's input says word for word as its only change does, under a name for just that.
  void leave_out_repeats() {
    const auto is_diff = [](const QuestionPart& part) { return part.kind == Kind::diff; };
    if (std::ranges::count_if(question_.parts, is_diff) != 1) return;
    const QuestionPart diff = *std::ranges::find_if(question_.parts, is_diff);
    if (diff.is_other) return;
    static constexpr auto path_names = std::to_array<std::string_view>(
        {"file_path", "filePath", "path", "absolute_path", "absolutePath", "notebook_path"});
    static constexpr auto old_names =
        std::to_array<std::string_view>({"old_string", "oldString", "oldText", "old_str"});
    static constexpr auto new_names = std::to_array<std::string_view>(
        {"new_string", "newString", "newText", "new_str", "content"});
    std::erase_if(question_.parts, [&](const QuestionPart& part) {
      if (part.is_other) return false;
      if (part.kind == Kind::path) return part.label.empty() && part.text == diff.label;
      if (part.kind != Kind::value) return false;
      return (is_one_of(part.label, path_names) && part.text == diff.label) ||
             (is_one_of(part.label, old_names) && diff.before == part.text) ||
             (is_one_of(part.label, new_names) && part.text == diff.text);
    });
  }

  ShownQuestion question_;
  bool is_other_ = false;
};

std::optional<QuestionPart> read_part(JsonView json) {
  const auto kind = std::ranges::find(kind_names, json["kind"].text());
  if (kind == kind_names.end() || !json["text"].is_string()) return std::nullopt;
  QuestionPart part{.kind = static_cast<Kind>(kind - kind_names.begin()),
                    .label = json["label"].text(),
                    .text = json["text"].text(),
                    .is_other = json["other"].flag()};
  if (json["before"].is_string()) part.before = json["before"].text();
  return part;
}

}  // namespace

ShownQuestion show_question(std::string_view params, std::span<const std::string> updates) {
  return Shower().take(params, updates);
}

void write_question(JsonWriter& json, const ShownQuestion& question) {
  json.key("title").string(question.title).key("tool_kind").string(question.tool_kind);
  json.key("is_whole").boolean(question.is_whole).key("parts").begin_array();
  for (const QuestionPart& part : question.parts) {
    json.begin_object().key("kind").string(kind_names[static_cast<std::size_t>(part.kind)]);
    json.key("label").string(part.label).key("text").string(part.text);
    if (part.before) json.key("before").string(*part.before);
    if (part.is_other) json.key("other").boolean(true);
    json.end_object();
  }
  json.end_array();
}

ShownQuestion read_shown_question(std::string_view text) {
  const JsonView json = JsonView::read(text).value_or(JsonView());
  ShownQuestion question{.title = json["title"].text(),
                         .tool_kind = json["tool_kind"].text(),
                         .parts = {},
                         .is_whole = json["is_whole"].flag() && json["parts"].is_array()};
  for (const JsonView one : json["parts"].items()) {
    if (auto part = read_part(one)) {
      question.parts.push_back(*std::move(part));
    } else {
      question.is_whole = false;
    }
  }
  return question;
}

}  // namespace perdure
