#include "perdure/verbs/attach/attach_view.h"

#include <algorithm>
#include <utility>

#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

// Tab moves the keys to a question only if it has been shown this long and the keyboard was quiet
// as long. For the same time after the focused question disappears, keys are dropped.
constexpr std::int64_t read_ms = 500;
constexpr std::int64_t twice_ms = 2000;  // two Ctrl-C within this leave
constexpr std::size_t prompt_rows_max = 8;

constexpr std::string_view hide_cursor = "\x1B[?25l";
constexpr std::string_view show_cursor = "\x1B[?25h";
constexpr std::string_view erase_below = "\x1B[J";

std::string up(std::size_t rows) { return rows == 0 ? "" : "\x1B[" + std::to_string(rows) + "A"; }

bool is_control(const Key& key, char letter) {
  return key.kind == Key::Kind::control && key.text.size() == 1 && key.text[0] == letter;
}

}  // namespace

void AttachView::on_state(JsonView state, std::int64_t now_ms) {
  session_ = read_session(state);
  if (!std::exchange(has_state_, true)) replay_until_ = session_.seq;
  is_changed_ = true;
  note_question(now_ms);
}

void AttachView::on_record(std::uint64_t seq, JsonView record, std::int64_t now_ms) {
  view_.add(record);
  last_seq_ = seq;
  const std::vector<Notice> notices = view_.take_notices();
  if (seq > replay_until_) {
    for (const Notice notice : notices) ring(notice);
  }
  if (const std::string kind = record["kind"].text(); kind == "status.derived") {
    session_.status = record["status"].text();
  }
  note_question(now_ms);
  is_changed_ = true;
}

void AttachView::on_reset() {
  view_.reset();
  view_.add_rule(Ink::yellow, "the journal was replaced: following it from its beginning");
  has_state_ = false;
  last_seq_ = 0;
  wanted_.clear();
  is_changed_ = true;
  note_question(key_ms_);
}

void AttachView::on_connection(client::Connection connection) {
  is_open_ = connection == client::Connection::open;
  is_changed_ = true;
}

void AttachView::on_resize(ScreenSize size) {
  size_ = size;
  view_.set_cells(size.cells);
  is_changed_ = true;
}

void AttachView::note(Ink ink, std::string_view text) {
  view_.add_rule(ink, text);
  is_changed_ = true;
}

void AttachView::ring(Notice notice) {
  const std::string name = clean_line(view_.title().empty() ? session_.name() : view_.title());
  std::string words;
  switch (notice) {
    case Notice::needs_input: words = " needs an answer"; break;
    case Notice::finished: words = " has finished"; break;
    case Notice::failed: words = " has failed"; break;
    case Notice::stalled: words = " has gone quiet"; break;
  }
  bells_ += "\a\x1B]9;" + shorten(name, 60) + words + "\x1B\\";
}

const Question* AttachView::question() const {
  return view_.questions().empty() ? nullptr : &view_.questions().front();
}

void AttachView::note_question(std::int64_t now_ms) {
  const Question* first = question();
  const std::string permission = first == nullptr ? "" : first->permission;
  if (permission == asked_) return;
  // Keys typed for the question that disappeared must reach neither the next question nor the
  // prompt line.
  if (!focused_.empty()) left_ms_ = now_ms;
  leave_card();
  asked_ = permission;
  asked_ms_ = now_ms;
  card_rows_.clear();
  card_key_.clear();
  card_top_ = 0;
  card_seen_ = 0;
}

// Keys that were meant for what was shown before reach neither the card nor the prompt line.
void AttachView::on_details(const std::string& permission, JsonView details, std::int64_t now_ms) {
  view_.add_details(permission, details);
  is_changed_ = true;
  if (permission != asked_) return;
  if (!focused_.empty()) left_ms_ = now_ms;
  leave_card();
  asked_ms_ = now_ms;
  card_key_.clear();
}

// Not during a replay: most questions in it were answered long ago.
void AttachView::wish_details() {
  const Question* first = question();
  if (first == nullptr || first->asked.is_read || last_seq_ < replay_until_) return;
  if (std::exchange(wanted_, first->permission) == first->permission) return;
  wishes_.push_back({.kind = AttachWish::Kind::details, .permission = first->permission});
}

void AttachView::on_key(const Key& key, std::int64_t now_ms) {
  is_changed_ = true;
  if (is_control(key, ']') || (is_control(key, 'd') && editor_.is_empty())) {
    wishes_.push_back({.kind = AttachWish::Kind::detach});
    return;
  }
  if (is_focused()) {
    on_card_key(key);
    return;
  }
  if (is_control(key, 'c')) {
    on_control_c(now_ms);
    return;
  }
  if (wants_card(key)) {
    focus_card(now_ms);
    return;
  }
  if (now_ms - left_ms_ < read_ms) return;
  key_ms_ = now_ms;
  if (auto sent = editor_.press(key)) {
    wishes_.push_back({.kind = AttachWish::Kind::send, .text = std::move(*sent)});
  }
}

void AttachView::on_control_c(std::int64_t now_ms) {
  if (now_ms - std::exchange(control_c_ms_, now_ms) <= twice_ms) {
    wishes_.push_back({.kind = AttachWish::Kind::detach});
    return;
  }
  if (!editor_.is_empty()) {
    editor_.clear();
    return;
  }
  if (view_.is_running()) wishes_.push_back({.kind = AttachWish::Kind::cancel_run});
}

std::vector<AttachWish> AttachView::take_wishes() {
  wish_details();
  return std::exchange(wishes_, {});
}

std::string AttachView::status_words() const {
  if (!is_open_) return "reconnecting …";
  if (view_.is_cancelling()) return "cancelling";
  if (!view_.questions().empty()) return "waits for you";
  if (view_.is_running()) return "running";
  return session_.status == "running" ? "idle" : session_.status;
}

// The title and the state are always shown; the other parts only if there is room.
std::string AttachView::status_row() const {
  const std::string right =
      view_.is_running() && !is_focused() ? " ^C cancel  ^] detach" : " ^] detach";
  const std::size_t cells = std::max<std::size_t>(size_.cells, 20) - 1;
  const std::string status = " · " + status_words();
  const bool has_right = cells > text_width(right) + text_width(status) + 6;
  const std::size_t room = has_right ? cells - text_width(right) : cells;
  const std::string title = clean_line(view_.title().empty() ? session_.name() : view_.title());
  const std::size_t taken = text_width(status) + 2;
  std::string left = "─ " + shorten(title, room > taken + 1 ? room - taken : 1) + status;
  const auto add = [&](const std::string& part) {
    if (part.empty() || text_width(left) + 3 + text_width(part) > room) return;
    left += " · " + part;
  };
  add(clean_line(session_.agent));
  add(view_.mode());
  if (view_.used_percent() > 0) add("context " + std::to_string(view_.used_percent()) + "%");
  const std::string row = has_right ? pad(left, room) + right : shorten(left, cells);
  return style_.paint(is_open_ ? Ink::dim : Ink::yellow, row);
}

AttachView::Live AttachView::live() const {
  Live out;
  const std::size_t cells = std::max<std::size_t>(size_.cells, 20) - 1;
  LineEditor::Layout prompt = editor_.layout(cells - 2);
  // Of a long prompt, shows the part around the cursor.
  if (prompt.rows.size() > prompt_rows_max) {
    const std::size_t first = std::min(
        prompt.rows.size() - prompt_rows_max,
        prompt.row >= prompt_rows_max / 2 ? prompt.row - prompt_rows_max / 2 : std::size_t{0});
    prompt.rows = {prompt.rows.begin() + static_cast<std::ptrdiff_t>(first),
                   prompt.rows.begin() + static_cast<std::ptrdiff_t>(first + prompt_rows_max)};
    prompt.row -= first;
  }
  const std::vector<std::string> questions = card_rows();
  const std::size_t below = questions.size() + 1 + prompt.rows.size();
  const std::size_t room = size_.rows > below + 1 ? size_.rows - below - 1 : 1;
  // A row that is too wide would take two screen rows but be erased as one.
  for (const std::string& row : view_.open_rows(room)) {
    const std::vector<std::string> parts = wrap(row, cells);
    out.rows.insert(out.rows.end(), parts.begin(), parts.end());
  }
  out.rows.insert(out.rows.end(), questions.begin(), questions.end());
  out.rows.push_back(status_row());
  out.cursor_row = out.rows.size() + prompt.row;
  out.cursor_column = prompt.column + 2;
  for (std::size_t i = 0; i < prompt.rows.size(); ++i) {
    out.rows.push_back((i == 0 ? "❯ " : "  ") + prompt.rows[i]);
  }
  return out;
}

// After a resize one row may take several screen rows.
std::string AttachView::erase_live() const {
  std::size_t above = 0;
  const std::size_t cells = std::max<std::size_t>(size_.cells, 1);
  for (std::size_t i = 0; i < drawn_.size() && i < drawn_cursor_row_; ++i) {
    above += std::max<std::size_t>(1, (drawn_[i] + cells - 1) / cells);
  }
  return drawn_.empty() ? std::string() : "\r" + up(above) + std::string(erase_below);
}

std::string AttachView::take_output() {
  if (!std::exchange(is_changed_, false) || is_over_) return std::exchange(bells_, {});
  std::string out(hide_cursor);
  out += erase_live();
  for (const std::string& row : view_.take_rows()) out += row + "\r\n";
  refresh_card();
  const Live area = live();
  drawn_.clear();
  for (std::size_t i = 0; i < area.rows.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += area.rows[i];
    drawn_.push_back(text_width(area.rows[i]));
  }
  drawn_cursor_row_ = area.cursor_row;
  out += "\r" + up(area.rows.size() - 1 - area.cursor_row);
  if (area.cursor_column > 0) out += "\x1B[" + std::to_string(area.cursor_column) + "C";
  out += show_cursor;
  out += std::exchange(bells_, {});
  return out;
}

std::string AttachView::finish() {
  if (std::exchange(is_over_, true)) return {};
  std::string out = erase_live();
  for (const std::string& row : view_.take_rows()) out += row + "\r\n";
  for (const std::string& row : view_.open_rows(size_.rows)) out += row + "\r\n";
  out += show_cursor;
  return out;
}

}  // namespace perdure::cli
