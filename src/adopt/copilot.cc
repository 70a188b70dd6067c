// Copilot: the events of one session, one per line.
#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

class CopilotReader {
 public:
  explicit CopilotReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    Lines lines(file_.bytes);
    while (const auto event = lines.next()) take(*event);
    if (session_.id.empty()) return fail(Code::invalid_argument, "this is not a Copilot session");
    turns_.finish();
    session_.loss = lines.loss();
    return std::move(session_);
  }

 private:
  void take(JsonView event) {
    const std::string type = event["type"].text();
    const JsonView told = event["data"];
    const Timestamp at = read_time(event["timestamp"]);
    if (type == "session.start") {
      session_.id = told["sessionId"].text();
      session_.cwd = told["context"]["cwd"].text();
    }
    if (type == "user.message") turns_.prompt(at, told["content"].text());
    if (type == "assistant.message") take_message(told, at);
    if (type == "session.error") turns_.end(TurnEnd::failed, told["message"].text());
    if (type == "abort") turns_.end(TurnEnd::cancelled);
    if (type == "session.compaction_complete") {
      turns_.add({.kind = PieceKind::compacted, .at = at});
    }
    if (type != "tool.execution_complete") return;
    const bool has_failed = !told["success"].flag();
    turns_.add({.kind = PieceKind::tool_result,
                .at = at,
                .text = told["result"]["content"].text() + told["error"]["message"].text(),
                .tool_call_id = told["toolCallId"].text(),
                .has_failed = has_failed});
  }

  void take_message(JsonView told, Timestamp at) {
    turns_.say(PieceKind::thought, at, told["reasoningText"].text());
    turns_.say(PieceKind::text, at, told["content"].text());
    for (const JsonView call : told["toolRequests"].items()) {
      turns_.add({.kind = PieceKind::tool_call,
                  .at = at,
                  .text = {},
                  .tool_call_id = call["toolCallId"].text(),
                  .tool = call["name"].text(),
                  .input = read_input(call["arguments"])});
    }
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
};

}  // namespace

Result<NativeSession> read_copilot(const NativeFile& file) { return CopilotReader(file).read(); }

}  // namespace perdure::adopt
