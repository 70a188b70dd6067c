// OpenCode keeps sessions in a database. The caller opens it and passes its rows as lines, so that
// this reader is as pure as the others.
#include <map>
#include <string>

#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

class OpencodeReader {
 public:
  explicit OpencodeReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    Lines lines(file_.bytes);
    while (const auto row = lines.next()) take(*row);
    if (session_.id.empty()) return fail(Code::invalid_argument, "this is not an OpenCode session");
    turns_.finish();
    session_.loss = lines.loss();
    return std::move(session_);
  }

 private:
  void take(JsonView row) {
    if (const JsonView session = row["session"]; session.is_object()) {
      session_.id = session["id"].text();
      session_.cwd = session["directory"].text();
      session_.title = session["title"].text();
    }
    if (const JsonView message = row["message"]; message.is_object()) {
      const JsonView told = message["data"];
      roles_[message["id"].text()] = told["role"].text();
      if (told["error"].is_object()) failures_[message["id"].text()] = told["error"];
    }
    if (const JsonView part = row["part"]; part.is_object()) take_part(part);
  }

  void take_part(JsonView part) {
    const std::string message = part["message_id"].text();
    const JsonView told = part["data"];
    const std::string type = told["type"].text();
    const Timestamp at = read_time(part["time_created"]);
    const bool is_typed = roles_[message] == "user";
    if (is_typed && type == "text" && !told["synthetic"].flag()) {
      return turns_.prompt(at, told["text"].text());
    }
    if (is_typed) return;
    if (type == "text") turns_.say(PieceKind::text, at, told["text"].text());
    if (type == "reasoning") turns_.say(PieceKind::thought, at, told["text"].text());
    if (type == "tool") take_tool(told, at);
    if (type == "compaction") turns_.add({.kind = PieceKind::compacted, .at = at});
    const auto failure = failures_.find(message);
    if (failure == failures_.end()) return;
    const bool was_cancelled = failure->second["name"].text() == "MessageAbortedError";
    turns_.end(was_cancelled ? TurnEnd::cancelled : TurnEnd::failed,
               failure->second["data"]["message"].text());
  }

  void take_tool(JsonView told, Timestamp at) {
    const JsonView state = told["state"];
    turns_.add({.kind = PieceKind::tool_call,
                .at = at,
                .text = {},
                .tool_call_id = told["callID"].text(),
                .tool = told["tool"].text(),
                .input = read_input(state["input"])});
    const std::string status = state["status"].text();
    if (status != "completed" && status != "error") return;
    turns_.add({.kind = PieceKind::tool_result,
                .at = at,
                .text = state["output"].text() + state["error"].text(),
                .tool_call_id = told["callID"].text(),
                .has_failed = status == "error"});
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
  std::map<std::string, std::string> roles_;  // of messages, by id
  std::map<std::string, JsonView> failures_;
};

}  // namespace

Result<NativeSession> read_opencode(const NativeFile& file) { return OpencodeReader(file).read(); }

}  // namespace perdure::adopt
