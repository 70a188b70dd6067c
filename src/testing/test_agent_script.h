// What a prompt tells the test agent to do: verbs joined by `;`, so that a test needs no files. A
// prompt without a known verb is answered like `say 3`, as an agent answers whatever it is told.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/fields.h"

namespace perdure {
namespace testagent {

enum class Verb {
  say,          // say N: N chunks
  chunks,       // chunks N BYTES: N chunks of that size
  paced,        // paced N MS: N chunks at fixed times, each with the time at which it was due
  think,        // think N: N chunks of thought
  tool,         // tool N: N tool calls, one after the other
  sleep_tool,   // sleep_tool MS: a tool call that takes that long
  output,       // output N: a tool call whose output comes in N pieces
  permission,   // permission N [concurrent] [reused_id]
  plan,         // a plan, and its items done one by one
  usage,        // usage N
  title,        // title WORDS
  commands,     // available commands
  mode,         // says the mode and the model that it has
  recall,       // says all earlier prompts that it still knows
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
  call,         // call METHOD JSON: asks the client, and says what it answered
  raw,          // raw TEXT: a line on stdout as it stands
  huge,         // one chunk of so many bytes; by switch only
  broken_utf8,  // a chunk with bytes that are no UTF-8; by switch only
  exit_asking,  // asks a permission and exits; by switch only
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

// Counts are cut to a million, sizes to a GiB.
std::deque<Step> parse_script(std::string_view prompt);

}  // namespace testagent

ENUM_TEXT(testagent::Verb, "say", "chunks", "paced", "think", "tool", "sleep_tool", "output",
          "permission", "plan", "usage", "title", "commands", "mode", "recall", "sleep", "hang",
          "crash", "exit", "spawn_child", "command", "flood", "stderr", "background", "clear",
          "compact", "error", "stop", "call", "raw", "(huge)", "(broken_utf8)", "(exit_asking)");

}  // namespace perdure
