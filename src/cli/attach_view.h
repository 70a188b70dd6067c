// The attached view without its terminal: records, keys and time in; bytes and wishes out. Rows
// scroll up into the terminal's own scrollback; below them a few rows are drawn again and again.
// No key answers a question unless the prompt line is empty and the question has been there to be
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/keys.h"
#include "cli/line_editor.h"
#include "cli/session_brief.h"
#include "cli/style.h"
#include "cli/transcript_view.h"
#include "client/api.h"
#include "client/json_view.h"

namespace perdure::cli {

struct ScreenSize {
  std::size_t cells = 80;
  std::size_t rows = 24;
};

// What the user wants done.
struct AttachWish {
  enum class Kind { send, answer, cancel_run, detach };
  Kind kind = Kind::send;
  std::string text;        // send: the prompt
  std::string permission;  // answer
  std::string option;      // answer
  bool operator==(const AttachWish&) const = default;
};

class AttachView {
 public:
  AttachView(Style style, ScreenSize size)
      : style_(style), size_(size), view_(style, size.cells, OpenQuestions::apart) {}

  // The session as it is. Records up to the first one's seq are replay: they ring no bell.
  void on_state(JsonView state, std::int64_t now_ms);
  void on_record(std::uint64_t seq, JsonView record, std::int64_t now_ms);
  void on_reset();
  void on_connection(client::Connection connection);
  void on_key(const Key& key, std::int64_t now_ms);
  void on_resize(ScreenSize size);
  // Something to tell, in one row above the rest.
  void note(Ink ink, std::string_view text);
  // An answer was refused: the question can be answered again.
  void on_answer_refused() { answering_.clear(); }

  // What to write to the terminal now; empty when nothing changed.
  std::string take_output();
  // Leaves the screen as it is, with the cursor below.
  std::string finish();
  std::vector<AttachWish> take_wishes();

 private:
  bool answer(const Key& key, std::int64_t now_ms);
  void on_control_c(std::int64_t now_ms);
  void choose(const Question& question, const QuestionOption* option);
  // The question that a key would answer; null when there is none.
  const Question* question() const;
  void note_question(std::int64_t now_ms);
  void ring(Notice notice);

  std::vector<std::string> question_rows() const;
  std::string status_words() const;
  std::string status_row() const;
  // Puts the rows that stay below the final ones, and says where the cursor goes.
  struct Live {
    std::vector<std::string> rows;
    std::size_t cursor_row = 0;
    std::size_t cursor_column = 0;
  };
  Live live() const;
  std::string erase_live() const;

  Style style_;
  ScreenSize size_;
  TranscriptView view_;
  LineEditor editor_;
  SessionBrief session_;
  std::vector<AttachWish> wishes_;
  std::string bells_;
  std::uint64_t replay_until_ = 0;
  bool has_state_ = false;
  bool is_open_ = false;
  bool is_changed_ = true;
  bool is_over_ = false;
  std::string asked_;                 // the permission that the first question is of
  std::int64_t asked_ms_ = 0;         // when it came to be the first
  std::int64_t key_ms_ = -1'000'000;  // of the last key
  std::int64_t control_c_ms_ = -1'000'000;
  std::string answering_;           // the permission that an answer is under way for
  std::vector<std::size_t> drawn_;  // widths of the rows that are drawn below
  std::size_t drawn_cursor_row_ = 0;
};

}  // namespace perdure::cli
