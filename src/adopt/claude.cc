// Claude Code: one line per entry, in chronological order. Skips entries of subagents and text that
// the program adds to the conversation. A rewound conversation keeps the abandoned part.
#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

constexpr std::string_view interrupted = "[Request interrupted by user";

class ClaudeReader {
 public:
  explicit ClaudeReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    Lines lines(file_.bytes);
    while (const auto entry = lines.next()) take(*entry);
    if (!is_claude_) return fail(Code::invalid_argument, "this is not a file of Claude Code");
    turns_.finish();
    session_.loss = lines.loss();
    if (!named_.empty()) session_.title = named_;
    // The id is the file's name, which the program looks for.
    constexpr std::string_view ending = ".jsonl";
    if (file_.name.ends_with(ending)) {
      session_.id = file_.name.substr(0, file_.name.size() - ending.size());
    }
    return std::move(session_);
  }

 private:
  void take(JsonView entry) {
    const std::string type = entry["type"].text();
    if (type == "summary") named_ = entry["summary"].text();
    if (type == "ai-title" && !has_own_title_) named_ = entry["aiTitle"].text();
    if (type == "custom-title") {
      named_ = entry["customTitle"].text();
      has_own_title_ = true;
    }
    const std::string id = entry["sessionId"].text();
    if (id.empty()) return;
    is_claude_ = true;
    session_.id = id;
    if (session_.cwd.empty()) session_.cwd = entry["cwd"].text();
    if (entry["isSidechain"].flag() || entry["isMeta"].flag()) return;
    const Timestamp at = read_time(entry["timestamp"]);
    if (type == "user" && !entry["isCompactSummary"].flag()) take_user(entry["message"], at);
    if (type == "assistant") take_assistant(entry, at);
    if (type == "system" && entry["subtype"].text() == "compact_boundary") {
      turns_.add({.kind = PieceKind::compacted, .at = at});
    }
  }

  void take_user(JsonView message, Timestamp at) {
    const JsonView content = message["content"];
    for (const JsonView block : content.items()) {
      if (block["type"].text() != "tool_result") continue;
      turns_.add({.kind = PieceKind::tool_result,
                  .at = at,
                  .text = read_text(block["content"]),
                  .tool_call_id = block["tool_use_id"].text(),
                  .has_failed = block["is_error"].flag()});
    }
    std::string text = read_text(content);
    if (text.starts_with(interrupted)) return turns_.end(TurnEnd::cancelled);
    if (!is_machine_text(text)) turns_.prompt(at, std::move(text));
  }

  void take_assistant(JsonView entry, Timestamp at) {
    const JsonView message = entry["message"];
    if (entry["isApiErrorMessage"].flag()) {
      return turns_.end(TurnEnd::failed, read_text(message["content"]));
    }
    for (const JsonView block : message["content"].items()) {
      const std::string type = block["type"].text();
      if (type == "text") turns_.say(PieceKind::text, at, block["text"].text());
      if (type == "thinking") turns_.say(PieceKind::thought, at, block["thinking"].text());
      if (type != "tool_use") continue;
      turns_.add({.kind = PieceKind::tool_call,
                  .at = at,
                  .text = {},
                  .tool_call_id = block["id"].text(),
                  .tool = block["name"].text(),
                  .input = read_input(block["input"])});
    }
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
  std::string named_;
  bool has_own_title_ = false;
  bool is_claude_ = false;
};

}  // namespace

Result<NativeSession> read_claude(const NativeFile& file) { return ClaudeReader(file).read(); }

}  // namespace perdure::adopt
