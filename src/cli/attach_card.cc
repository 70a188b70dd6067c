// The card of an open question in the attached view. One list of rows: first the request, then the
// answers. If it does not fit the screen, the answers appear only after scrolling through the whole
// request.
#include <algorithm>
#include <utility>

#include "cli/answers.h"
#include "cli/attach_view.h"
#include "cli/clean_text.h"
#include "cli/width.h"

namespace perdure::cli {
namespace {

// The same as in attach_view.cc.
constexpr std::int64_t read_ms = 500;
constexpr std::size_t preview_rows_min = 3;

std::string option_range(const Question& question) {
  const std::size_t count = question.options.size();
  return count == 1 ? "1" : "1-" + std::to_string(count);
}

}  // namespace

bool AttachView::is_focused() const {
  return question() != nullptr && !focused_.empty() && focused_ == question()->permission;
}

// If the line has text, Tab inserts spaces, so that a habit of completing words answers nothing.
bool AttachView::wants_card(const Key& key) const {
  if (question() == nullptr) return false;
  if (key.kind == Key::Kind::back_tab) return true;
  return key.kind == Key::Kind::control && key.text == "i" && editor_.is_empty();
}

void AttachView::focus_card(std::int64_t now_ms) {
  const Question* first = question();
  if (now_ms - asked_ms_ < read_ms || now_ms - key_ms_ < read_ms || !first->answerable) return;
  focused_ = first->permission;
  if (!first->asked.is_read) wanted_.clear();
}

void AttachView::leave_card() {
  focused_.clear();
  chosen_.reset();
}

void AttachView::on_card_key(const Key& key) {
  if (answering_ == focused_) return;
  const auto page = static_cast<std::ptrdiff_t>(card_height());
  switch (key.kind) {
    case Key::Kind::escape:
    case Key::Kind::back_tab: leave_card(); return;
    case Key::Kind::control:
      if (key.text == "i" || key.text == "c") leave_card();
      return;
    case Key::Kind::page_up: scroll_card(-page); return;
    case Key::Kind::page_down: scroll_card(page); return;
    case Key::Kind::up: scroll_card(-1); return;
    case Key::Kind::down: scroll_card(1); return;
    case Key::Kind::enter: answer(); return;
    case Key::Kind::text: break;
    default: return;  // this includes pasted text
  }
  if (key.text == " ") {
    scroll_card(page);
  } else if (key.text.size() == 1 && key.text[0] >= '0' && key.text[0] <= '9') {
    choose_digit(key.text[0]);
  }
}

void AttachView::choose_digit(char digit) {
  const auto value = static_cast<std::size_t>(digit - '0');
  const std::size_t count = question()->options.size();
  // A second digit extends the first if there are that many answers.
  const std::size_t longer = chosen_ ? (*chosen_ + 1) * 10 + value : 0;
  if (longer > 0 && longer <= count) {
    choose(longer - 1);
  } else if (value >= 1 && value <= count) {
    choose(value - 1);
  }
}

void AttachView::choose(std::size_t option) {
  const Question& asked = *question();
  if (!is_read()) return;
  if (!asked.asked.question.is_whole && !asked.options[option].kind.starts_with("reject")) {
    note(Ink::yellow, "this question cannot be shown whole here: `perdure open` shows it");
    return;
  }
  chosen_ = option;
}

void AttachView::answer() {
  const Question& asked = *question();
  if (!is_read()) return scroll_card(static_cast<std::ptrdiff_t>(card_height()));
  if (!chosen_ || *chosen_ >= asked.options.size()) return;
  answering_ = asked.permission;
  wishes_.push_back({.kind = AttachWish::Kind::answer,
                     .text = {},
                     .permission = asked.permission,
                     .option = asked.options[*chosen_].id,
                     .digest = asked.digest});
}

void AttachView::scroll_card(std::ptrdiff_t by) {
  const std::size_t height = card_height();
  const auto last = static_cast<std::ptrdiff_t>(
      card_rows_.size() > height ? card_rows_.size() - height : std::size_t{0});
  // Two keys before the next redraw must not skip rows.
  const std::ptrdiff_t most = std::min(last, static_cast<std::ptrdiff_t>(card_seen_));
  const std::ptrdiff_t top = static_cast<std::ptrdiff_t>(card_top_) + by;
  card_top_ = static_cast<std::size_t>(std::clamp(top, std::ptrdiff_t{0}, most));
}

// Rows available to the card without its hint: the screen minus the status and prompt rows.
std::size_t AttachView::card_room() const {
  const std::size_t cells = std::max<std::size_t>(size_.cells, 20) - 1;
  const std::size_t prompt = std::min<std::size_t>(editor_.layout(cells - 2).rows.size(), 8);
  const std::size_t taken = prompt + 3;
  return size_.rows > taken ? size_.rows - taken : 1;
}

std::size_t AttachView::card_height() const {
  const std::size_t room = card_room();
  if (is_focused() || card_rows_.size() <= room) return std::min(room, card_rows_.size());
  return std::min(room, std::max(preview_rows_min, room / 2));
}

void AttachView::refresh_card() {
  const Question* first = question();
  if (first == nullptr) {
    card_rows_.clear();
    card_key_.clear();
    return;
  }
  const std::string key = first->permission + " " + std::to_string(size_.cells) + " " +
                          std::to_string(size_.rows) + " " + session_.cwd + "\n" + session_.title;
  const std::size_t cells = std::max<std::size_t>(size_.cells, 20) - 1;
  if (std::exchange(card_key_, key) != key) {
    // Another width wraps into other rows: start again from the top.
    card_top_ = 0;
    card_seen_ = 0;
    chosen_.reset();
    card_asked_ = asked_rows(style_, first->asked, where_of(session_, host_), cells);
  }
  card_rows_ = card_asked_;
  const std::vector<std::string> options = option_rows(style_, *first, cells, chosen_);
  card_rows_.insert(card_rows_.end(), options.begin(), options.end());
  if (!is_focused()) card_top_ = 0;
  scroll_card(0);
  if (card_top_ <= card_seen_) card_seen_ = std::max(card_seen_, card_top_ + card_height());
}

std::vector<std::string> AttachView::card_rows() const {
  if (question() == nullptr) return {};
  const auto begin = card_rows_.begin() + static_cast<std::ptrdiff_t>(card_top_);
  std::vector<std::string> rows(begin, begin + static_cast<std::ptrdiff_t>(card_height()));
  const std::size_t cells = std::max<std::size_t>(size_.cells, 20) - 1;
  rows.push_back(style_.paint(is_focused() ? Ink::yellow : Ink::dim, shorten(card_hint(), cells)));
  return rows;
}

std::string AttachView::card_hint() const {
  const Question& first = *question();
  const std::size_t more = view_.questions().size() - 1;
  const std::string others = more == 0 ? "" : " · " + std::to_string(more) + " more after this";
  if (answering_ == first.permission) return "  Sending the answer …";
  if (!first.answerable) return "  This question can no longer be answered." + others;
  if (is_focused()) return is_read() ? answer_hint(first) : scroll_hint();
  const std::string key = editor_.is_empty() ? "Tab" : "Shift-Tab";
  if (card_height() < card_rows_.size()) {
    return "  " + std::to_string(card_rows_.size() - card_height()) + " more rows. " + key +
           ": review" + others;
  }
  if (!editor_.is_empty()) return "  Shift-Tab: answer · Enter: send your text instead" + others;
  return "  Tab: answer" + others;
}

std::string AttachView::answer_hint(const Question& question) const {
  if (!chosen_) return "  " + option_range(question) + ": choose · Esc: back to the prompt";
  const std::string name = shorten(name_of(question.options[*chosen_]), 30);
  return "  Enter: answer \"" + name + "\" · Esc: back to the prompt";
}

std::string AttachView::scroll_hint() const {
  return "  Rows " + std::to_string(card_top_ + 1) + "-" +
         std::to_string(card_top_ + card_height()) + " of " + std::to_string(card_rows_.size()) +
         ". Space: read on · Esc: back to the prompt";
}

}  // namespace perdure::cli
