// How the workspace's calls read their parameters and write contents: shared by the files that
// serve them. Unknown members are refused: a mistyped `expected` must not become an overwrite.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fields_json.h"
#include "base/json.h"
#include "base/result.h"
#include "env/file_tree.h"

namespace perdure {

// Gets the result as JSON, once. May be called before the call that took it returns.
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

// A version as opaque text, and back.
std::string version_text(const FileVersion& version);
Result<FileVersion> parse_version(std::string_view text);

// `"kind":…,"bytes":…,"modified_at":…,"mode":…` and, for a plain file, its version.
void write_stat(JsonWriter& out, const FileStat& stat);

// The member `text` when the bytes are text, else `base64`.
enum class ContentForm { automatic, text, base64 };
ENUM_TEXT(ContentForm, "auto", "text", "base64");
// `at_end`: nothing follows these bytes. Gives how many bytes were written: in the form of text a
// character that is cut at the end is left for the next part. invalid_argument: text was asked for,
// and this is none.
enum class PartEnd { more_follows, at_end };
Result<std::size_t> write_content(JsonWriter& out, std::string_view bytes, ContentForm form,
                                  PartEnd end);

// Bytes without the beginning of a character whose rest is missing.
std::string_view without_cut_character(std::string_view bytes);

}  // namespace perdure
