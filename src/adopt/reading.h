// Shared by all readers: JSON lines, some of which may be damaged, and turns that grow piece by
// piece. Texts are cut to the limit here, so that readers need not do it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adopt/native_session.h"
#include "base/json/json_view.h"

namespace perdure::adopt {

// Iterates over lines of JSON objects. Other lines are counted and skipped.
class Lines {
 public:
  explicit Lines(std::string_view bytes) : rest_(bytes) {}

  // The next object, valid for as long as the bytes are; nothing at the end.
  std::optional<JsonView> next();
  const Loss& loss() const { return loss_; }

 private:
  void lose(std::string_view why);

  std::string_view rest_;
  std::uint64_t line_ = 0;
  Loss loss_;
};

// Builds a session's turns.
class TurnBuilder {
 public:
  explicit TurnBuilder(NativeSession& session) : session_(session) {}

  // Ends the previous turn: as completed if its last piece was a text.
  void prompt(Timestamp at, std::string text);
  // A piece before the first prompt belongs to no turn and is dropped.
  void add(Piece piece);
  void say(PieceKind kind, Timestamp at, std::string text);
  void end(TurnEnd how, std::string why = {});
  // Call once after the last line.
  void finish();

 private:
  Turn* open();

  NativeSession& session_;
};

// RFC 3339, or milliseconds since 1970; otherwise the epoch.
Timestamp read_time(JsonView value);
// A command, a path or a pattern from a tool's arguments, otherwise their JSON.
std::string read_input(JsonView arguments);
// The texts of an array of blocks `{type, text}` or of parts `{text}`, or a plain string.
std::string read_text(JsonView content);
// The beginning of the prompt, on one line.
std::string title_of(std::string_view prompt);
// The text begins with a tag that programs use for text that no person typed.
bool is_machine_text(std::string_view text);

}  // namespace perdure::adopt
