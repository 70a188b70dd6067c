#include "env/tree_path.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t path_bytes_max = 4095;
constexpr std::size_t name_bytes_max = 255;
constexpr std::string_view digits = "0123456789abcdef";

// The length of the first character, or 0 if the first byte belongs to none.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return text.size() >= length && is_utf8(text.substr(0, length)) ? length : 0;
}

}  // namespace

std::string escape_name(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = character_bytes(bytes);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      out += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    } else if (bytes.front() == '\\') {
      out += "\\\\";
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

Result<std::string> unescape_name(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text.substr(i + 1).starts_with('\\')) {
      out += '\\';
      ++i;
    } else {
      const std::string_view code = text.substr(i + 1, 3);
      const auto high = code.size() == 3 ? digits.find(code[1]) : std::string_view::npos;
      const auto low = code.size() == 3 ? digits.find(code[2]) : std::string_view::npos;
      if (!code.starts_with('x') || high == std::string_view::npos ||
          low == std::string_view::npos || high < 8) {
        return fail(Code::invalid_argument,
                    "a backslash in a path is written \\\\, an odd byte \\x80 to \\xff");
      }
      out += static_cast<char>(high << 4U | low);
      i += 3;
    }
  }
  return out;
}

Result<TreePath> TreePath::parse(std::string_view text) {
  return from_bytes(TRY(unescape_name(text)));
}

Result<TreePath> TreePath::from_bytes(std::string_view bytes) {
  if (bytes.starts_with('/')) {
    return fail(Code::invalid_argument, "the path is absolute; it counts from the workspace");
  }
  if (bytes.size() > path_bytes_max) return fail(Code::invalid_argument, "the path is too long");
  if (bytes.find('\0') != std::string_view::npos) {
    return fail(Code::invalid_argument, "the path has a NUL byte");
  }
  std::string clean;
  while (!bytes.empty()) {
    const std::string_view name = bytes.substr(0, bytes.find('/'));
    bytes.remove_prefix(std::min(name.size() + 1, bytes.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") return fail(Code::invalid_argument, "the path has '..'");
    if (name.size() > name_bytes_max) {
      return fail(Code::invalid_argument, "a name in the path is longer than 255 bytes");
    }
    if (!clean.empty()) clean += '/';
    clean += name;
  }
  return TreePath(std::move(clean));
}

std::string_view TreePath::name() const {
  const std::size_t slash = bytes_.rfind('/');
  return std::string_view(bytes_).substr(slash == std::string::npos ? 0 : slash + 1);
}

TreePath TreePath::parent() const {
  const std::size_t slash = bytes_.rfind('/');
  return TreePath(slash == std::string::npos ? std::string() : bytes_.substr(0, slash));
}

TreePath TreePath::child(std::string_view name) const {
  CHECK(!name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos);
  std::string bytes = bytes_;
  if (!bytes.empty()) bytes += '/';
  bytes += name;
  return TreePath(std::move(bytes));
}

std::vector<TreePath> TreePath::ancestors_and_self() const {
  std::vector<TreePath> out;
  for (TreePath path = *this; !path.is_root(); path = path.parent()) out.push_back(path);
  std::ranges::reverse(out);
  return out;
}

}  // namespace perdure
