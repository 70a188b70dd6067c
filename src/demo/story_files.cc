// Stories that write files: a bug whose test fails before the fix and passes after it, and small
// things that a person asks for. The scripts need only sh.
#include <string>
#include <utility>

#include "demo/story.h"

namespace perdure::demo {
namespace {

std::string counter(std::string_view comparison) {
  return "#!/bin/sh\n"
         "# Counts from 1 to N, both included. Made by Perdure's demo agent.\n"
         "n=${1:-5}\n"
         "i=1\n"
         "while [ \"$i\" " +
         std::string(comparison) +
         " \"$n\" ]; do\n"
         "  echo \"$i\"\n"
         "  i=$((i + 1))\n"
         "done\n";
}

constexpr std::string_view counter_test =
    "#!/bin/sh\n"
    "# The last number must be there too. Made by Perdure's demo agent.\n"
    "want=\"1 2 3\"\n"
    "got=$(sh \"$(dirname \"$0\")/counter.sh\" 3 | tr '\\n' ' ' | sed 's/ $//')\n"
    "echo \"want: $want\"\n"
    "echo \"got:  $got\"\n"
    "if [ \"$got\" = \"$want\" ]; then echo ok; else echo FAILED; exit 1; fi\n";

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

FileText haiku() {
  return {"haiku.md",
          "# Haiku\n\nThe daemon is gone.\nThe line it had just written\nis there, and goes on.\n\n"
          "<!-- Made by Perdure's demo agent -->\n"};
}

FileText script() {
  return {"countdown.sh",
          "#!/bin/sh\n# Counts down and says so. Made by Perdure's demo agent.\n"
          "i=${1:-3}\nwhile [ \"$i\" -gt 0 ]; do\n  echo \"$i...\"\n  i=$((i - 1))\ndone\n"
          "echo 'still here'\n"};
}

FileText notes(const std::string& subject) {
  return {"notes.md",
          "# " + subject +
              "\n\nMade by Perdure's demo agent, which knows nothing about the subject.\n\n"
              "- the wish was in the journal before the agent heard of it\n"
              "- this file is real, and so is its diff\n"
              "- a real agent would have written something better here\n"};
}

}  // namespace

Story bug_story() {
  return {
      think("I found no bug in their code, so I bring one along: a counter that "
            "stops one too early, and a test that notices."),
      make_plan({"Set the scene: a script and its test", "See it fail", "Fix it", "See it pass"}),
      say("I cannot read minds or code, being a demo without a model. But I can show you the "
          "whole motion on a bug that I brought along, in `perdure-demo/`:\n"),
      write_file({"counter.sh", counter("-lt")}),
      when(Only::after_no, say("Without the script there is nothing to fix. Nothing was written; "
                               "ask me again when you like.\n")),
      when(Only::after_no, finish()),
      when(Only::after_yes, write_file({"counter_test.sh", std::string(counter_test)})),
      next_item(),
      when(Only::after_yes, run_command({"sh", std::string(demo_folder) + "/counter_test.sh"})),
      when(Only::after_no,
           say("As expected, `3` is missing: the loop says *less than* where it means *at most*. "
               "One character.\n")),
      next_item(),
      write_file({"counter.sh", counter("-le")}),
      next_item(),
      when(Only::after_yes, run_command({"sh", std::string(demo_folder) + "/counter_test.sh"})),
      next_item(),
      when(Only::after_yes,
           say("**Fixed.** The failing run, the diff and the passing run are all in the journal. "
               "Kill the daemon now and read them again: they will not have moved.\n")),
      when(Only::after_no, say("Then it stays as it is. Every step up to here is in the journal, "
                               "with your decision.\n"))};
}

Story write_story(const std::string& subject) {
  FileText file = notes(subject);
  std::vector<std::string> command = {"wc", "-l", std::string(demo_folder) + "/notes.md"};
  if (has(subject, "haiku") || has(subject, "poem") || has(subject, "song")) {
    file = haiku();
    command.back() = std::string(demo_folder) + "/haiku.md";
  } else if (has(subject, "script") || has(subject, "program") || has(subject, "function")) {
    file = script();
    command = {"sh", std::string(demo_folder) + "/countdown.sh"};
  }
  const std::string name = file.file;
  return {think("They want \"" + subject + "\". I have something of the kind at hand."),
          say("A small file, then: `perdure-demo/" + name +
              "`. In mode **Ask first** I will ask; with *Always* I will not ask again in this "
              "session.\n"),
          write_file(std::move(file)),
          when(Only::after_yes, run_command(std::move(command))),
          when(Only::after_yes,
               say("There it is. I am a demo without a model, so do not look for depth; but the "
                   "file is yours, and the journal knows who allowed it and when.\n")),
          when(Only::after_no,
               say("It was not written, or did not run. That is recorded as well: no answer is "
                   "an answer, too.\n"))};
}

}  // namespace perdure::demo
