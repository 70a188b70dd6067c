// A path below the root of a FileTree. By construction its bytes are relative and clean: no empty
// component, no `.`, no `..`, no NUL; so joining it to a root never leads upwards.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

// Any bytes as valid UTF-8 text, reversibly: a backslash becomes `\\`, and a byte outside every
// well-formed character becomes `\xNN`. Ordinary names are unchanged.
std::string escape_name(std::string_view bytes);
// The bytes of such a text. invalid_argument: another escape, or one for an ASCII byte (which could
// smuggle in a slash).
Result<std::string> unescape_name(std::string_view text);

class TreePath {
 public:
  TreePath() = default;  // the root itself

  // From the text of a call, escaped as above. Empty and `.` are the root; doubled and trailing
  // slashes are dropped. invalid_argument: absolute, `..`, NUL, or longer than a path may be.
  static Result<TreePath> parse(std::string_view text);
  // The same from raw bytes, as returned by git or the kernel.
  static Result<TreePath> from_bytes(std::string_view bytes);

  bool is_root() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }  // empty for the root
  std::string text() const { return escape_name(bytes_); }
  std::string_view name() const;  // the last component; empty for the root
  TreePath parent() const;        // the root's is the root
  // This path and one more component, which must be a name: not empty, no slash, not `.` or `..`.
  TreePath child(std::string_view name) const;
  // From the first component below the root down to the path itself.
  std::vector<TreePath> ancestors_and_self() const;

  auto operator<=>(const TreePath&) const = default;

 private:
  explicit TreePath(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string bytes_;
};

}  // namespace perdure
