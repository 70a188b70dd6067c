#include "cli/asked.h"

#include <algorithm>

#include "base/deceptive.h"
#include "base/json.h"
#include "cli/clean_text.h"
#include "cli/diff.h"
#include "cli/width.h"

namespace perdure::cli {
namespace {

constexpr std::size_t diff_around = 3;  // lines of context

// Quoted for a shell, so that one argument does not look like two.
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

std::string command_text(JsonView command) {
  if (!command.is_array()) return command.text();
  std::string out;
  for (const JsonView word : command.items()) {
    out += (out.empty() ? "" : " ") +
           shell_word(word.is_string() ? word.text() : std::string(word.raw()));
  }
  return out;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (!text.empty() && std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

void read_content(Asked& asked, JsonView content) {
  for (const JsonView part : content.items()) {
    const std::string type = part["type"].text();
    if (type == "diff" && part["newText"].is_string()) {
      asked.diffs.push_back({.path = part["path"].text(),
                             .is_new = !part["oldText"].is_string(),
                             .before = part["oldText"].text(),
                             .after = part["newText"].text()});
    } else if (type == "content" && part["content"]["type"].text() == "text") {
      asked.said.push_back(part["content"]["text"].text());
    } else {
      // Content of an unknown kind is shown as it came, so that nothing is hidden.
      asked.said.emplace_back(part.raw());
    }
  }
}

// Whether the rows already show this text, as the command or as part of a change.
bool is_shown(const Asked& asked, const std::string& value) {
  if (value == asked.command || value == asked.cwd || value == asked.title) return true;
  return std::ranges::any_of(asked.diffs, [&](const AskedDiff& diff) {
    return value == diff.path || value == diff.before || value == diff.after;
  });
}

void read_input(Asked& asked, JsonView raw) {
  if (!raw.is_there()) return;
  if (!raw.is_object()) {
    asked.input.push_back({"input", raw.is_string() ? raw.text() : std::string(raw.raw())});
    return;
  }
  const std::string_view command = raw["command"].is_there() ? "command" : "cmd";
  if (asked.command.empty()) asked.command = command_text(raw[command]);
  const std::string_view cwd = raw["cwd"].is_there() ? "cwd" : "workdir";
  asked.cwd = raw[cwd].text();
  JsonWalk walk(raw.raw());
  while (walk.next()) {
    const JsonView value(walk.value());
    const std::string name = JsonView(walk.quoted_key()).text();
    const bool is_command = name == command && command_text(value) == asked.command;
    const std::string text = value.is_string() ? value.text() : std::string(value.raw());
    if (is_command || !value.is_there() || (value.is_string() && is_shown(asked, text))) continue;
    asked.input.push_back({name, text});
  }
}

// The tool of the question: `toolCall`, or in ACP v2 the one within `subject`.
JsonView tool_of(JsonView params) {
  if (params["toolCall"].is_object()) return params["toolCall"];
  return params["subject"]["toolCall"];
}

// The colour of ours that the text leaves switched on; empty if none.
std::string colour_after(std::string_view text) {
  const std::size_t at = text.rfind("\x1B[");
  if (at == std::string_view::npos) return {};
  const std::string_view code = text.substr(at, text.find('m', at) - at + 1);
  const bool is_end = code == "\x1B[22m" || code == "\x1B[23m" || code == "\x1B[39m";
  return is_end ? std::string() : std::string(code);
}

class Rows {
 public:
  Rows(const Style& style, std::size_t cells)
      : style_(style), cells_(std::max<std::size_t>(cells, 20)) {}

  // Text after `lead`; further rows are indented to the start of the text.
  void add(Ink ink, std::string_view lead, std::string_view text) {
    std::string first(lead);
    const std::string next(text_width(lead), ' ');
    while (true) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string line = expand_tabs(painted(ink, text.substr(0, end)));
      std::string open;  // the colour that continues from the row above
      for (const std::string& row : wrap(line, cells_ - next.size())) {
        std::string whole = open + row;
        open = colour_after(whole);
        if (!open.empty()) whole += "\x1B[22;39m";
        rows_.push_back(style_.paint(ink, first) + whole);
        first = next;
      }
      if (end == text.size()) return;
      text.remove_prefix(end + 1);
    }
  }
  std::vector<std::string> take() { return std::move(rows_); }
  std::size_t marks() const { return marks_; }

 private:
  // In its colour, with deceptive characters in red.
  std::string painted(Ink ink, std::string_view line) {
    std::string out;
    split_deceptive(line, Care::command, [&](std::string_view part, bool is_mark) {
      marks_ += is_mark ? 1 : 0;
      out += style_.paint(is_mark ? Ink::red : ink, part);
    });
    return out;
  }

  const Style& style_;
  std::size_t cells_;
  std::size_t marks_ = 0;
  std::vector<std::string> rows_;
};

std::string count_words(const Diff& diff) {
  std::string out;
  if (diff.added > 0) out += " +" + std::to_string(diff.added);
  if (diff.removed > 0) out += " -" + std::to_string(diff.removed);
  return out;
}

std::vector<DiffLine> lines_of(const AskedDiff& asked, Diff diff) {
  if (!diff.is_cut) return std::move(diff.lines);
  // Too long to compare: shows both texts completely.
  std::vector<DiffLine> out;
  const auto add = [&](DiffLine::Kind kind, std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
      out.push_back({kind, std::string(text.substr(0, text.find('\n')))});
    }
  };
  add(DiffLine::Kind::removed, asked.before);
  add(DiffLine::Kind::added, asked.after);
  return out;
}

void add_diff(Rows& rows, const AskedDiff& asked) {
  Diff diff = diff_of({.before = asked.before, .after = asked.after}, diff_around);
  rows.add(Ink::bold, "  ",
           (asked.is_new ? "New file " : "Change ") + asked.path + count_words(diff));
  const std::vector<DiffLine> lines = lines_of(asked, std::move(diff));
  for (const DiffLine& line : lines) {
    switch (line.kind) {
      case DiffLine::Kind::same: rows.add(Ink::dim, "      ", line.text); break;
      case DiffLine::Kind::removed: rows.add(Ink::red, "    - ", line.text); break;
      case DiffLine::Kind::added: rows.add(Ink::green, "    + ", line.text); break;
      case DiffLine::Kind::gap: rows.add(Ink::dim, "      ", "⋮"); break;
    }
  }
}

std::string kind_words(const Asked& asked) {
  if (asked.kind == "execute" || (asked.kind.empty() && !asked.command.empty())) {
    return "Run a command";
  }
  if (asked.kind == "edit") return "Change files";
  if (asked.kind == "delete") return "Delete";
  if (asked.kind == "move") return "Move";
  if (asked.kind == "fetch") return "Fetch from the network";
  if (asked.kind == "read") return "Read";
  if (asked.kind == "search") return "Search";
  if (asked.kind == "switch_mode") return "Change the agent's mode";
  return {};
}

std::string where_words(const AskedWhere& where) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += (out.empty() ? "" : " · ") + std::string(name) + value;
  };
  add("", where.session.empty() ? "" : "\"" + where.session + "\" " + where.short_id);
  add("agent ", where.agent);
  add("", where.place);
  add("in ", where.folder);
  return out;
}

}  // namespace

Asked read_asked(const AskedSources& sources) {
  Asked asked;
  asked.title = sources.record["title"].is_there() ? sources.record["title"].text()
                                                   : sources.record["text"].text();
  asked.options_left_out = sources.record["options_left_out"].number();
  JsonView params = sources.record["update"];
  if (sources.details.is_object()) params = sources.details;
  if (!params.is_object() || params["blob"].is_string()) {
    asked.is_whole = false;
    asked.blob = params["blob"].text();
    return asked;
  }
  const JsonView tool = tool_of(params);
  const auto member = [&](std::string_view name) {
    if (tool[name].is_there()) return tool[name];
    for (auto one = sources.earlier.rbegin(); one != sources.earlier.rend(); ++one) {
      if ((*one)[name].is_there()) return (*one)[name];
    }
    return JsonView();
  };
  if (asked.title.empty()) asked.title = member("title").text();
  asked.kind = member("kind").text();
  asked.command = command_text(params["subject"]["command"]);
  read_content(asked, member("content"));
  read_input(asked, member("rawInput"));
  for (const AskedDiff& diff : asked.diffs) add_once(asked.paths, diff.path);
  for (const JsonView place : member("locations").items()) {
    add_once(asked.paths, place["path"].text());
  }
  return asked;
}

std::vector<std::string> asked_rows(const Style& style, const Asked& asked, const AskedWhere& where,
                                    std::size_t cells) {
  Rows rows(style, cells);
  rows.add(Ink::yellow, "? ", asked.title.empty() ? "(no title)" : asked.title);
  const std::string kind = kind_words(asked);
  const std::string place = where_words(where);
  if (!kind.empty() || !place.empty()) {
    rows.add(Ink::dim, "  ", kind + (kind.empty() || place.empty() ? "" : " · ") + place);
  }
  if (!asked.is_whole) {
    rows.add(Ink::red, "  ", "The details of this question cannot be shown here.");
  }
  if (!asked.command.empty()) rows.add(Ink::bold, "  $ ", asked.command);
  if (!asked.cwd.empty()) rows.add(Ink::plain, "    in ", asked.cwd);
  for (const std::string& said : asked.said) rows.add(Ink::plain, "  ", said);
  for (const AskedDiff& diff : asked.diffs) add_diff(rows, diff);
  for (const std::string& path : asked.paths) {
    if (std::ranges::find(asked.diffs, path, &AskedDiff::path) == asked.diffs.end()) {
      rows.add(Ink::plain, "  touches ", path);
    }
  }
  for (const AskedInput& input : asked.input) {
    rows.add(Ink::plain, "  ", input.name + ": " + input.value);
  }
  if (asked.options_left_out > 0) {
    rows.add(Ink::red, "  ",
             std::to_string(asked.options_left_out) + " of its answers are not offered here.");
  }
  const std::size_t marks = rows.marks();
  if (marks > 0) {
    rows.add(
        Ink::red, "  ",
        "Warning: " + std::to_string(marks) + " hidden or look-alike " +
            (marks == 1 ? "character, marked like <U+202E>" : "characters, marked like <U+202E>"));
  }
  return rows.take();
}

std::string asked_subject(const Asked& asked) {
  std::size_t added = 0;
  std::size_t removed = 0;
  for (const AskedDiff& one : asked.diffs) {
    const Diff diff = diff_of({.before = one.before, .after = one.after});
    added += diff.added;
    removed += diff.removed;
  }
  std::string out = clean_line(asked.title.empty() ? asked.command : asked.title);
  if (added + removed == 0) return out;
  out += " (";
  if (added > 0) out += "+" + std::to_string(added);
  if (removed > 0) out += (added > 0 ? " -" : "-") + std::to_string(removed);
  return out + (added + removed == 1 ? " line)" : " lines)");
}

}  // namespace perdure::cli
