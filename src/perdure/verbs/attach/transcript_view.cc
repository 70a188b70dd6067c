#include "perdure/verbs/attach/transcript_view.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "perdure/terminal/diff.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

constexpr std::size_t output_rows_max = 6;    // rows shown of a tool's output
constexpr std::size_t diff_rows_max = 24;     // rows shown of a change
constexpr std::size_t line_bytes_max = 8192;  // of a line without an end; then it is broken

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Agents often wrap a tool's output in a fence; a terminal needs none.
std::vector<std::string_view> unfenced(std::vector<std::string_view> lines) {
  const bool is_block =
      lines.size() >= 2 && lines.front().starts_with("```") && lines.back() == "```";
  if (!is_block) return lines;
  return {lines.begin() + 1, lines.end() - 1};
}

}  // namespace

void TranscriptView::add(JsonView record) {
  const std::string kind = record["kind"].text();
  if (add_message(kind, record)) return;
  if (add_tool_record(kind, record)) return;
  if (add_run_record(kind, record)) return;
  if (add_wait_record(kind, record)) return;
  add_session_record(kind, record);
}

void TranscriptView::reset() { *this = TranscriptView(style_, cells_, open_questions_); }

std::vector<std::string> TranscriptView::take_rows() { return std::exchange(rows_, {}); }

std::vector<Notice> TranscriptView::take_notices() { return std::exchange(notices_, {}); }

bool TranscriptView::add_message(std::string_view kind, JsonView record) {
  if (kind == "message.agent") {
    speak(Speaker::agent, record["text"].text());
  } else if (kind == "message.thought") {
    speak(Speaker::thought, record["text"].text());
  } else if (kind == "message.user") {
    add_user(record["content"].text(), record["steered"].flag() ? "steered" : "");
  } else if (kind == "queue.added") {
    end_speech();
    // No run is active, so it runs next and appears once the agent is ready.
    if (!is_running()) return true;
    const char* const where = record["steer"].flag() ? "into the turn: " : "queued: ";
    add_row(Ink::dim, "⏳ ", where + clean_line(record["content"].text()));
  } else if (kind == "plan") {
    end_speech();
    add_row(Ink::bold, "", "Plan");
    const std::string text = clean_text(record["text"].text());
    for (const std::string_view line : lines_of(text)) add_row(Ink::dim, "  ", line);
  } else {
    return false;
  }
  return true;
}

void TranscriptView::speak(Speaker speaker, std::string_view text) {
  if (text.empty()) return;
  if (speaker_ != speaker) {
    end_speech();
    speaker_ = speaker;
    rows_.emplace_back();
  }
  line_ += cleaner_.add(text);
  std::size_t end = 0;
  while ((end = line_.find('\n')) != std::string::npos || line_.size() > line_bytes_max) {
    const bool is_whole = end != std::string::npos;
    const std::string_view all = line_;
    const std::string line(is_whole ? all.substr(0, end) : fit(all, line_bytes_max / 2));
    line_.erase(0, line.size() + (is_whole ? 1 : 0));
    add_speech_line(line);
  }
}

void TranscriptView::add_speech_line(std::string_view line) {
  const std::vector<std::string> rows =
      speaker_ == Speaker::thought ? speech_rows(line) : markdown_.line(line, cells_);
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

std::vector<std::string> TranscriptView::speech_rows(std::string_view line) const {
  if (speaker_ != Speaker::thought) return markdown_.partial(line, cells_);
  std::vector<std::string> rows = wrap(expand_tabs(line), cells_ > 12 ? cells_ - 2 : 10);
  for (std::string& row : rows) row = style_.paint(Ink::dim, "┆ " + row);
  return rows;
}

void TranscriptView::end_speech() {
  if (speaker_ == Speaker::nobody) return;
  if (!line_.empty()) add_speech_line(std::exchange(line_, {}));
  speaker_ = Speaker::nobody;
  cleaner_ = TextCleaner();
  markdown_.reset();
}

void TranscriptView::add_user(std::string_view text, std::string_view note) {
  end_speech();
  rows_.emplace_back();
  const std::string clean = clean_text(text);
  std::string mark = "❯ ";
  for (const std::string_view line : lines_of(clean.empty() ? "(no text)" : clean)) {
    for (const std::string& row : wrap(expand_tabs(line), cells_ > 12 ? cells_ - 2 : 10)) {
      rows_.push_back(style_.paint(Ink::bold, mark + row));
      mark = "  ";
    }
  }
  if (!note.empty()) add_row(Ink::dim, "  ", "(" + std::string(note) + ")");
}

void TranscriptView::add_row(Ink ink, std::string_view mark, std::string_view text) {
  const std::size_t used = text_width(mark);
  std::string lead(mark);
  for (const std::string& row : wrap(expand_tabs(text), cells_ > used + 10 ? cells_ - used : 10)) {
    rows_.push_back(style_.paint(ink, lead + row));
    lead = std::string(used, ' ');
  }
}

void TranscriptView::add_rule(Ink ink, std::string_view words) {
  end_speech();
  const std::string text = "── " + shorten(clean_line(words), cells_ > 8 ? cells_ - 8 : 1) + " ";
  std::string rule = text;
  for (std::size_t width = text_width(text); width + 1 < std::min<std::size_t>(cells_, 72);
       ++width) {
    rule += "─";
  }
  rows_.push_back(style_.paint(ink, rule));
}

bool TranscriptView::add_tool_record(std::string_view kind, JsonView record) {
  if (kind == "tool.call" || kind == "tool.update") {
    update_tool(record);
  } else if (kind == "repair.closed_tool") {
    const auto tool = std::ranges::find(tools_, record["tool_call_id"].text(), &Tool::id);
    if (tool == tools_.end()) return true;
    settle(*tool, "unknown");
    tools_.erase(tool);
  } else {
    return false;
  }
  return true;
}

void TranscriptView::update_tool(JsonView record) {
  end_speech();
  const std::string id = record["tool_call_id"].text();
  auto tool = std::ranges::find(tools_, id, &Tool::id);
  if (tool == tools_.end()) {
    if (tools_.size() >= tool_cards_max) tools_.pop_front();
    tools_.emplace_back().id = id;
    tool = tools_.end() - 1;
  }
  const auto take = [&](std::string& into, std::string_view name) {
    if (std::string text = record[name].text(); !text.empty()) into = std::move(text);
  };
  take(tool->title, "title");
  take(tool->kind, "tool_kind");
  take(tool->status, "status");
  take(tool->input, "input");
  take(tool->text, "text");
  tool->text += record["added"].text();
  const bool is_kept = open_questions_ == OpenQuestions::in_rows && record["update"].is_object() &&
                       tool->updates.size() < tool_updates_max;
  if (is_kept) tool->updates.emplace_back(record["update"].raw());
  read_diffs(*tool, record["update"]["content"]);
  if (tool->status == "completed" || tool->status == "failed" || tool->status == "cancelled") {
    settle(*tool, tool->status);
    tools_.erase(tool);
  }
}

void TranscriptView::read_diffs(Tool& tool, JsonView content) {
  std::vector<std::string> rows;
  std::size_t added = 0;
  std::size_t removed = 0;
  for (const JsonView block : content.items()) {
    if (block["type"].text() != "diff") continue;
    const std::string before = block["oldText"].text();
    const std::string after = block["newText"].text();
    const Diff diff = diff_of({.before = before, .after = after});
    added += diff.added;
    removed += diff.removed;
    rows.push_back(style_.paint(Ink::dim, "  " + clean_line(block["path"].text())));
    for (const std::string& row : render_diff(
             style_, diff, {.cells = cells_ > 12 ? cells_ - 4 : 10, .rows_max = diff_rows_max})) {
      rows.push_back("  " + row);
    }
  }
  if (rows.empty()) return;
  tool.diff_rows = std::move(rows);
  tool.added = added;
  tool.removed = removed;
}

void TranscriptView::settle(const Tool& tool, std::string_view outcome) {
  end_speech();
  std::string mark = style_.paint(Ink::green, "✓ ");
  if (outcome == "failed") mark = style_.paint(Ink::red, "✗ ");
  if (outcome == "cancelled") mark = style_.paint(Ink::yellow, "■ ");
  if (outcome == "unknown") mark = style_.paint(Ink::yellow, "? ");
  std::string title = clean_line(tool.title.empty() ? tool.kind : tool.title);
  if (title.empty()) title = clean_line(tool.id);
  std::string tail;
  if (tool.added + tool.removed > 0) {
    tail = " +" + std::to_string(tool.added) + " -" + std::to_string(tool.removed);
  }
  if (outcome == "unknown") tail += " (may or may not have acted)";
  if (outcome == "failed" || outcome == "cancelled") tail += " (" + std::string(outcome) + ")";
  const std::size_t room = cells_ > text_width(tail) + 12 ? cells_ - text_width(tail) - 2 : 10;
  rows_.push_back(mark + shorten(title, room) + style_.paint(Ink::dim, tail));
  if (!tool.diff_rows.empty()) {
    rows_.insert(rows_.end(), tool.diff_rows.begin(), tool.diff_rows.end());
    return;
  }
  const std::string text = clean_text(tool.text);
  const std::vector<std::string_view> lines = unfenced(lines_of(text));
  // Do not omit a single line: the row that says so takes as much room.
  const std::size_t first = lines.size() > output_rows_max + 1 ? lines.size() - output_rows_max : 0;
  if (first > 0) add_row(Ink::dim, "  ", "… " + std::to_string(first) + " lines before");
  for (std::size_t i = first; i < lines.size(); ++i) {
    const std::string line = expand_tabs(lines[i]);
    rows_.push_back(style_.paint(Ink::dim, "  " + shorten(line, cells_ > 12 ? cells_ - 2 : 10)));
  }
}

void TranscriptView::settle_all(std::string_view outcome) {
  for (const Tool& tool : std::exchange(tools_, {})) settle(tool, outcome);
}

std::vector<std::string> TranscriptView::open_rows(std::size_t rows_max) const {
  std::vector<std::string> rows;
  if (speaker_ != Speaker::nobody && !line_.empty()) rows = speech_rows(line_);
  for (const Tool& tool : tools_) {
    std::string title = clean_line(tool.title.empty() ? tool.kind : tool.title);
    if (title.empty()) title = clean_line(tool.id);
    const bool is_asked_for =
        std::ranges::find(questions_, tool.title, &Question::title) != questions_.end();
    if (open_questions_ == OpenQuestions::apart && is_asked_for) continue;
    const std::size_t room = cells_ > 16 ? cells_ - 4 : 12;
    rows.push_back(style_.paint(Ink::cyan, "◌ ") + shorten(title + "  " + tool.status, room));
  }
  if (rows.size() > rows_max) {
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(rows_max));
  }
  return rows;
}

}  // namespace perdure::cli
