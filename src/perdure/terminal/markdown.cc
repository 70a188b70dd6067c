#include "perdure/terminal/markdown.h"

#include <algorithm>
#include <optional>

#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

std::size_t leading(std::string_view text, char c) {
  return std::min(text.find_first_not_of(c), text.size());
}

// The fence mark at the start of the line: three or more ` or ~.
std::string fence_mark(std::string_view text) {
  text.remove_prefix(std::min<std::size_t>(leading(text, ' '), 3));
  for (const char c : {'`', '~'}) {
    const std::size_t count = leading(text, c);
    if (count >= 3) return std::string(count, c);
  }
  return {};
}

bool is_rule(std::string_view text) {
  if (text.size() < 3 || !std::string_view("-*_").contains(text[0])) return false;
  return std::ranges::all_of(text, [&](char c) { return c == text[0] || c == ' '; }) &&
         std::ranges::count(text, text[0]) >= 3;
}

struct ListItem {
  std::size_t indent = 0;
  std::string mark;
  std::string_view text;
};

std::optional<ListItem> list_item(std::string_view line) {
  const std::size_t indent = leading(line, ' ');
  const std::string_view rest = line.substr(indent);
  if (rest.size() >= 2 && std::string_view("-*+").contains(rest[0]) && rest[1] == ' ') {
    return ListItem{indent, "•", rest.substr(2)};
  }
  std::size_t digits = 0;
  while (digits < rest.size() && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  if (digits > 0 && rest.size() > digits + 1 && (rest[digits] == '.' || rest[digits] == ')') &&
      rest[digits + 1] == ' ') {
    return ListItem{indent, std::string(rest.substr(0, digits + 1)), rest.substr(digits + 2)};
  }
  return std::nullopt;
}

struct Indent {
  std::string first;
  std::string others;
};

std::vector<std::string> indented(std::string_view text, std::size_t cells, const Indent& indent) {
  const std::size_t used = text_width(indent.first);
  std::vector<std::string> rows = wrap(text, cells > used + 8 ? cells - used : 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].insert(0, i == 0 ? indent.first : indent.others);
  }
  return rows;
}

// Where the mark that opens here closes; the text between must touch both marks.
std::size_t closing(std::string_view text, std::string_view mark) {
  if (text.empty() || text.front() == ' ') return std::string_view::npos;
  for (std::size_t at = text.find(mark); at != std::string_view::npos;
       at = text.find(mark, at + 1)) {
    if (at > 0 && text[at - 1] != ' ') return at;
  }
  return std::string_view::npos;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

struct Mark {
  std::string_view text;
  Ink ink;
};

// The mark that opens at this place; a `_` within a word does not count.
std::optional<Mark> opening(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("**")) return Mark{"**", Ink::bold};
  if (rest.starts_with('*')) return Mark{"*", Ink::italic};
  if (at > 0 && is_word(text[at - 1])) return std::nullopt;
  if (rest.starts_with("__")) return Mark{"__", Ink::bold};
  if (rest.starts_with('_')) return Mark{"_", Ink::italic};
  return std::nullopt;
}

}  // namespace

std::string inline_markdown(const Style& style, std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '`') {
      const std::size_t ticks = leading(text.substr(at), '`');
      const std::string mark(ticks, '`');
      const std::size_t end = text.find(mark, at + ticks);
      if (end != std::string_view::npos) {
        out += style.paint(Ink::cyan, text.substr(at + ticks, end - at - ticks));
        at = end + ticks;
        continue;
      }
      out += mark;
      at += ticks;
      continue;
    }
    if (const auto mark = opening(text, at)) {
      const std::string_view inside = text.substr(at + mark->text.size());
      const std::size_t end = closing(inside, mark->text);
      if (end != std::string_view::npos) {
        out += style.paint(mark->ink, inline_markdown(style, inside.substr(0, end)));
        at += mark->text.size() * 2 + end;
        continue;
      }
      out += mark->text;
      at += mark->text.size();
      continue;
    }
    out += text[at++];
  }
  return out;
}

std::vector<std::string> Markdown::line(std::string_view text, std::size_t cells) {
  return render(text, cells, fence_);
}

std::vector<std::string> Markdown::partial(std::string_view text, std::size_t cells) const {
  std::string fence = fence_;
  return render(text, cells, fence);
}

std::vector<std::string> Markdown::fenced(std::string_view text, std::size_t cells) const {
  const std::string bar = style_.paint(Ink::dim, "│ ");
  std::vector<std::string> rows;
  for (std::string_view rest = text;;) {
    const std::string_view part = fit(rest, cells > 10 ? cells - 2 : 8);
    rows.push_back(bar + style_.paint(Ink::cyan, part));
    rest.remove_prefix(part.size());
    if (rest.empty() || part.empty()) return rows;
  }
}

std::vector<std::string> Markdown::render(std::string_view text, std::size_t cells,
                                          std::string& fence) const {
  const std::string line = expand_tabs(text);
  const std::string mark = fence_mark(line);
  if (!fence.empty()) {
    const bool ends = !mark.empty() && mark[0] == fence[0] && mark.size() >= fence.size() &&
                      line.find_first_not_of(" `~") == std::string::npos;
    if (!ends) return fenced(line, cells);
    fence.clear();
    return {style_.paint(Ink::dim, "╰──")};
  }
  if (!mark.empty()) {
    fence = mark;
    std::string name = line.substr(line.find(mark) + mark.size());
    name.erase(0, leading(name, ' '));
    return {style_.paint(Ink::dim, name.empty() ? "╭──" : "╭── " + shorten(name, cells / 2))};
  }
  const std::size_t hashes = leading(line, '#');
  if (hashes >= 1 && hashes <= 6 && line.size() > hashes && line[hashes] == ' ') {
    const std::string_view heading = std::string_view(line).substr(hashes + 1);
    return wrap(style_.paint(Ink::bold, hashes <= 2 ? style_.paint(Ink::magenta, heading)
                                                    : std::string(heading)),
                cells);
  }
  if (is_rule(line)) {
    std::string rule;
    for (std::size_t i = 0; i < std::min<std::size_t>(cells, 40); ++i) rule += "─";
    return {style_.paint(Ink::dim, rule)};
  }
  if (line.starts_with('>')) {
    std::string_view quoted = std::string_view(line).substr(1);
    if (quoted.starts_with(' ')) quoted.remove_prefix(1);
    const std::string bar = style_.paint(Ink::dim, "▌ ");
    return indented(inline_markdown(style_, quoted), cells, {bar, bar});
  }
  if (const auto item = list_item(line)) {
    const std::string first = std::string(item->indent, ' ') + item->mark + ' ';
    return indented(inline_markdown(style_, item->text), cells,
                    {first, std::string(text_width(first), ' ')});
  }
  return wrap(inline_markdown(style_, line), cells);
}

}  // namespace perdure::cli
