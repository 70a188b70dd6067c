#include "daemon/api/json/markdown.h"

#include <algorithm>
#include <string_view>

namespace perdure {
namespace {

// A fence that the text cannot close.
std::string fenced(std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string out = fence + "\n";
  out += text;
  if (!text.ends_with('\n')) out += '\n';
  return out + fence + "\n\n";
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void add_message(std::string& out, const TranscriptMessage& message) {
  switch (message.role) {
    case MessageRole::user: out += "## User\n\n"; break;
    case MessageRole::assistant: out += "## Agent\n\n"; break;
    case MessageRole::tool_call: out += "### Tool: " + one_line(message.title) + "\n\n"; break;
    case MessageRole::tool_result: out += "### Result\n\n"; break;
  }
  out += "*" + format_timestamp(message.at) + " · #" + std::to_string(message.first_seq) + "*\n\n";
  if (!message.thinking.empty()) out += "Thoughts:\n\n" + fenced(message.thinking);
  const bool is_tool =
      message.role == MessageRole::tool_call || message.role == MessageRole::tool_result;
  if (!message.content.empty()) out += is_tool ? fenced(message.content) : message.content + "\n\n";
  if (message.outcome == MessageOutcome::interrupted) out += "*(interrupted)*\n\n";
}

void add_answer(std::string& out, const QuestionAnswer& answer) {
  std::string words(enum_text(answer.outcome));
  if (answer.outcome == PermissionOutcome::selected) {
    words = one_line(answer.option_name.empty() ? answer.option_id : answer.option_name);
  }
  const bool is_rule = answer.by.starts_with("rule:");
  const std::string by = is_rule ? "the rule " + answer.by.substr(5) : answer.by;
  out += "### Answer: " + words + (by.empty() ? "" : " (by " + by + ")") + "\n\n";
  out += "*" + format_timestamp(answer.at) + " · #" + std::to_string(answer.seq) + "*\n\n";
}

}  // namespace

std::string transcript_markdown(const SessionView& view,
                                std::span<const TranscriptMessage> messages,
                                std::span<const QuestionAnswer> answers) {
  std::string out = "# " + one_line(view.title.empty() ? view.session.text() : view.title) + "\n\n";
  out += "Session " + view.session.text() + ", agent " + view.agent + ", as of record " +
         std::to_string(view.seq) + ".\n\n";
  for (const TranscriptMessage& message : messages) {
    while (!answers.empty() && answers.front().seq < message.first_seq) {
      add_answer(out, answers.front());
      answers = answers.subspan(1);
    }
    add_message(out, message);
  }
  for (const QuestionAnswer& answer : answers) add_answer(out, answer);
  return out;
}

}  // namespace perdure
