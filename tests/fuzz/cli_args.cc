// Any words as a command line, for completion and for running: an error with exit code 2, or a call
// from the table whose words and values all come from the input. Also agent output: after cleaning,
// any bytes are harmless text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/keys.h"
#include "perdure/verbs/call/args.h"
#include "perdure/verbs/call/completion.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = text.find('\n');
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

bool is_part_of(std::string_view word, const std::vector<std::string>& words) {
  for (const std::string& given : words) {
    if (given.find(word) != std::string::npos) return true;
  }
  return false;
}

void parse(const std::vector<std::string>& words) {
  const auto call = parse_words(all_verbs(), words);
  if (!call) {
    CHECK(call.error().exit_code == exit_usage);
    CHECK(call.error().message.find('\x1B') == std::string::npos);
    return;
  }
  CHECK(call->verb != nullptr || call->wants_help);
  for (const std::string& word : call->args.words()) CHECK(is_part_of(word, words));
  if (call->verb == nullptr) return;
  for (const Option& option : call->verb->options) {
    if (const auto value = call->args.value(option.name)) CHECK(is_part_of(*value, words));
    (void)call->args.number(option.name);
    if (const auto ms = call->args.duration_ms(option.name); ms && *ms) CHECK(**ms >= 0);
  }
}

void complete(const std::vector<std::string>& words) {
  for (const Candidate& candidate : complete_words(all_verbs(), words).candidates) {
    CHECK(candidate.word.starts_with(words.back()));
  }
}

void clean(std::string_view text) {
  const std::string shown = clean_text(text);
  CHECK(is_utf8(shown));
  for (const char c : shown) {
    CHECK(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
    CHECK(c != '\x7F');
  }
  KeyReader keys;
  for (const Key& key : keys.feed(text)) CHECK(is_utf8(key.text));
}

}  // namespace
}  // namespace perdure::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> words = perdure::cli::split(text);
  perdure::cli::parse(words);
  perdure::cli::complete(words);
  perdure::cli::clean(text);
  return 0;
}
