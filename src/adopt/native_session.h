// A session of another program in neutral form: prompts, and what the agent did for each. Readers
// make it from bytes, the writer makes a journal from it; they do not depend on each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace perdure::adopt {

enum class PieceKind { text, thought, tool_call, tool_result, compacted };

// One message or action of the agent.
struct Piece {
  PieceKind kind = PieceKind::text;
  Timestamp at;
  std::string text;          // the words; for a result: the tool's output
  std::string tool_call_id;  // of a call and its result
  std::string tool;          // of a call: the program's name for it
  std::string input;         // of a call: its command or path if any, otherwise its JSON
  bool has_failed = false;   // of a result
  bool operator==(const Piece&) const = default;
};

enum class TurnEnd { open, completed, cancelled, failed };

struct Turn {
  Timestamp at;
  std::string prompt;
  std::vector<Piece> pieces;
  TurnEnd end = TurnEnd::open;
  std::string why;  // of a failure
  bool operator==(const Turn&) const = default;
};

// The part of the file that could not be read. The rest is returned.
struct Loss {
  std::uint64_t lines = 0;
  std::string why;  // of the first one
  bool operator==(const Loss&) const = default;
};

struct NativeSession {
  std::string id;   // the program's own id, for its resume and load
  std::string cwd;  // empty: not in the file
  std::string title;
  std::vector<Turn> turns;
  Loss loss;

  Timestamp first() const { return turns.empty() ? Timestamp{} : turns.front().at; }
  Timestamp last() const;
};

// A file and what its location tells; the readers' only input.
struct NativeFile {
  std::string_view bytes;
  std::string_view name;  // without its folder
  std::string_view cwd;   // from a file next to it; empty: none
};

// Each accepts any bytes. invalid_argument: nothing in the file belongs to that program; a file
// without a prompt yields a session without turns.
Result<NativeSession> read_claude(const NativeFile& file);
Result<NativeSession> read_codex(const NativeFile& file);
Result<NativeSession> read_gemini(const NativeFile& file);
Result<NativeSession> read_qwen(const NativeFile& file);
Result<NativeSession> read_copilot(const NativeFile& file);
// Rows of its database as lines: `{"session":…}`, then `{"message":…}` and `{"part":…}` ordered by
// id, each with the relevant columns.
Result<NativeSession> read_opencode(const NativeFile& file);

}  // namespace perdure::adopt
