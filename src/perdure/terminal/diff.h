// The difference of two texts by lines, for people: removed and added lines with some context.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/terminal/style.h"

namespace perdure::cli {

struct DiffLine {
  enum class Kind { same, removed, added, gap };
  Kind kind = Kind::same;
  std::string text;
  bool operator==(const DiffLine&) const = default;
};

struct DiffTexts {
  std::string_view before;
  std::string_view after;
};

struct Diff {
  std::size_t removed = 0;
  std::size_t added = 0;
  bool is_cut = false;  // beyond diff_lines_max: lines are only counted
  std::vector<DiffLine> lines;
};

// A shortest edit script; keeps `around` unchanged lines on either side of a change.
Diff diff_of(const DiffTexts& texts, std::size_t around = 2);

// Coloured rows, each cut to `cells`; at most `rows_max`, then a last row that counts the rest.
struct DiffShape {
  std::size_t cells = 80;
  std::size_t rows_max = 24;
};
std::vector<std::string> render_diff(const Style& style, const Diff& diff, const DiffShape& shape);

}  // namespace perdure::cli
