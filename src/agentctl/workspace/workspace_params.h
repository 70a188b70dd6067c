// Reads parameters and writes contents for the files that serve workspace calls. Unknown members
// are rejected: a mistyped `expected` must not become an overwrite.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "base/result.h"
#include "env/file_tree.h"

namespace perdure {

// Receives the result as JSON, once; possibly before the call that took it returns.
using WorkspaceReply = std::move_only_function<void(Result<std::string>)>;

// The parameters of a call; empty text counts as {}.
template <class Params>
Result<Params> read_params(std::string_view json) {
  auto read = TRY(decode_fields<Params>(json.empty() ? std::string_view("{}") : json));
  if (!read.unknown.text.empty()) {
    return fail(Code::invalid_argument, "unknown parameters: " + read.unknown.text.substr(0, 200));
  }
  return std::move(read.value);
}

// Converts a version to opaque text and back.
std::string version_text(const FileVersion& version);
Result<FileVersion> parse_version(std::string_view text);

// `"kind":…,"bytes":…,"modified_at":…,"mode":…` and, for a plain file, its version.
void write_stat(JsonWriter& out, const FileStat& stat);

// The member is `text` if the bytes are text, otherwise `base64`.
enum class ContentForm { automatic, text, base64 };
ENUM_TEXT(ContentForm, "auto", "text", "base64");
// `at_end`: nothing follows these bytes. Returns how many bytes were written: the text form leaves
// a character cut at the end for the next part. invalid_argument: text was requested, but the bytes
// are not text.
enum class PartEnd { more_follows, at_end };
Result<std::size_t> write_content(JsonWriter& out, std::string_view bytes, ContentForm form,
                                  PartEnd end);

// The bytes without an incomplete character at their end.
std::string_view without_cut_character(std::string_view bytes);

}  // namespace perdure
