// The demo agent's reaction to a prompt as a list of beats: predefined, chosen by the words of the
// prompt. Pure; the turn plays the beats in the real workspace, at a human pace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demo/agent_updates.h"

namespace perdure::demo {

enum class BeatKind {
  say,        // streams `text`
  think,      // streams `text` as a thought
  plan,       // shows `plan`, its first item in progress
  plan_next,  // completes one item, starts the next
  write,      // writes `text` to `file`, with a diff; asks first in mode ask
  read,       // shows `file`
  run,        // runs `command` in the workspace
  ask,        // asks `text` and waits
  pause,      // waits for `ms`
  finish,     // ends the story here
};
enum class Only { always, after_yes, after_no };

struct Beat {
  BeatKind kind = BeatKind::say;
  std::string text;
  std::string file;  // below demo_folder in the workspace
  std::vector<std::string> command;
  std::vector<PlanItem> plan;
  std::int64_t ms = 0;
  Only only = Only::always;  // depends on the last write, run or ask
  bool continues = false;    // continues the previous beat's message
};
using Story = std::vector<Beat>;

// All of the demo's files are in this folder of the workspace and contain this line: other files
// are never overwritten.
inline constexpr std::string_view demo_folder = "perdure-demo";
inline constexpr std::string_view demo_mark = "Made by Perdure's demo agent";

struct StoryAsk {
  std::string prompt;
  std::vector<std::string> earlier;  // prompts, oldest first
};
// Never empty.
Story tell_story(const StoryAsk& ask);

// The individual stories.
Story help_story();
Story tour_story();
Story plan_story(const std::string& subject);
Story long_story();
Story ask_story();
Story fail_story();
Story bug_story();
Story write_story(const std::string& subject);

// Factory functions, so that stories read as a list.
Beat say(std::string text);
Beat say_on(std::string text);  // continues the same message
Beat think(std::string text);
Beat pause_ms(std::int64_t ms);
Beat run_command(std::vector<std::string> command);
struct FileText {
  std::string file;
  std::string text;
};
Beat write_file(FileText file);
Beat read_file(std::string file);
Beat ask_for(std::string what);
Beat next_item();
Beat finish();
Beat make_plan(std::vector<std::string> items);
Beat when(Only only, Beat beat);

}  // namespace perdure::demo
