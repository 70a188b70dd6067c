#include "agentctl/workspace/workspace_params.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

#include "base/bytes/base64.h"
#include "base/text.h"
#include "base/time.h"

namespace perdure {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

template <class Number>
bool take_number(std::string_view& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string version_text(const FileVersion& version) {
  return std::to_string(version.modified_ns) + "." + std::to_string(version.bytes) + "." +
         std::to_string(version.inode);
}

Result<FileVersion> parse_version(std::string_view text) {
  FileVersion version;
  if (take_number(text, version.modified_ns) && take_dot(text) &&
      take_number(text, version.bytes) && take_dot(text) && take_number(text, version.inode) &&
      text.empty()) {
    return version;
  }
  return fail(Code::invalid_argument, "not a version of a file");
}

void write_stat(JsonWriter& out, const FileStat& stat) {
  // Rounded down, also before 1970.
  const std::int64_t ns = stat.version.modified_ns;
  const std::int64_t ms = ns / ns_per_ms - (ns % ns_per_ms < 0 ? 1 : 0);
  out.key("kind").string(enum_text(stat.kind));
  out.key("bytes").number_unsigned(stat.version.bytes);
  out.key("modified_at").string(format_timestamp({ms}));
  out.key("mode").number(stat.mode);
  if (stat.kind == FileKind::file) out.key("version").string(version_text(stat.version));
}

std::string_view without_cut_character(std::string_view bytes) {
  // At most the last three bytes can begin an incomplete character.
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xc0U) == 0x80U) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.substr(0, bytes.size() - back) : bytes;
  }
  return bytes;
}

Result<std::size_t> write_content(JsonWriter& out, std::string_view bytes, ContentForm form,
                                  PartEnd end) {
  if (form != ContentForm::base64) {
    const std::string_view text = end == PartEnd::at_end ? bytes : without_cut_character(bytes);
    const bool is_text = is_utf8(text) && text.find('\0') == std::string_view::npos &&
                         (!text.empty() || bytes.empty());
    if (is_text) {
      out.key("text").string(text);
      return text.size();
    }
    if (form == ContentForm::text) return fail(Code::invalid_argument, "this is not UTF-8 text");
  }
  out.key("base64").string(base64_encode(bytes));
  return bytes.size();
}

}  // namespace perdure
