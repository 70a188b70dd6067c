// Codex: a rollout file. It holds the items of the conversation as sent to the model, and events
// that tell how a turn ended.
#include <array>

#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

class CodexReader {
 public:
  explicit CodexReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    Lines lines(file_.bytes);
    while (const auto line = lines.next()) take(*line);
    if (session_.id.empty()) return fail(Code::invalid_argument, "this is not a rollout of Codex");
    turns_.finish();
    session_.loss = lines.loss();
    return std::move(session_);
  }

 private:
  void take(JsonView line) {
    const std::string type = line["type"].text();
    const JsonView payload = line["payload"];
    const Timestamp at = read_time(line["timestamp"]);
    if (type == "session_meta" && session_.id.empty()) {
      session_.id = payload["id"].text();
      session_.cwd = payload["cwd"].text();
      // A thread started by another one is part of that one.
      is_subagent_ = payload["source"]["subagent"].is_there();
    }
    if (is_subagent_) return;
    if (type == "response_item") take_item(payload, at);
    if (type == "event_msg") take_event(payload);
    if (type == "compacted") turns_.add({.kind = PieceKind::compacted, .at = at});
  }

  void take_event(JsonView event) {
    const std::string type = event["type"].text();
    if (type == "turn_aborted") turns_.end(TurnEnd::cancelled);
    if (type == "error") turns_.end(TurnEnd::failed, event["message"].text());
    if (type == "task_complete") turns_.end(TurnEnd::completed);
  }

  void take_item(JsonView item, Timestamp at) {
    const std::string type = item["type"].text();
    if (type == "message") return take_message(item, at);
    if (type == "reasoning") {
      return turns_.say(PieceKind::thought, at, read_text(item["summary"]));
    }
    if (type.ends_with("_call")) return take_call(item, at);
    if (!type.ends_with("_call_output")) return;
    const JsonView output = item["output"];
    std::string text = output.is_object() ? output["content"].text() : read_text(output);
    turns_.add({.kind = PieceKind::tool_result,
                .at = at,
                .text = std::move(text),
                .tool_call_id = item["call_id"].text(),
                .has_failed = output["success"].raw() == "false"});
  }

  void take_message(JsonView item, Timestamp at) {
    const std::string role = item["role"].text();
    std::string text = read_text(item["content"]);
    if (role == "assistant") turns_.say(PieceKind::text, at, std::move(text));
    if (role == "user" && !is_machine_text(text)) turns_.prompt(at, std::move(text));
  }

  void take_call(JsonView item, Timestamp at) {
    Piece piece{.kind = PieceKind::tool_call,
                .at = at,
                .text = {},
                .tool_call_id = item["call_id"].text(),
                .tool = item["name"].text(),
                .input = {}};
    if (piece.tool.empty()) piece.tool = item["type"].text();
    if (piece.tool_call_id.empty()) piece.tool_call_id = item["id"].text();
    const std::string arguments = item["arguments"].text();
    if (const auto read = JsonView::read(arguments); read && read->is_object()) {
      piece.input = read_input(*read);
    } else if (item["input"].is_string()) {
      piece.input = item["input"].text();
    } else {
      piece.input = read_input(item["action"]);
    }
    if (!piece.tool_call_id.empty()) turns_.add(std::move(piece));
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
  bool is_subagent_ = false;
};

}  // namespace

Result<NativeSession> read_codex(const NativeFile& file) { return CodexReader(file).read(); }

}  // namespace perdure::adopt
