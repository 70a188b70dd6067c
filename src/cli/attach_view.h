// The attached view without its terminal: takes records, keys and time; returns bytes and wishes.
// Rows scroll up into the terminal's scrollback; a few rows below them are redrawn. Keys go to the
// prompt line. Tab moves them to the card of an open question; they answer it only there, and only
// after the whole question has been on the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// An action that the user requested.
struct AttachWish {
  enum class Kind { send, answer, cancel_run, detach, details };
  Kind kind = Kind::send;
  std::string text;         // send: the prompt
  std::string permission;   // answer, details
  std::string option;       // answer
  std::string digest = {};  // answer: of the question that was shown
  bool operator==(const AttachWish&) const = default;
};

class AttachView {
 public:
  AttachView(Style style, ScreenSize size)
      : style_(style), size_(size), view_(style, size.cells, OpenQuestions::apart) {}

  // The session's current state. Records up to the first state's seq are replay and ring no bell.
  void on_state(JsonView state, std::int64_t now_ms);
  void on_record(std::uint64_t seq, JsonView record, std::int64_t now_ms);
  void on_reset();
  void on_connection(client::Connection connection);
  void on_key(const Key& key, std::int64_t now_ms);
  void on_resize(ScreenSize size);
  // A notice in one row above the rest.
  void note(Ink ink, std::string_view text);
  // The daemon rejected an answer: the question can be answered again.
  void on_answer_refused() { answering_.clear(); }
  // What was wished for as `details`.
  void on_details(const std::string& permission, JsonView details, std::int64_t now_ms);
  // The daemon's host, when it is not this machine.
  void set_host(std::string host) { host_ = std::move(host); }

  // Bytes to write to the terminal now; empty if nothing changed.
  std::string take_output();
  // Leaves the screen as it is and puts the cursor below.
  std::string finish();
  std::vector<AttachWish> take_wishes();

 private:
  void on_control_c(std::int64_t now_ms);
  // The question whose card is shown; null if there is none.
  const Question* question() const;
  void note_question(std::int64_t now_ms);
  void wish_details();
  void ring(Notice notice);

  // The card of the question: the request, and the answers below it.
  bool is_focused() const;
  bool wants_card(const Key& key) const;
  void focus_card(std::int64_t now_ms);
  void leave_card();
  void on_card_key(const Key& key);
  void choose(std::size_t option);
  void choose_digit(char digit);
  void answer();
  // True only if the whole question has been shown.
  bool is_read() const { return !card_rows_.empty() && card_seen_ >= card_rows_.size(); }
  void scroll_card(std::ptrdiff_t by);
  void refresh_card();
  std::size_t card_room() const;
  std::size_t card_height() const;
  std::vector<std::string> card_rows() const;
  std::string card_hint() const;
  std::string answer_hint(const Question& question) const;
  std::string scroll_hint() const;
  std::string status_words() const;
  std::string status_row() const;
  // Draws the rows that stay below the final ones, and positions the cursor.
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
  std::string host_;
  std::string focused_;                  // the permission whose card has the keys
  std::optional<std::size_t> chosen_;    // of its options
  std::vector<std::string> card_asked_;  // the rows of what is asked
  std::vector<std::string> card_rows_;   // these, and the answers
  std::string card_key_;                 // what card_asked_ were made of
  std::size_t card_top_ = 0;             // the first of them that is shown
  std::size_t card_seen_ = 0;            // that many of them were shown, from the first on
  std::int64_t left_ms_ = -1'000'000;    // when a question that had the keys went away
  std::string asked_;                    // the permission that the first question is of
  std::string wanted_;                   // the permission whose details were wished for
  std::uint64_t last_seq_ = 0;           // of the last record
  std::int64_t asked_ms_ = 0;            // when it came to be the first
  std::int64_t key_ms_ = -1'000'000;     // of the last key
  std::int64_t control_c_ms_ = -1'000'000;
  std::string answering_;           // permission with an answer under way
  std::vector<std::size_t> drawn_;  // widths of the rows drawn below
  std::size_t drawn_cursor_row_ = 0;
};

}  // namespace perdure::cli
