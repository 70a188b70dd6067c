#include "perdure/terminal/diff.h"

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

using Lines = std::vector<std::string_view>;

// Maximum number of edits; texts that differ more are shown as one change of everything.
constexpr std::int64_t edits_max = 1000;

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Myers: furthest[d] holds, per diagonal, how far d edits reach in `before`.
struct Trace {
  std::vector<std::vector<std::int64_t>> furthest;
  bool is_found = false;
};

std::int64_t& at(std::vector<std::int64_t>& row, std::int64_t diagonal) {
  return row[static_cast<std::size_t>(diagonal + static_cast<std::int64_t>(row.size() / 2))];
}

bool comes_from_above(std::vector<std::int64_t>& row, std::int64_t k, std::int64_t edits) {
  return k == -edits || (k != edits && at(row, k - 1) < at(row, k + 1));
}

Trace search(const Lines& before, const Lines& after) {
  const auto n = static_cast<std::int64_t>(before.size());
  const auto m = static_cast<std::int64_t>(after.size());
  const std::int64_t most = std::min(n + m, edits_max);
  std::vector<std::int64_t> row(static_cast<std::size_t>(2 * most + 3), 0);
  Trace trace;
  for (std::int64_t edits = 0; edits <= most; ++edits) {
    trace.furthest.push_back(row);
    for (std::int64_t k = -edits; k <= edits; k += 2) {
      std::int64_t x = comes_from_above(row, k, edits) ? at(row, k + 1) : at(row, k - 1) + 1;
      while (x < n && x - k >= 0 && x - k < m &&
             before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - k)]) {
        ++x;
      }
      at(row, k) = x;
      if (x >= n && x - k >= m) {
        trace.is_found = true;
        return trace;
      }
    }
  }
  return trace;
}

std::vector<DiffLine> walk_back(Trace& trace, const Lines& before, const Lines& after) {
  std::vector<DiffLine> out;
  auto x = static_cast<std::int64_t>(before.size());
  auto y = static_cast<std::int64_t>(after.size());
  const auto keep = [&] {
    --x, --y;
    out.push_back({DiffLine::Kind::same, std::string(before[static_cast<std::size_t>(x)])});
  };
  for (auto edits = static_cast<std::int64_t>(trace.furthest.size()) - 1; edits > 0; --edits) {
    std::vector<std::int64_t>& row = trace.furthest[static_cast<std::size_t>(edits)];
    const std::int64_t k = x - y;
    const bool is_added = comes_from_above(row, k, edits);
    const std::int64_t from_k = is_added ? k + 1 : k - 1;
    const std::int64_t from_x = at(row, from_k);
    while (x > from_x + (is_added ? 0 : 1) && y > from_x - from_k + (is_added ? 1 : 0)) keep();
    if (is_added) {
      out.push_back({DiffLine::Kind::added, std::string(after[static_cast<std::size_t>(--y)])});
    } else {
      out.push_back({DiffLine::Kind::removed, std::string(before[static_cast<std::size_t>(--x)])});
    }
  }
  while (x > 0 && y > 0) keep();
  std::ranges::reverse(out);
  return out;
}

std::vector<DiffLine> whole_change(const Lines& before, const Lines& after) {
  std::vector<DiffLine> out;
  for (const std::string_view line : before) {
    out.push_back({DiffLine::Kind::removed, std::string(line)});
  }
  for (const std::string_view line : after) {
    out.push_back({DiffLine::Kind::added, std::string(line)});
  }
  return out;
}

std::vector<DiffLine> near_changes(std::vector<DiffLine> lines, std::size_t around) {
  std::vector<bool> is_near(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::Kind::same) continue;
    const std::size_t last = std::min(lines.size() - 1, i + around);
    for (std::size_t j = i > around ? i - around : 0; j <= last; ++j) is_near[j] = true;
  }
  std::vector<DiffLine> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_near[i]) {
      out.push_back(std::move(lines[i]));
    } else if (out.empty() || out.back().kind != DiffLine::Kind::gap) {
      out.push_back({DiffLine::Kind::gap, ""});
    }
  }
  return out;
}

}  // namespace

Diff diff_of(const DiffTexts& texts, std::size_t around) {
  const Lines before = split_lines(texts.before);
  const Lines after = split_lines(texts.after);
  Diff diff;
  if (before.size() > diff_lines_max || after.size() > diff_lines_max) {
    diff.is_cut = true;
    diff.removed = before.size();
    diff.added = after.size();
    return diff;
  }
  Trace trace = search(before, after);
  std::vector<DiffLine> lines =
      trace.is_found ? walk_back(trace, before, after) : whole_change(before, after);
  for (const DiffLine& line : lines) {
    diff.removed += line.kind == DiffLine::Kind::removed ? 1 : 0;
    diff.added += line.kind == DiffLine::Kind::added ? 1 : 0;
  }
  if (diff.removed + diff.added > 0) diff.lines = near_changes(std::move(lines), around);
  return diff;
}

std::vector<std::string> render_diff(const Style& style, const Diff& diff, const DiffShape& shape) {
  if (diff.is_cut) {
    return {style.paint(Ink::dim, "(" + std::to_string(diff.removed) + " lines before, " +
                                      std::to_string(diff.added) + " after: too long to compare)")};
  }
  std::vector<std::string> rows;
  for (const DiffLine& line : diff.lines) {
    if (rows.size() == shape.rows_max) {
      rows.push_back(style.paint(
          Ink::dim, "… " + std::to_string(diff.lines.size() - shape.rows_max) + " more lines"));
      break;
    }
    const std::string text = expand_tabs(clean_text(line.text));
    const auto row = [&](std::string_view mark) {
      return shorten(std::string(mark) + text, shape.cells);
    };
    switch (line.kind) {
      case DiffLine::Kind::same: rows.push_back(style.paint(Ink::dim, row("  "))); break;
      case DiffLine::Kind::removed: rows.push_back(style.paint(Ink::red, row("- "))); break;
      case DiffLine::Kind::added: rows.push_back(style.paint(Ink::green, row("+ "))); break;
      case DiffLine::Kind::gap: rows.push_back(style.paint(Ink::dim, "  ⋮")); break;
    }
  }
  return rows;
}

}  // namespace perdure::cli
