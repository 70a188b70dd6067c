// A session as another program left it, in neutral form: prompts with what the agent did for each.
// Readers make it out of bytes, the writer makes a journal of it; neither knows the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace perdure::adopt {

enum class PieceKind { text, thought, tool_call, tool_result, compacted };

// One thing that the agent said or did.
struct Piece {
  PieceKind kind = PieceKind::text;
  Timestamp at;
  std::string text;          // what was said; of a result: the tool's output
  std::string tool_call_id;  // of a call and of its result
  std::string tool;          // of a call: the name that the program has for it
  std::string input;         // of a call: a command or a path if there is one, else its JSON
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

// What of the file could not be read. The rest is given.
struct Loss {
  std::uint64_t lines = 0;
  std::string why;  // of the first one
  bool operator==(const Loss&) const = default;
};

struct NativeSession {
  std::string id;   // the program's own: what its resume and load take
  std::string cwd;  // empty: the file does not tell
  std::string title;
  std::vector<Turn> turns;
  Loss loss;

  Timestamp first() const { return turns.empty() ? Timestamp{} : turns.front().at; }
  Timestamp last() const;
};

// A file and what its place tells: the readers see nothing else.
struct NativeFile {
  std::string_view bytes;
  std::string_view name;  // without folder
  std::string_view cwd;   // as a file beside it tells; empty: none does
};

// Each takes any bytes. invalid_argument: nothing in there is of that program; a file without a
// prompt gives a session without turns.
Result<NativeSession> read_claude(const NativeFile& file);
Result<NativeSession> read_codex(const NativeFile& file);
Result<NativeSession> read_gemini(const NativeFile& file);
Result<NativeSession> read_qwen(const NativeFile& file);
Result<NativeSession> read_copilot(const NativeFile& file);
// What rows of its database are as lines: `{"session":…}`, then `{"message":…}` and `{"part":…}`
// in the order of their ids, each with the columns that matter.
Result<NativeSession> read_opencode(const NativeFile& file);

}  // namespace perdure::adopt
