#include "perdure/terminal/style.h"

namespace perdure::cli {

std::string_view Style::begin(Ink ink) const {
  if (!is_coloured_) return {};
  switch (ink) {
    case Ink::plain: return {};
    case Ink::bold: return "\x1B[1m";
    case Ink::dim: return "\x1B[2m";
    case Ink::italic: return "\x1B[3m";
    case Ink::red: return "\x1B[31m";
    case Ink::green: return "\x1B[32m";
    case Ink::yellow: return "\x1B[33m";
    case Ink::blue: return "\x1B[34m";
    case Ink::magenta: return "\x1B[35m";
    case Ink::cyan: return "\x1B[36m";
  }
  return {};
}

std::string_view Style::end(Ink ink) const {
  if (!is_coloured_) return {};
  switch (ink) {
    case Ink::plain: return {};
    case Ink::bold:
    case Ink::dim: return "\x1B[22m";
    case Ink::italic: return "\x1B[23m";
    default: return "\x1B[39m";
  }
}

std::string Style::paint(Ink ink, std::string_view text) const {
  std::string out(begin(ink));
  out += text;
  out += end(ink);
  return out;
}

}  // namespace perdure::cli
