#include "testing/sequence.h"

#include <charconv>
#include <optional>
#include <string>

namespace perdure::testagent {
namespace {

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

struct Marker {
  std::uint64_t prompt = 0;
  std::uint64_t number = 0;
  bool is_end = false;
};

// Requires that the text begins with "<p".
std::optional<Marker> take_marker(std::string_view& text) {
  if (!take(text, "<p")) return std::nullopt;
  Marker marker;
  const auto prompt = take_number(text);
  if (!prompt || !take(text, ":")) return std::nullopt;
  marker.prompt = *prompt;
  marker.is_end = take(text, "end=");
  const auto number = take_number(text);
  if (!number || !take(text, ">")) return std::nullopt;
  marker.number = *number;
  return marker;
}

}  // namespace

Result<std::map<std::uint64_t, SeenTurn>> read_sequence(std::string_view text) {
  std::map<std::uint64_t, SeenTurn> turns;
  for (std::size_t at = text.find("<p"); at != std::string_view::npos; at = text.find("<p")) {
    text.remove_prefix(at);
    const std::string shown(text.substr(0, 24));
    const auto marker = take_marker(text);
    if (!marker) return fail(Code::damaged, "half a marker: " + shown);
    if (!turns.empty() && marker->prompt < turns.rbegin()->first) {
      return fail(Code::damaged, "an earlier prompt again: " + shown);
    }
    SeenTurn& turn = turns[marker->prompt];
    if (turn.ended) return fail(Code::damaged, "behind the end: " + shown);
    if (marker->is_end && marker->number != turn.chunks) {
      return fail(Code::damaged, std::to_string(turn.chunks) + " chunks came before " + shown);
    }
    if (!marker->is_end && marker->number != turn.chunks + 1) {
      return fail(Code::damaged, "after chunk " + std::to_string(turn.chunks) + " came " + shown);
    }
    turn.ended = marker->is_end;
    if (!marker->is_end) turn.chunks += 1;
  }
  return turns;
}

}  // namespace perdure::testagent
