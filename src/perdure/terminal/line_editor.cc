#include "perdure/terminal/line_editor.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

bool is_blank(std::string_view text) { return std::ranges::all_of(text, is_space); }

}  // namespace

std::optional<std::string> LineEditor::press(const Key& key) {
  if (key.kind != Key::Kind::enter) {
    edit(key);
    return std::nullopt;
  }
  if (is_blank(text_)) {
    clear();
    return std::nullopt;
  }
  std::string sent = std::exchange(text_, {});
  if (history_.empty() || history_.back() != sent) history_.push_back(sent);
  if (history_.size() > prompt_history_max) history_.pop_front();
  clear();
  return sent;
}

void LineEditor::clear() {
  text_.clear();
  cursor_ = 0;
  place_ = history_.size();
  unsent_.clear();
}

void LineEditor::edit(const Key& key) {
  switch (key.kind) {
    case Key::Kind::text:
    case Key::Kind::paste: insert(key.text); break;
    case Key::Kind::newline: insert("\n"); break;
    case Key::Kind::backspace: remove(before(cursor_), cursor_); break;
    case Key::Kind::remove: remove(cursor_, behind(cursor_)); break;
    case Key::Kind::remove_word: remove(word_before(cursor_), cursor_); break;
    case Key::Kind::left: cursor_ = before(cursor_); break;
    case Key::Kind::right: cursor_ = behind(cursor_); break;
    case Key::Kind::word_left: cursor_ = word_before(cursor_); break;
    case Key::Kind::word_right: cursor_ = word_behind(cursor_); break;
    case Key::Kind::home: cursor_ = line_begin(cursor_); break;
    case Key::Kind::end: cursor_ = line_end(cursor_); break;
    case Key::Kind::up: vertical(-1); break;
    case Key::Kind::down: vertical(1); break;
    case Key::Kind::control:
      if (!key.text.empty()) control(key.text[0]);
      break;
    case Key::Kind::enter:
    case Key::Kind::page_up:
    case Key::Kind::page_down:
    case Key::Kind::back_tab:
    case Key::Kind::escape: break;
  }
}

void LineEditor::control(char letter) {
  switch (letter) {
    case 'a': cursor_ = line_begin(cursor_); break;
    case 'e': cursor_ = line_end(cursor_); break;
    case 'b': cursor_ = before(cursor_); break;
    case 'f': cursor_ = behind(cursor_); break;
    case 'd': remove(cursor_, behind(cursor_)); break;
    case 'h': remove(before(cursor_), cursor_); break;
    case 'p': recall(-1); break;
    case 'n': recall(1); break;
    case 'y': insert(killed_); break;
    case 'i': insert("    "); break;
    case 'w': {
      const std::size_t from = word_before(cursor_);
      killed_ = text_.substr(from, cursor_ - from);
      remove(from, cursor_);
      break;
    }
    case 'u': {
      const std::size_t from = line_begin(cursor_);
      killed_ = text_.substr(from, cursor_ - from);
      remove(from, cursor_);
      break;
    }
    case 'k': {
      const std::size_t to = line_end(cursor_);
      killed_ = text_.substr(cursor_, to - cursor_);
      remove(cursor_, to);
      break;
    }
    default: break;
  }
}

void LineEditor::insert(std::string_view text) {
  if (text_.size() + text.size() > prompt_line_bytes_max) return;
  std::string clean(text);
  for (std::size_t at = 0; (at = clean.find('\t', at)) != std::string::npos; at += 4) {
    clean.replace(at, 1, "    ");
  }
  text_.insert(cursor_, clean);
  cursor_ += clean.size();
}

void LineEditor::remove(std::size_t from, std::size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
}

// Up and down move between the lines of the text, and beyond its first and last line into the
// history.
void LineEditor::vertical(int by) {
  const std::size_t begin = line_begin(cursor_);
  const std::size_t end = line_end(cursor_);
  if ((by < 0 && begin == 0) || (by > 0 && end == text_.size())) {
    recall(by);
    return;
  }
  const std::string_view text = text_;
  const std::size_t column = text_width(text.substr(begin, cursor_ - begin));
  const std::size_t other = by < 0 ? line_begin(begin - 1) : end + 1;
  cursor_ = other + fit(text.substr(other, line_end(other) - other), column).size();
}

void LineEditor::recall(int by) {
  if (by < 0 ? place_ == 0 : place_ >= history_.size()) return;
  if (place_ >= history_.size()) unsent_ = text_;
  place_ = by < 0 ? std::min(place_, history_.size()) - 1 : place_ + 1;
  text_ = place_ < history_.size() ? history_[place_] : unsent_;
  cursor_ = text_.size();
}

std::size_t LineEditor::before(std::size_t at) const {
  if (at == 0) return 0;
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80);
  return at;
}

std::size_t LineEditor::behind(std::size_t at) const {
  return at >= text_.size() ? at : at + character_bytes(std::string_view(text_).substr(at));
}

std::size_t LineEditor::word_before(std::size_t at) const {
  while (at > 0 && is_space(text_[at - 1])) --at;
  while (at > 0 && !is_space(text_[at - 1])) --at;
  return at;
}

std::size_t LineEditor::word_behind(std::size_t at) const {
  while (at < text_.size() && is_space(text_[at])) ++at;
  while (at < text_.size() && !is_space(text_[at])) ++at;
  return at;
}

std::size_t LineEditor::line_begin(std::size_t at) const {
  if (at == 0) return 0;
  const std::size_t newline = text_.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t LineEditor::line_end(std::size_t at) const {
  return std::min(text_.find('\n', at), text_.size());
}

LineEditor::Layout LineEditor::layout(std::size_t cells) const {
  cells = std::max<std::size_t>(cells, 2);
  Layout out;
  out.rows.emplace_back();
  std::size_t width = 0;
  for (std::size_t at = 0;;) {
    if (width >= cells) {
      out.rows.emplace_back();
      width = 0;
    }
    if (at == cursor_) {
      out.row = out.rows.size() - 1;
      out.column = width;
    }
    if (at == text_.size()) return out;
    const std::size_t bytes = character_bytes(std::string_view(text_).substr(at));
    if (text_[at] == '\n') {
      out.rows.emplace_back();
      width = 0;
    } else {
      const std::string_view character = std::string_view(text_).substr(at, bytes);
      const std::size_t wide = character_width(decode_character(character));
      if (width + wide > cells) {
        out.rows.emplace_back();
        width = 0;
      }
      out.rows.back() += character;
      width += wide;
    }
    at += bytes;
  }
}

}  // namespace perdure::cli
