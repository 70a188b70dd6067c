// A prompt's instructions to the test agent: verbs joined by `;`, so that a test needs no files. A
// prompt without a known verb is answered like `say 3`, as an agent answers any prompt.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/json/fields.h"

namespace perdure {
namespace testagent {

enum class Verb {
  say,          // say N: N chunks
  chunks,       // chunks N BYTES: N chunks of that size
  paced,        // paced N MS: N chunks at fixed times, each with its due time
  think,        // think N: N chunks of thought
  tool,         // tool N: N tool calls in sequence
  sleep_tool,   // sleep_tool MS: a tool call of that duration
  output,       // output N: a tool call whose output comes in N pieces
  permission,   // permission N [concurrent] [reused_id]
  plan,         // a plan, and its items done one by one
  usage,        // usage N
  title,        // title WORDS
  commands,     // available commands
  mode,         // reports its mode and model
  recall,       // reports all earlier prompts that it remembers
  sleep,        // sleep MS
  hang,         // nothing more, until cancelled
  crash,        // crash [kill|abort|segv]
  exit,         // exit CODE
  spawn_child,  // spawn_child [child|setsid]: a process that sleeps and outlives the turn
  command,  // command [child|setsid|stubborn]: a tool call that starts such a process, and hangs
  flood,    // flood BYTES of text
  stderr_text,  // stderr BYTES
  background,   // background N: updates after the end of the turn
  clear,        // forgets all earlier prompts
  compact,      // keeps a summary of them
  error,        // error CODE TEXT: the turn ends with it
  stop,         // stop REASON: the turn ends with this stop reason
  call,         // call METHOD JSON: calls the client and reports the answer
  raw,          // raw TEXT: an unmodified line on stdout
  huge,         // one chunk of this many bytes; by switch only
  broken_utf8,  // a chunk with invalid UTF-8; by switch only
  exit_asking,  // requests a permission and exits; by switch only
};

struct Step {
  Verb verb = Verb::say;
  std::int64_t count = 1;
  std::int64_t size = 0;
  std::string text;
  bool concurrent = false;
  bool reused_id = false;
  bool operator==(const Step&) const = default;
};

// Counts are limited to a million, sizes to a GiB.
std::deque<Step> parse_script(std::string_view prompt);

}  // namespace testagent

ENUM_TEXT(testagent::Verb, "say", "chunks", "paced", "think", "tool", "sleep_tool", "output",
          "permission", "plan", "usage", "title", "commands", "mode", "recall", "sleep", "hang",
          "crash", "exit", "spawn_child", "command", "flood", "stderr", "background", "clear",
          "compact", "error", "stop", "call", "raw", "(huge)", "(broken_utf8)", "(exit_asking)");

}  // namespace perdure
