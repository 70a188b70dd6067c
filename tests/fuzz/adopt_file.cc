// Any bytes as a session file of another program, selected by the first byte. Never a crash, and a
// parsed session makes a journal whose chain verifies.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/import_form.h"
#include "adopt/native_session.h"
#include "base/check.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

using Reader = Result<adopt::NativeSession> (*)(const adopt::NativeFile&);
constexpr Reader readers[] = {adopt::read_claude,  adopt::read_codex, adopt::read_gemini,
                              adopt::read_copilot, adopt::read_qwen,  adopt::read_opencode};

std::vector<std::string> records_of(std::string_view file) {
  constexpr std::string_view begin = "{\"record\":";
  std::vector<std::string> out;
  while (!file.empty()) {
    const std::string_view line = file.substr(0, file.find('\n'));
    file.remove_prefix(line.size() + 1);
    if (!line.starts_with(begin)) continue;
    out.emplace_back(line.substr(begin.size(), line.size() - begin.size() - 1));
  }
  return out;
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perdure;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Reader read = readers[data[0] % std::size(readers)];
  const auto session = read({.bytes = bytes, .name = "a.jsonl", .cwd = "/p"});
  if (!session) return 0;
  const std::string file =
      adopt::make_import(*session, {.agent = "claude", .file = "/f", .bytes = bytes.size()});
  CHECK(verify_chain(records_of(file)).has_value());
  return 0;
}
