// Turns records into terminal rows. Returned rows are final; rows that may still change (an
// incomplete line, a running tool) are kept separately and redrawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "client/json_view.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/markdown.h"
#include "perdure/terminal/style.h"
#include "perdure/verbs/session_brief.h"

namespace perdure::cli {

// Mentions of a tool call that are kept for a question about it.
inline constexpr std::size_t tool_updates_max = 64;

// What somebody who looks elsewhere would want to be called back for.
enum class Notice { needs_input, finished, failed, stalled };

// Where open questions are shown: in the rows, or apart from them by the caller. In the latter case
// a question becomes a row with its answer, and its tool is not shown separately.
enum class OpenQuestions { in_rows, apart };

class TranscriptView {
 public:
  TranscriptView(Style style, std::size_t cells, OpenQuestions questions = OpenQuestions::in_rows)
      : style_(style), cells_(cells), open_questions_(questions), markdown_(style) {}

  // One record as served.
  void add(JsonView record);
  // Starts over: all records follow again from the first.
  void reset();
  void set_cells(std::size_t cells) { cells_ = cells; }

  // Final rows since the last call.
  std::vector<std::string> take_rows();
  // The last rows that may still change, at most this many.
  std::vector<std::string> open_rows(std::size_t rows_max) const;
  std::vector<Notice> take_notices();

  // According to the records; a state frame may be newer.
  const std::deque<Question>& questions() const { return questions_; }
  bool is_running() const { return !run_.empty(); }
  const std::string& run() const { return run_; }
  bool is_cancelling() const { return is_cancelling_; }
  const std::string& title() const { return title_; }
  const std::string& mode() const { return mode_; }
  // Used share of the context window, in percent; 0: unknown.
  std::uint64_t used_percent() const { return used_percent_; }
  // How the last run ended: completed, failed, cancelled, interrupted; empty: none has ended.
  const std::string& last_end() const { return last_end_; }

  // What a question asks for, as the daemon shows it.
  void add_details(const std::string& permission, JsonView details);

  // A message of this program, as a rule across the screen.
  void add_rule(Ink ink, std::string_view words);

 private:
  enum class Speaker { nobody, agent, thought };
  struct Tool {
    std::string id;
    std::string title;
    std::string kind;
    std::string status;
    std::string input;
    std::string text;
    std::vector<std::string> updates;  // what a question about it may leave out
    std::vector<std::string> diff_rows;
    std::size_t added = 0;
    std::size_t removed = 0;
  };

  bool add_message(std::string_view kind, JsonView record);
  bool add_tool_record(std::string_view kind, JsonView record);
  bool add_run_record(std::string_view kind, JsonView record);
  bool add_wait_record(std::string_view kind, JsonView record);
  bool add_session_record(std::string_view kind, JsonView record);

  void speak(Speaker speaker, std::string_view text);
  void end_speech();
  void add_speech_line(std::string_view line);
  std::vector<std::string> speech_rows(std::string_view line) const;
  void add_user(std::string_view text, std::string_view note);
  void add_row(Ink ink, std::string_view mark, std::string_view text);
  void update_tool(JsonView record);
  void read_diffs(Tool& tool, JsonView content);
  void settle(const Tool& tool, std::string_view outcome);
  void settle_all(std::string_view outcome);
  void end_run(std::string_view end);
  void resolve(JsonView record);
  void add_question(const Question& question);
  Asked asked_of(JsonView record) const;

  Style style_;
  std::size_t cells_;
  OpenQuestions open_questions_;
  Markdown markdown_;
  TextCleaner cleaner_;
  Speaker speaker_ = Speaker::nobody;
  std::string line_;  // incomplete line, cleaned
  std::vector<std::string> rows_;
  std::deque<Tool> tools_;  // running tools, oldest first
  std::deque<Question> questions_;
  std::vector<Notice> notices_;
  std::string run_;
  std::string title_;
  std::string mode_;
  std::string last_end_;
  std::uint64_t used_percent_ = 0;
  bool is_cancelling_ = false;
};

}  // namespace perdure::cli
