#include "adopt/reading.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"

namespace perdure::adopt {
namespace {

constexpr std::size_t title_chars = 80;

std::string cut(std::string text) {
  if (text.size() <= adopt_text_bytes_max) return text;
  text.resize(utf8_prefix(text, adopt_text_bytes_max).size());
  return text + " […]";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Timestamp NativeSession::last() const {
  if (turns.empty()) return {};
  const Turn& turn = turns.back();
  return turn.pieces.empty() ? turn.at : std::max(turn.at, turn.pieces.back().at);
}

void Lines::lose(std::string_view why) {
  loss_.lines += 1;
  if (loss_.why.empty()) loss_.why = "line " + std::to_string(line_) + " " + std::string(why);
}

std::optional<JsonView> Lines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    const bool is_cut = end == std::string_view::npos;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(is_cut ? rest_.size() : end + 1);
    line_ += 1;
    if (is_blank(line)) continue;
    if (line.size() > adopt_line_bytes_max) {
      lose("is too long");
      continue;
    }
    const std::optional<JsonView> read = JsonView::read(line);
    if (read && read->is_object()) return read;
    lose(is_cut ? "was cut off" : "is damaged");
  }
  return std::nullopt;
}

Turn* TurnBuilder::open() {
  if (session_.turns.empty() || session_.turns.back().end != TurnEnd::open) return nullptr;
  return &session_.turns.back();
}

void TurnBuilder::prompt(Timestamp at, std::string text) {
  if (is_blank(text)) return;
  finish();
  if (Turn* const turn = open()) turn->end = TurnEnd::cancelled;  // abandoned without an answer
  if (session_.title.empty()) session_.title = title_of(text);
  session_.turns.push_back({.at = at, .prompt = cut(std::move(text)), .pieces = {}, .why = {}});
}

void TurnBuilder::add(Piece piece) {
  if (session_.turns.empty()) return;
  piece.text = cut(std::move(piece.text));
  piece.input = cut(std::move(piece.input));
  Turn& turn = session_.turns.back();
  // A piece after an end shows that the turn had not ended.
  if (turn.end == TurnEnd::completed) turn.end = TurnEnd::open;
  turn.pieces.push_back(std::move(piece));
}

void TurnBuilder::say(PieceKind kind, Timestamp at, std::string text) {
  if (is_blank(text)) return;
  add({.kind = kind, .at = at, .text = std::move(text)});
}

void TurnBuilder::end(TurnEnd how, std::string why) {
  Turn* const turn = open();
  if (!turn) return;
  turn->end = how;
  turn->why = cut(std::move(why));
}

void TurnBuilder::finish() {
  Turn* const turn = open();
  if (!turn || turn->pieces.empty()) return;
  const PieceKind last = turn->pieces.back().kind;
  if (last == PieceKind::text) turn->end = TurnEnd::completed;
}

Timestamp read_time(JsonView value) {
  if (!value.is_string()) return {value.signed_number()};
  return parse_timestamp(value.text()).value_or(Timestamp{});
}

std::string read_input(JsonView arguments) {
  for (const std::string_view key :
       {"command", "cmd", "file_path", "path", "filePath", "pattern", "query", "url", "prompt"}) {
    const JsonView value = arguments[key];
    if (value.is_string()) return value.text();
    if (!value.is_array()) continue;
    std::string words;
    for (const JsonView word : value.items()) words += (words.empty() ? "" : " ") + word.text();
    if (!words.empty()) return words;
  }
  return arguments.is_there() ? std::string(arguments.raw()) : std::string();
}

std::string read_text(JsonView content) {
  if (content.is_string()) return content.text();
  std::string out;
  for (const JsonView block : content.items()) {
    std::string text = block.is_string() ? block.text() : block["text"].text();
    if (block["thought"].flag()) continue;
    const std::string type = block["type"].text();
    if (text.empty() && (type == "image" || type == "input_image")) text = "[image]";
    if (text.empty()) continue;
    if (!out.empty()) out += '\n';
    out += text;
  }
  return out;
}

std::string title_of(std::string_view prompt) {
  prompt.remove_prefix(std::min(prompt.find_first_not_of(" \t\r\n"), prompt.size()));
  return std::string(utf8_prefix_chars(prompt.substr(0, prompt.find('\n')), title_chars));
}

bool is_machine_text(std::string_view text) {
  constexpr auto tags = std::to_array<std::string_view>(
      {"<session_context>", "<environment_context>", "<user_instructions>", "<turn_aborted>",
       "<permissions", "<skills_instructions>", "<system-reminder>", "<command-name>",
       "<command-message>", "<local-command-", "<bash-stdout>", "<bash-stderr>",
       "# AGENTS.md instructions"});
  return std::ranges::any_of(tags, [&](std::string_view tag) { return text.starts_with(tag); });
}

}  // namespace perdure::adopt
