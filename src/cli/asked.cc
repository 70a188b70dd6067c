#include "cli/asked.h"

#include <algorithm>
#include <optional>

#include "base/deceptive.h"
#include "cli/clean_text.h"
#include "cli/diff.h"
#include "cli/width.h"

namespace perdure::cli {
namespace {

constexpr std::size_t diff_around = 3;  // lines of context

// The colour that text of ours leaves on; empty when it ends what it begins.
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

  // Text as it is, after `lead`. Further rows begin with `next`, or below the text: nothing in the
  // text makes a row that looks like another part.
  void add(Ink ink, std::string_view lead, std::string_view text, std::string next = {},
           Care care = Care::command) {
    std::string first(lead);
    if (next.empty()) next = std::string(text_width(lead), ' ');
    const std::size_t used = std::max(text_width(first), text_width(next));
    const std::size_t room = std::max<std::size_t>(cells_, used + 10) - used;
    while (true) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string line = expand_tabs(painted(ink, text.substr(0, end), care));
      std::string open;  // the colour that goes on from the row above
      for (const std::string& row : wrap(line, room)) {
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
  // Words of ours, with values that went through mark().
  void add_own(Ink ink, std::string_view text) { add(ink, "  ", text, {}, Care::prose); }
  std::string mark(std::string_view value) {
    marks_ += count_deceptive(value, Care::command);
    return mark_deceptive(value, Care::command);
  }
  // A name of the agent's and its text: on one row, or the text below its name.
  void add_named(std::string_view name, std::string_view text) {
    const std::string lead = "  " + exact_text(name) + ": ";
    if (!text.contains('\n') && text_width(lead) + text_width(exact_text(text)) <= cells_) {
      return add(Ink::plain, "  ", std::string(name) + ": " + std::string(text));
    }
    add(Ink::plain, "  ", std::string(name) + ":");
    add(Ink::plain, "    │ ", text, "    │ ");
  }
  std::vector<std::string> take() { return std::move(rows_); }
  std::size_t marks() const { return marks_; }

 private:
  // In its colour, with what deceives in red.
  std::string painted(Ink ink, std::string_view line, Care care) {
    std::string out;
    split_deceptive(line, care, [&](std::string_view part, bool is_mark) {
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

std::vector<DiffLine> lines_of(const QuestionPart& change, Diff diff) {
  if (!diff.is_cut) return std::move(diff.lines);
  // Too long to compare: shows both texts completely.
  std::vector<DiffLine> out;
  const auto add = [&](DiffLine::Kind kind, std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
      out.push_back({kind, std::string(text.substr(0, text.find('\n')))});
    }
  };
  if (change.before) add(DiffLine::Kind::removed, *change.before);
  add(DiffLine::Kind::added, change.text);
  return out;
}

Diff diff_of_part(const QuestionPart& change, std::optional<std::size_t> around = {}) {
  const std::string before = change.before.value_or(std::string());
  return around ? diff_of({.before = before, .after = change.text}, *around)
                : diff_of({.before = before, .after = change.text});
}

void add_diff(Rows& rows, const QuestionPart& change) {
  Diff diff = diff_of_part(change, diff_around);
  rows.add(Ink::bold, change.before ? "  Change " : "  New file ",
           change.label + count_words(diff));
  const std::vector<DiffLine> lines = lines_of(change, std::move(diff));
  for (const DiffLine& line : lines) {
    switch (line.kind) {
      case DiffLine::Kind::same: rows.add(Ink::dim, "      ", line.text); break;
      case DiffLine::Kind::removed: rows.add(Ink::red, "    - ", line.text); break;
      case DiffLine::Kind::added: rows.add(Ink::green, "    + ", line.text); break;
      case DiffLine::Kind::gap: rows.add_own(Ink::dim, "    ⋮"); break;
    }
  }
}

bool is_command(const QuestionPart& part) { return part.kind == QuestionPart::Kind::command; }

std::string kind_words(const ShownQuestion& asked) {
  const std::string& kind = asked.tool_kind;
  if (kind == "execute" || (kind.empty() && std::ranges::any_of(asked.parts, is_command))) {
    return "Run a command";
  }
  if (kind == "edit") return "Change files";
  if (kind == "delete") return "Delete";
  if (kind == "move") return "Move";
  if (kind == "fetch") return "Fetch from the network";
  if (kind == "read") return "Read";
  if (kind == "search") return "Search";
  if (kind == "switch_mode") return "Change the agent's mode";
  return kind.empty() || kind == "other" ? "" : "Kind: " + clean_line(kind);
}

void add_part(Rows& rows, const QuestionPart& part, bool is_only_command) {
  switch (part.kind) {
    case QuestionPart::Kind::command: {
      const std::string lead = is_only_command ? "  $ " : "  " + clean_line(part.label) + " $ ";
      return rows.add(Ink::bold, lead, part.text, "  │ ");
    }
    case QuestionPart::Kind::folder: return rows.add(Ink::plain, "    in ", part.text);
    case QuestionPart::Kind::diff: return add_diff(rows, part);
    case QuestionPart::Kind::path:
      return rows.add(Ink::plain, "  touches ",
                      part.text + (part.label.empty() ? "" : ", " + part.label));
    case QuestionPart::Kind::value:
      if (part.text.empty()) return rows.add(Ink::plain, "  ", part.label + ": (empty)");
      return rows.add_named(part.label, part.text);
    case QuestionPart::Kind::said: return rows.add(Ink::plain, "  says ", part.text);
  }
}

void add_parts(Rows& rows, const ShownQuestion& question) {
  const bool is_only = std::ranges::count_if(question.parts, is_command) == 1;
  for (const QuestionPart& part : question.parts) {
    if (!part.is_other) add_part(rows, part, is_only);
  }
  if (std::ranges::none_of(question.parts, &QuestionPart::is_other)) return;
  rows.add_own(Ink::yellow, "Elsewhere the agent says of the same call:");
  for (const QuestionPart& part : question.parts) {
    if (part.is_other) add_part(rows, part, is_only);
  }
}

std::string where_words(Rows& rows, const AskedWhere& where) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out += (out.empty() ? "" : " · ") + std::string(name) + rows.mark(value);
  };
  add("", where.session.empty() ? "" : "\"" + where.session + "\" " + where.short_id);
  add("agent ", where.agent);
  add("", where.place);
  add("in ", where.folder);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

}  // namespace

Asked read_asked(JsonView answer) {
  return {.question = read_shown_question(answer.raw()),
          .is_read = true,
          .options_left_out = answer["options_left_out"].number()};
}

Asked read_asked_record(JsonView record, std::span<const std::string> updates) {
  const JsonView params = record["update"];
  Asked asked{.question = show_question(params.raw(), updates),
              .is_read = true,
              .options_left_out = record["options_left_out"].number()};
  const auto is_elsewhere = [](JsonView update) { return update["blob"].is_string(); };
  if (is_elsewhere(params)) asked.question = {.is_whole = false};
  for (const std::string& update : updates) {
    if (is_elsewhere(JsonView(update))) asked.question.is_whole = false;
  }
  if (asked.question.title.empty()) asked.question.title = record["title"].text();
  return asked;
}

std::vector<std::string> asked_rows(const Style& style, const Asked& asked, const AskedWhere& where,
                                    std::size_t cells) {
  Rows rows(style, cells);
  const ShownQuestion& question = asked.question;
  rows.add(Ink::yellow, "? ", question.title.empty() ? "(no title)" : question.title, "│ ");
  const std::string kind = kind_words(question);
  const std::string place = where_words(rows, where);
  if (!kind.empty() || !place.empty()) {
    rows.add_own(Ink::dim, kind + (kind.empty() || place.empty() ? "" : " · ") + place);
  }
  if (!asked.is_read) {
    rows.add_own(Ink::dim, "Reading what it asks for …");
  } else if (!question.is_whole) {
    rows.add_own(Ink::red, "The details of this question cannot be shown here.");
  }
  add_parts(rows, question);
  if (asked.options_left_out > 0) {
    rows.add_own(Ink::red,
                 std::to_string(asked.options_left_out) + " of its answers are not offered here.");
  }
  const std::size_t marks = rows.marks();
  if (marks > 0) {
    rows.add_own(Ink::red, "Warning: " + std::to_string(marks) + " hidden or look-alike " +
                               (marks == 1 ? "character, marked like <U+202E>"
                                           : "characters, marked like <U+202E>"));
  }
  return rows.take();
}

std::string asked_subject(const Asked& asked) {
  std::size_t added = 0;
  std::size_t removed = 0;
  std::string command;
  for (const QuestionPart& part : asked.question.parts) {
    if (is_command(part) && command.empty()) command = part.text;
    if (part.kind != QuestionPart::Kind::diff || part.is_other) continue;
    const Diff diff = diff_of_part(part);
    added += diff.added;
    removed += diff.removed;
  }
  std::string out = clean_line(asked.question.title.empty() ? command : asked.question.title);
  if (added + removed == 0) return out;
  out += " (";
  if (added > 0) out += "+" + std::to_string(added);
  if (removed > 0) out += (added > 0 ? " -" : "-") + std::to_string(removed);
  return out + (added + removed == 1 ? " line)" : " lines)");
}

}  // namespace perdure::cli
