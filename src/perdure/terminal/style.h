// Colours, if the output is a terminal and colours are not disabled. Without colours the text is
// the same, character by character.
#pragma once

#include <string>
#include <string_view>

namespace perdure::cli {

enum class Ink { plain, bold, dim, italic, red, green, yellow, blue, magenta, cyan };

class Style {
 public:
  Style() = default;
  static Style coloured() {
    Style style;
    style.is_coloured_ = true;
    return style;
  }

  bool is_coloured() const { return is_coloured_; }
  std::string paint(Ink ink, std::string_view text) const;
  // The codes themselves, for text assembled in pieces; empty without colours.
  std::string_view begin(Ink ink) const;
  std::string_view end(Ink ink) const;

 private:
  bool is_coloured_ = false;
};

}  // namespace perdure::cli
