#include "perdure/verbs/call/help.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

struct Heading {
  Group group;
  std::string_view words;
};
constexpr auto headings = std::to_array<Heading>({
    {Group::live, "Work with sessions"},
    {Group::open, "Let others in"},
    {Group::read, "Read what happened"},
    {Group::decide, "Answer agents"},
    {Group::care, "Look after it"},
    {Group::plumbing, "For other programs"},
});

constexpr std::string_view exit_text =
    "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 no daemon, 124 timeout.\n";

std::string option_words(const Option& option) {
  std::string out = option.letter != 0 ? std::string("-") + option.letter + ", " : "    ";
  out += "--" + std::string(option.name);
  if (!option.value_name.empty()) out += " " + std::string(option.value_name);
  return out;
}

std::string option_lines(std::span<const Option> options) {
  std::string out;
  for (const Option& option : options) {
    const std::string words = "  " + option_words(option);
    const std::vector<std::string> rows = wrap(option.help, 56);
    std::string lead = pad(words, std::max<std::size_t>(30, text_width(words) + 2));
    for (const std::string& row : rows) {
      out += lead + row + "\n";
      lead = std::string(30, ' ');
    }
  }
  return out;
}

std::string example_lines(std::string_view example, std::string_view indent) {
  std::string out;
  while (!example.empty()) {
    const std::size_t end = example.find('\n');
    out += std::string(indent) + std::string(example.substr(0, end)) + "\n";
    example = end == std::string_view::npos ? "" : example.substr(end + 1);
  }
  return out;
}

// Escapes text for troff, where a backslash, a dash, and a dot or quote at the start of a line are
// special.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string man_options(std::span<const Option> options) {
  std::string out;
  for (const Option& option : options) {
    out += ".TP\n\\fB";
    if (option.letter != 0) out += "\\-" + std::string(1, option.letter) + ", ";
    out += roff("--" + std::string(option.name)) + "\\fR";
    if (!option.value_name.empty()) out += " \\fI" + roff(option.value_name) + "\\fR";
    out += "\n" + roff(option.help) + "\n";
  }
  return out;
}

}  // namespace

std::string usage_line(const Verb& verb) {
  std::string out = "perdure " + std::string(verb.name);
  for (const Positional& positional : verb.positionals) {
    const std::string name(positional.name);
    switch (positional.count) {
      case Count::one: out += " " + name; break;
      case Count::optional: out += " [" + name + "]"; break;
      case Count::at_least_one: out += " " + name + "..."; break;
      case Count::any: out += " [" + name + "...]"; break;
    }
  }
  return out;
}

std::string help_overview(std::span<const Verb> verbs, const Style& style) {
  std::string out = "Usage: perdure VERB [OPTIONS]\n\nKeeps the sessions of coding agents alive.\n";
  for (const Heading& heading : headings) {
    out += "\n" + style.paint(Ink::bold, heading.words) + "\n";
    for (const Verb& verb : verbs) {
      if (verb.is_hidden || verb.group != heading.group) continue;
      out += "  " + pad(verb.name, 17) + std::string(verb.summary) + "\n";
    }
  }
  out += "\nEvery verb takes:\n" + option_lines(common_options());
  out += "\n" + std::string(exit_text);
  out += "`perdure VERB --help` says more, with an example: perdure run demo hello\n";
  return out;
}

std::string help_verb(const Verb& verb, const Style& style) {
  std::string out = "Usage: " + usage_line(verb) + (verb.options.empty() ? "" : " [OPTIONS]");
  out += "\n\n" + std::string(verb.summary) + "\n";
  if (!verb.detail.empty()) {
    out += "\n";
    for (const std::string& row : wrap(verb.detail, 80)) out += row + "\n";
  }
  if (!verb.options.empty()) {
    out += "\n" + style.paint(Ink::bold, "Options") + "\n" + option_lines(verb.options);
  }
  out += "\n" + style.paint(Ink::bold, "Every verb takes") + "\n" + option_lines(common_options());
  out += "\n" + style.paint(Ink::bold, "Example") + "\n" + example_lines(verb.example, "  ");
  return out;
}

std::string man_page(std::span<const Verb> verbs, std::string_view version) {
  std::string out = ".TH PERDURE 1 \"\" \"perdure " + roff(version) + "\" \"User Commands\"\n";
  out += ".SH NAME\nperdure \\- keep the sessions of coding agents alive\n";
  out += ".SH SYNOPSIS\n.B perdure\n.I VERB\n[\\fIOPTIONS\\fR]\n";
  out +=
      ".SH DESCRIPTION\n"
      "Perdure hosts coding agents and keeps a journal of everything they do, so that a session\n"
      "outlives its client, its daemon and its agent's process. The verbs talk to the daemon of\n"
      "this user and start it when it is not running.\n";
  for (const Heading& heading : headings) {
    std::string upper(heading.words);
    std::ranges::transform(upper, upper.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
    out += ".SH " + upper + "\n";
    for (const Verb& verb : verbs) {
      if (verb.is_hidden || verb.group != heading.group) continue;
      out += ".SS \"" + roff(usage_line(verb)) + "\"\n" + roff(verb.summary) + ".\n";
      if (!verb.detail.empty()) out += ".PP\n" + roff(verb.detail) + "\n";
      out += man_options(verb.options);
      out +=
          ".PP\nExample:\n.PP\n.nf\n.RS\n" + roff(example_lines(verb.example, "")) + ".RE\n.fi\n";
    }
  }
  out += ".SH OPTIONS OF EVERY VERB\n" + man_options(common_options());
  out += ".SH EXIT STATUS\n" + roff(exit_text);
  out +=
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBPERDURE_HOME\\fR\nThe data folder.\n"
      ".TP\n\\fBPERDURE_HOST\\fR, \\fBPERDURE_TOKEN\\fR\nA daemon elsewhere, and its token.\n"
      ".TP\n\\fBPERDURE_CONFIG\\fR\nThe config file.\n"
      ".TP\n\\fBNO_COLOR\\fR\nSet: nothing is printed in colour.\n";
  return out;
}

}  // namespace perdure::cli
