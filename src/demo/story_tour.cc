// The stories of the slash commands. They show the parts of a Perdure session, and suggest what to
// break on purpose.
#include <string>
#include <utility>

#include "demo/story.h"

namespace perdure::demo {
namespace {

constexpr std::string_view note_first =
    "# A note that outlives things\n"
    "\n"
    "Made by Perdure's demo agent.\n"
    "\n"
    "- written while you watched\n";

constexpr std::string_view note_second =
    "# A note that outlives things\n"
    "\n"
    "Made by Perdure's demo agent.\n"
    "\n"
    "- written while you watched\n"
    "- changed in a second step, so that there is a diff to look at\n"
    "- still here after the daemon, the tab and the agent are gone\n";

constexpr std::string_view counter_script =
    "i=1; while [ $i -le 5 ]; do echo \"step $i of 5\"; sleep 1; i=$((i + 1)); done; echo done";

}  // namespace

Story help_story() {
  return {say("### What I can show you\n\n"
              "I am the demo agent that comes with Perdure. There is **no model behind me**: my "
              "answers were written in advance and are picked by the words you use. The files I "
              "write, the commands I run and the questions I ask are real.\n\n"
              "| try | and see |\n|---|---|\n"
              "| `/tour` | a plan, a file, a diff, a command and a question in one turn |\n"
              "| `/long` | a turn of a minute and a half to break things in |\n"
              "| `/ask` | a permission that waits for you, across restarts |\n"
              "| `/plan` | a plan that is worked through |\n"
              "| `/fail` | a command that fails, and what is left of it |\n"
              "| *find the bug* | a failing test, a fix, a passing test |\n"
              "| *write a haiku* | a small file in your workspace |\n"
              "| *what do you remember?* | what I still know after a resume |\n\n"),
          say_on("While I work you can close this tab, open it on your phone, or `kill -9` the "
                 "daemon. I go on, and nothing that was shown is ever lost.\n")};
}

Story tour_story() {
  Story story = {
      think("The whole tour, then. I will plan first, so that the plan can be watched; write one "
            "file, change it for the sake of the diff, and run one command that takes its time."),
      make_plan({"Look around in the workspace", "Write a small note", "Change it",
                 "Run something that takes a while", "Sum up"}),
      say("Welcome. Here is the tour: five steps, all of them real, none of them harmful. "
          "Everything goes into the folder `perdure-demo/`.\n\nFirst a look around:\n"),
      run_command({"ls", "-la"}),
      next_item(),
      say("Now a small file. In mode **Ask first** I need your word before I write. Take your "
          "time: the question is kept in the journal and waits for you, in this tab or in any "
          "other, also after a restart of the daemon.\n"),
      write_file({"note.md", std::string(note_first)}),
      when(Only::after_no,
           say("You said no, and that is that: nothing was written. The rest of the tour works "
               "without the file.\n")),
      next_item(),
      when(Only::after_yes, write_file({"note.md", std::string(note_second)})),
      next_item(),
      say("This command counts to five, slowly. A good moment to be rude: close the tab, or "
          "`kill -9` the daemon. The command and I belong to **agentctl**, a small process of "
          "our own that belongs to nobody, and it writes down what happens while nobody "
          "looks.\n"),
      run_command({"sh", "-c", std::string(counter_script)}),
      next_item(),
      say("### That was it\n\n"
          "1. Each line you saw was **committed before it was shown**.\n"
          "2. The plan, the diff and the output can be read again tomorrow, from any client.\n"
          "3. If I am killed, the session is resumed and you get a *receipt* that says honestly "
          "what I still know.\n\n"
          "Try `/long` and do your worst, or ask me what I remember.\n"),
      next_item()};
  return story;
}

Story plan_story(const std::string& subject) {
  const std::string what = subject.empty() ? "a careful change" : subject;
  Story story = {think("A plan that can be followed needs steps that end. Four will do."),
                 say("A plan for **" + what + "**:\n"),
                 make_plan({"Understand what is there", "Write the failing test first",
                            "Make the change", "Run everything once more"})};
  for (const char* done : {"Read, and understood: small, and with one surprise.\n",
                           "The test is written and fails for the right reason.\n",
                           "The change is three lines; the commit message will be longer.\n",
                           "All of it passes. (In this demo, at least: I only acted it out.)\n"}) {
    story.push_back(pause_ms(900));
    story.push_back(next_item());
    story.push_back(say(done));
  }
  return story;
}

Story long_story() {
  static constexpr std::string_view remarks[] = {
      "a good moment to close the tab",
      "the journal has every line up to this one",
      "kill -9 the daemon and start it again: you will be back at this number",
      "open the same session on your phone and watch both",
      "a slow reader does not slow me down",
      "pull the network cable; the numbers will have no gap",
      "cancel is always allowed and always answered",
      "another session beside this one would not notice anything",
      "an upgrade of the daemon would not stop me either",
      "each of these lines has one number in the journal, and keeps it"};
  Story story = {think("Sixty lines, one and a half seconds each. The numbers are the point: after "
                       "whatever is done to the daemon they must be complete."),
                 say("Sixty numbered lines, about a minute and a half. **Break something** while I "
                     "count; then look for a gap.\n\n")};
  for (int line = 1; line <= 60; ++line) {
    story.push_back(say_on(
        std::to_string(line) + ". " +
        std::string(remarks[static_cast<std::size_t>(line - 1) % std::size(remarks)]) + "\n"));
    story.push_back(pause_ms(1000));
  }
  story.push_back(say_on("\nSixty. No gap? Then it works.\n"));
  return story;
}

Story ask_story() {
  return {say("I will ask you something and then wait. There is no hurry: the question survives a "
              "reload, a restart of the daemon and the night. Whoever answers first, decides.\n"),
          ask_for("Go on with the demo (nothing will be written)"),
          when(Only::after_yes,
               say("Thank you. The answer was made durable **before** I heard of it, and I will "
                   "never hear it twice.\n")),
          when(Only::after_no,
               say("Understood: not allowed. A crash, a timeout or a lost connection would have "
                   "counted as no as well, never as yes.\n"))};
}

Story fail_story() {
  return {think("A command that fails honestly: a message on stderr and a code that is not zero."),
          say("Let me run something that cannot work:\n"),
          run_command({"sh", "-c",
                       "echo 'looking for the answer...'; sleep 1; "
                       "echo 'answer: not in this workspace' >&2; exit 3"}),
          when(Only::after_no,
               say("It ended with code 3, and the tool call says so: *failed*, with all that it "
                   "printed. A turn may contain failures and still end well; what must not happen "
                   "is a failure that nobody can see.\n\n"
                   "Want a bigger one? Kill this agent's process: the turn will be marked "
                   "**interrupted**, once, and the session offers to resume.\n"))};
}

}  // namespace perdure::demo
