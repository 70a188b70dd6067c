#include "perdure/terminal/keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

constexpr std::string_view paste_begin = "\x1B[200~";
constexpr std::string_view paste_end = "\x1B[201~";
constexpr std::size_t sequence_bytes_max = 32;

struct Sequence {
  std::string_view text;  // after the escape character
  Key::Kind kind;
};
constexpr auto sequences = std::to_array<Sequence>({
    {"[A", Key::Kind::up},           {"[B", Key::Kind::down},
    {"[C", Key::Kind::right},        {"[D", Key::Kind::left},
    {"[Z", Key::Kind::back_tab},     {"[5~", Key::Kind::page_up},
    {"[6~", Key::Kind::page_down},   {"OA", Key::Kind::up},
    {"OB", Key::Kind::down},         {"OC", Key::Kind::right},
    {"OD", Key::Kind::left},         {"[H", Key::Kind::home},
    {"[F", Key::Kind::end},          {"OH", Key::Kind::home},
    {"OF", Key::Kind::end},          {"[1~", Key::Kind::home},
    {"[4~", Key::Kind::end},         {"[7~", Key::Kind::home},
    {"[8~", Key::Kind::end},         {"[3~", Key::Kind::remove},
    {"[1;5D", Key::Kind::word_left}, {"[1;5C", Key::Kind::word_right},
    {"[1;3D", Key::Kind::word_left}, {"[1;3C", Key::Kind::word_right},
});

// Length in bytes of the first character; 0 if it is incomplete.
std::size_t whole_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (text.size() < wanted && is_utf8(text.substr(0, 1)) == false) {
    const bool may_grow = std::ranges::all_of(
        text.substr(1), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
    if (lead >= 0xC2 && lead <= 0xF4 && may_grow) return 0;
  }
  return character_bytes(text);
}

}  // namespace

std::vector<Key> KeyReader::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> out;
  while (!pending_.empty() && take(out)) continue;
  return out;
}

std::vector<Key> KeyReader::flush() {
  std::vector<Key> out;
  if (in_paste_ || pending_.empty()) return out;
  if (pending_[0] == '\x1B') {
    pending_.erase(0, 1);
    out.push_back({Key::Kind::escape, ""});
    while (!pending_.empty() && take(out)) continue;
  }
  // The rest is the start of a sequence that never completed.
  pending_.clear();
  return out;
}

bool KeyReader::take(std::vector<Key>& out) {
  if (in_paste_) return take_paste(out);
  const char c = pending_[0];
  if (c == '\x1B') return take_escape(out);
  if (c == '\r' || c == '\n') {
    pending_.erase(0, 1);
    out.push_back({Key::Kind::enter, ""});
    return true;
  }
  if (c == '\x7F' || c == '\b') {
    pending_.erase(0, 1);
    out.push_back({Key::Kind::backspace, ""});
    return true;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    pending_.erase(0, 1);
    // 1 is Ctrl-A, 29 is Ctrl-].
    const char letter = static_cast<char>(c <= 26 ? c + 'a' - 1 : c + '@');
    out.push_back({Key::Kind::control, std::string(1, letter)});
    return true;
  }
  const std::size_t bytes = whole_character(pending_);
  if (bytes == 0) return false;
  std::string text = clean_typed(pending_.substr(0, bytes));
  pending_.erase(0, bytes);
  if (!text.empty()) out.push_back({Key::Kind::text, std::move(text)});
  return true;
}

bool KeyReader::take_escape(std::vector<Key>& out) {
  if (pending_.size() == 1) return false;
  const char next = pending_[1];
  if (next == '[' || next == 'O') return take_control_sequence(out);
  const auto alt = [&](Key::Kind kind) {
    pending_.erase(0, 2);
    out.push_back({kind, ""});
    return true;
  };
  if (next == '\r' || next == '\n') return alt(Key::Kind::newline);
  if (next == 'b') return alt(Key::Kind::word_left);
  if (next == 'f') return alt(Key::Kind::word_right);
  if (next == '\x7F' || next == '\b') return alt(Key::Kind::remove_word);
  pending_.erase(0, 1);
  out.push_back({Key::Kind::escape, ""});
  return true;
}

bool KeyReader::take_control_sequence(std::vector<Key>& out) {
  if (paste_begin.starts_with(pending_)) return false;
  if (pending_.starts_with(paste_begin)) {
    pending_.erase(0, paste_begin.size());
    in_paste_ = true;
    return true;
  }
  std::size_t end = 2;
  while (end < pending_.size() && !(pending_[end] >= 0x40 && pending_[end] <= 0x7E)) ++end;
  if (end >= pending_.size()) {
    if (pending_.size() < sequence_bytes_max) return false;
    pending_.clear();
    return true;
  }
  const std::string sequence = pending_.substr(1, end);
  pending_.erase(0, end + 1);
  for (const Sequence& known : sequences) {
    if (known.text == sequence) out.push_back({known.kind, ""});
  }
  return true;  // others are ignored
}

bool KeyReader::take_paste(std::vector<Key>& out) {
  const std::size_t end = pending_.find(paste_end);
  if (end == std::string::npos) {
    if (pending_.size() <= prompt_line_bytes_max + paste_end.size()) return false;
    in_paste_ = false;
    pending_.clear();
    return true;
  }
  std::string text = pending_.substr(0, end);
  pending_.erase(0, end + paste_end.size());
  in_paste_ = false;
  // Terminals send a carriage return for each newline.
  for (std::size_t at = 0; (at = text.find('\r', at)) != std::string::npos;) {
    if (at + 1 < text.size() && text[at + 1] == '\n') {
      text.erase(at, 1);
    } else {
      text[at] = '\n';
    }
  }
  out.push_back({Key::Kind::paste, clean_typed(text)});
  return true;
}

}  // namespace perdure::cli
