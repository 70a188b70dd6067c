#include "demo/story.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace perdure::demo {

Beat say(std::string text) { return {.kind = BeatKind::say, .text = std::move(text)}; }
Beat say_on(std::string text) {
  return {.kind = BeatKind::say, .text = std::move(text), .continues = true};
}
Beat think(std::string text) { return {.kind = BeatKind::think, .text = std::move(text)}; }
Beat pause_ms(std::int64_t ms) { return {.kind = BeatKind::pause, .ms = ms}; }
Beat run_command(std::vector<std::string> command) {
  return {.kind = BeatKind::run, .command = std::move(command)};
}
Beat write_file(FileText file) {
  return {.kind = BeatKind::write, .text = std::move(file.text), .file = std::move(file.file)};
}
Beat read_file(std::string file) { return {.kind = BeatKind::read, .file = std::move(file)}; }
Beat ask_for(std::string what) { return {.kind = BeatKind::ask, .text = std::move(what)}; }
Beat next_item() { return {.kind = BeatKind::plan_next}; }
Beat finish() { return {.kind = BeatKind::finish}; }
Beat make_plan(std::vector<std::string> items) {
  Beat beat{.kind = BeatKind::plan};
  for (std::string& item : items) beat.plan.push_back({.content = std::move(item)});
  return beat;
}
Beat when(Only only, Beat beat) {
  beat.only = only;
  return beat;
}

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return static_cast<char>(c < 128 ? std::tolower(c) : c);
  });
  return out;
}

// Splits into words of letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 128 || std::isalnum(byte)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

struct Heard {
  std::vector<std::string> words;

  bool any_of(std::initializer_list<std::string_view> wanted) const {
    return std::ranges::any_of(wanted, [&](std::string_view word) {
      return std::ranges::find(words, word) != words.end();
    });
  }
};

// The object in "write a haiku about rain": up to four words after the article.
std::string thing_to_write(const std::vector<std::string>& words) {
  std::string thing;
  bool hears = false;
  int taken = 0;
  for (const std::string& word : words) {
    if (!hears) {
      hears = word == "write" || word == "create" || word == "make" || word == "add";
      continue;
    }
    static constexpr auto skipped =
        std::to_array<std::string_view>({"a", "an", "me", "the", "some", "please", "new"});
    if (taken == 0 && std::ranges::find(skipped, word) != skipped.end()) continue;
    thing += (thing.empty() ? "" : " ") + word;
    if (++taken == 4) break;
  }
  return thing;
}

Story hello_story() {
  return {
      say("Hello! I am the demo agent of **Perdure**. I have no model and need no key; I am "
          "here so that you can see what happens to a session when things break.\n\n"
          "Three good first steps:\n\n"
          "- `/tour` shows everything in one turn\n"
          "- `/long` gives you time to close the tab or kill the daemon\n"
          "- *find the bug* lets me fix a small script, with a failing test before and a "
          "passing one after\n")};
}

Story explain_story() {
  return {
      think("They want to know how this works. Short, with the one idea that carries the rest."),
      say("### Why the session survives\n\n"
          "The page you look at is a **reader**. What happens to the session is decided "
          "elsewhere:\n\n"
          "```\nyou  ->  daemon (journal)  ->  agentctl  ->  me\n```\n\n"
          "- **agentctl** owns me. It is a small process that belongs to nobody, so nobody takes "
          "it along when they fall.\n"
          "- Everything I say is written to its *spool* first, and stays there until the daemon "
          "has "
          "committed it to the **journal**.\n"
          "- The daemon shows nothing that is not committed. So what you have seen is there "
          "tomorrow, in the same order, with the same numbers.\n\n"),
      say_on("Should I die as well, a new agent is started and told what happened. How much it "
             "really knows stands on a *receipt*, because agents sometimes claim more than they "
             "remember.\n\nI am a demo without a model, so this is as deep as I go. The real "
             "agents you plug in behave the same way from here on.\n")};
}

Story remember_story(const std::vector<std::string>& earlier) {
  if (earlier.empty()) {
    return {
        say("Nothing yet: this is the first thing you have asked me in this session. Ask me "
            "again later, best after you have killed me in between.\n")};
  }
  std::string text = "You have asked me " + std::to_string(earlier.size()) +
                     (earlier.size() == 1 ? " thing" : " things") + " before this one:\n\n";
  const std::size_t shown = std::min<std::size_t>(earlier.size(), 10);
  for (std::size_t i = earlier.size() - shown; i < earlier.size(); ++i) {
    std::string one(utf8_prefix_chars(earlier[i], 80));
    std::ranges::replace(one, '\n', ' ');
    text += std::to_string(i + 1) + ". " + one + "\n";
  }
  return {think("I keep a small file for each session, so this can be looked up."), say(text),
          say("If I was restarted in between, this list is the proof that I was *resumed* and not "
              "merely started again.\n")};
}

Story other_story(const std::string& prompt) {
  std::string quoted(utf8_prefix_chars(prompt, 120));
  std::ranges::replace(quoted, '\n', ' ');
  return {think("No word that I know a story for. Be honest, and offer something."),
          say("You said:\n\n> " + quoted +
              "\n\nI would love to think about that, but I am a demo agent: **no model, no "
              "network**, only answers that were written in advance. What I can do is show you "
              "that your words are safe. They were in the journal before I read them.\n\n"),
          say_on("Words that wake me up: *hello*, *explain*, *bug*, *test*, *refactor*, *write a "
                 "haiku*, *remember*. And `/help` has the whole list.\n")};
}

}  // namespace

Story tell_story(const StoryAsk& ask) {
  const Heard heard{words_of(ask.prompt)};
  const std::size_t start = std::min(ask.prompt.find_first_not_of(" \t\r\n"), ask.prompt.size());
  if (ask.prompt.compare(start, 1, "/") == 0 && !heard.words.empty()) {
    const std::string& command = heard.words.front();
    const std::size_t rest = ask.prompt.find(' ', start);
    if (command == "help") return help_story();
    if (command == "tour") return tour_story();
    if (command == "plan") {
      return plan_story(rest == std::string::npos ? "" : ask.prompt.substr(rest + 1));
    }
    if (command == "long") return long_story();
    if (command == "ask") return ask_story();
    if (command == "fail") return fail_story();
  }
  if (heard.any_of({"remember", "recall", "memory", "know"})) return remember_story(ask.earlier);
  const std::string thing = thing_to_write(heard.words);
  if (heard.any_of({"bug", "fix", "broken", "test", "tests", "refactor", "debug"})) {
    return bug_story();
  }
  if (!thing.empty()) return write_story(thing);
  if (heard.any_of({"explain", "how", "why", "perdure", "journal", "survive"})) {
    return explain_story();
  }
  if (heard.any_of({"help", "what", "who"})) return help_story();
  if (heard.any_of({"plan"})) return plan_story("");
  if (heard.any_of({"hello", "hi", "hey", "hallo", "morning", "thanks", "thank"})) {
    return hello_story();
  }
  return other_story(ask.prompt);
}

}  // namespace perdure::demo
