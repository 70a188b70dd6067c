// Qwen Code: one line per entry, with the parts sent to and received from the model.
#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

class QwenReader {
 public:
  explicit QwenReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    Lines lines(file_.bytes);
    while (const auto entry = lines.next()) take(*entry);
    if (session_.id.empty()) return fail(Code::invalid_argument, "this is not a chat of Qwen Code");
    turns_.finish();
    session_.loss = lines.loss();
    return std::move(session_);
  }

 private:
  void take(JsonView entry) {
    if (!entry["sessionId"].is_string() || !entry["uuid"].is_string()) return;
    session_.id = entry["sessionId"].text();
    if (session_.cwd.empty()) session_.cwd = entry["cwd"].text();
    const std::string type = entry["type"].text();
    const Timestamp at = read_time(entry["timestamp"]);
    const JsonView parts = entry["message"]["parts"];
    if (type == "user") {
      std::string text = read_text(parts);
      const std::string from = entry["provenance"].text();
      const bool is_typed = from.empty() || from == "real_user";
      if (is_typed && !is_machine_text(text)) turns_.prompt(at, std::move(text));
    }
    if (type == "assistant") take_assistant(parts, at);
    if (type == "tool_result") take_results(entry, at);
    if (type == "system") take_system(entry, at);
  }

  void take_system(JsonView entry, Timestamp at) {
    const std::string subtype = entry["subtype"].text();
    if (subtype == "chat_compression") turns_.add({.kind = PieceKind::compacted, .at = at});
    if (subtype != "custom_title") return;
    const std::string title = entry["systemPayload"]["customTitle"].text();
    if (!title.empty()) session_.title = title;
  }

  void take_assistant(JsonView parts, Timestamp at) {
    for (const JsonView part : parts.items()) {
      const PieceKind kind = part["thought"].flag() ? PieceKind::thought : PieceKind::text;
      turns_.say(kind, at, part["text"].text());
      const JsonView call = part["functionCall"];
      if (!call.is_object()) continue;
      turns_.add({.kind = PieceKind::tool_call,
                  .at = at,
                  .text = {},
                  .tool_call_id = call["id"].text(),
                  .tool = call["name"].text(),
                  .input = read_input(call["args"])});
    }
  }

  void take_results(JsonView entry, Timestamp at) {
    const bool has_failed = entry["toolCallResult"]["status"].text() != "success";
    for (const JsonView part : entry["message"]["parts"].items()) {
      const JsonView response = part["functionResponse"];
      if (!response.is_object()) continue;
      turns_.add(
          {.kind = PieceKind::tool_result,
           .at = at,
           .text = response["response"]["output"].text() + response["response"]["error"].text(),
           .tool_call_id = response["id"].text(),
           .has_failed = has_failed});
    }
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
};

}  // namespace

Result<NativeSession> read_qwen(const NativeFile& file) { return QwenReader(file).read(); }

}  // namespace perdure::adopt
