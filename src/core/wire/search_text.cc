#include "core/wire/search_text.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "core/views/transcript.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

// Output that arrives in pieces is a separate text from the one with its tool's name.
constexpr std::string_view output_key = "output ";

struct Words {
  SearchPiece& piece;

  void operator()(const SessionCreated& event) const { piece.parts[0] = event.title; }
  void operator()(const SessionRenamed& event) const { piece.parts[0] = event.title; }
  void operator()(const MessageUser& event) const { piece.parts[0] = event.prompt.text; }
  void operator()(const Plan& event) const { piece.parts[0] = event.text; }
  void operator()(const PermissionRequested& event) const { piece.parts[0] = event.title; }
  void operator()(const MessageAgent& event) const { stream("agent", event); }
  void operator()(const MessageThought& event) const { stream("thought", event); }
  void operator()(const ToolCall& event) const {
    tool(event);
    piece.begins = true;
  }
  void operator()(const ToolUpdate& event) const {
    piece.kind = ToolCall::kind_text;
    if (event.added.empty() || !(event.title + event.input + event.text).empty()) {
      tool(event);
      piece.parts[2] += event.added;
      return;
    }
    piece.key = std::string(output_key) + event.tool_call_id;
    piece.parts[0] = event.added;
  }
  void operator()(const auto&) const {}

  void stream(std::string_view key, const auto& event) const {
    piece.key = key;
    piece.name = event.message;
    piece.parts[0] = event.text;
  }
  void tool(const auto& event) const {
    piece.key = "tool " + event.tool_call_id;
    piece.replaces = true;
    piece.parts = {event.title, event.input, event.text};
  }
};

TextsEnd ended_by(FoldClass fold) {
  if (fold == FoldClass::segment) return TextsEnd::all;
  return fold == FoldClass::flush ? TextsEnd::streams : TextsEnd::none;
}

}  // namespace

std::optional<SearchPiece> search_piece(std::string_view record) {
  const Result<DecodedRecord> decoded = decode_record(record);
  if (!decoded || decoded->redacted) return std::nullopt;
  SearchPiece piece{.ends = ended_by(fold_class(decoded->record)),
                    .kind = std::string(event_kind(decoded->record.event)),
                    .at = decoded->record.event.at};
  visit(Words{piece}, decoded->record.event.body);
  if (piece.ends == TextsEnd::none && piece.bytes() == 0) return std::nullopt;
  return piece;
}

void TextFolder::close(TextsEnd which) {
  if (which == TextsEnd::none) return;
  for (SearchText& text : texts_) {
    if (which == TextsEnd::all || text.is_stream) text.is_open = false;
  }
}

std::optional<std::size_t> TextFolder::open_with(std::string_view key) const {
  const auto found = std::ranges::find_if(
      texts_, [&](const SearchText& text) { return text.is_open && text.key == key; });
  if (key.empty() || found == texts_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - texts_.begin());
}

// Thoughts and words of one message are two texts with the position of the earlier one.
std::size_t TextFolder::begin(std::uint64_t seq, const SearchPiece& piece) {
  SearchText text{.seq = seq,
                  .first = seq,
                  .kind = piece.kind,
                  .at = piece.at,
                  .key = piece.key,
                  .is_stream = !piece.key.empty() && !piece.replaces,
                  .is_open = !piece.key.empty()};
  const auto is_said = [](const SearchText& one) {
    return one.is_stream && !one.key.starts_with(output_key);
  };
  for (const SearchText& other : texts_) {
    if (is_said(text) && is_said(other) && other.is_open) text.seq = std::min(seq, other.seq);
  }
  texts_.push_back(std::move(text));
  return texts_.size() - 1;
}

std::optional<TextFolder::Placed> TextFolder::add(std::uint64_t seq, const SearchPiece& piece) {
  close(piece.ends);
  if (piece.bytes() == 0) return std::nullopt;
  std::optional<std::size_t> found = open_with(piece.key);
  if (found) {
    SearchText& open = texts_[*found];
    if (open.is_stream && !open.name.empty() && !piece.name.empty() && open.name != piece.name) {
      close(TextsEnd::streams);
    }
    if (piece.begins) open.is_open = false;
    if (!open.is_open) found.reset();
  }
  Placed placed{.index = found.value_or(0), .is_new = !found};
  // A stream that has become too long continues in another text of the same message.
  if (found && texts_[*found].is_stream && texts_[*found].bytes >= search_text_bytes_max) {
    placed = {.index = begin(seq, piece), .is_new = true};
    texts_[*found].is_open = false;
  } else if (!found) {
    placed.index = begin(seq, piece);
  }
  SearchText& text = texts_[placed.index];
  text.last = seq;
  text.bytes += piece.bytes();
  if (!piece.name.empty()) text.name = piece.name;
  return placed;
}

void TextsInMemory::add(std::uint64_t seq, const SearchPiece& piece) {
  const std::optional<TextFolder::Placed> placed = folder_.add(seq, piece);
  if (!placed) return;
  parts_.resize(folder_.texts().size());
  std::map<std::uint64_t, std::string>& parts = parts_[placed->index];
  if (!piece.replaces) {
    parts[seq] += piece.parts[0];
    return;
  }
  for (std::size_t i = 0; i < piece.parts.size(); ++i) {
    if (!piece.parts[i].empty()) parts[i] = piece.parts[i] + "\n";
  }
}

std::vector<TextsInMemory::Text> TextsInMemory::take() {
  std::vector<Text> out;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Text& text = out.emplace_back(Text{.about = folder_.texts()[i], .words = {}});
    for (const auto& [number, part] : parts_[i]) text.words += part;
  }
  return out;
}

}  // namespace perdure
