// Gemini: a log of changes to a list of messages (one JSON document in older versions). A repeated
// message replaces the one with the same id; a rewind removes everything after a message.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "adopt/native_session.h"
#include "adopt/reading.h"

namespace perdure::adopt {
namespace {

class GeminiReader {
 public:
  explicit GeminiReader(const NativeFile& file) : file_(file), turns_(session_) {}

  Result<NativeSession> read() {
    if (const auto whole = JsonView::read(file_.bytes); whole && (*whole)["messages"].is_array()) {
      take_head(*whole);
      replace(whole->operator[]("messages"));
    } else {
      Lines lines(file_.bytes);
      while (const auto line = lines.next()) take(*line);
      session_.loss = lines.loss();
    }
    if (session_.id.empty()) return fail(Code::invalid_argument, "this is not a chat of Gemini");
    if (is_main_) {
      for (const JsonView message : messages_) tell(message);
    }
    turns_.finish();
    return std::move(session_);
  }

 private:
  void take_head(JsonView head) {
    session_.id = head["sessionId"].text();
    session_.cwd = file_.cwd;
    const std::string kind = head["kind"].text();
    is_main_ = kind.empty() || kind == "main";
  }

  void take(JsonView line) {
    if (line["sessionId"].is_string()) return take_head(line);
    if (const JsonView set = line["$set"]; set.is_object()) {
      if (set["messages"].is_array()) replace(set["messages"]);
      if (set["summary"].is_string()) session_.title = title_of(set["summary"].text());
      return;
    }
    if (const std::string back = line["$rewindTo"].text(); !back.empty()) return rewind(back);
    if (line["id"].is_string()) upsert(line);
  }

  void replace(JsonView messages) {
    messages_.clear();
    places_.clear();
    for (const JsonView message : messages.items()) upsert(message);
  }

  void upsert(JsonView message) {
    const auto [at, is_new] = places_.try_emplace(message["id"].text(), messages_.size());
    if (is_new) {
      messages_.push_back(message);
    } else {
      messages_[at->second] = message;
    }
  }

  // Removes the message itself too: it is sent again.
  void rewind(const std::string& id) {
    const auto at = places_.find(id);
    if (at == places_.end()) return;
    messages_.resize(at->second);
    std::erase_if(places_, [&](const auto& place) { return place.second >= messages_.size(); });
  }

  void tell(JsonView message) {
    const std::string type = message["type"].text();
    const Timestamp at = read_time(message["timestamp"]);
    std::string text = read_text(message["content"]);
    if (type == "user" && !is_machine_text(text)) turns_.prompt(at, std::move(text));
    if (type == "error") turns_.end(TurnEnd::failed, text);
    if (type != "gemini") return;
    for (const JsonView thought : message["thoughts"].items()) {
      std::string words = thought["subject"].text();
      if (!words.empty()) words += ": ";
      turns_.say(PieceKind::thought, at, words + thought["description"].text());
    }
    turns_.say(PieceKind::text, at, std::move(text));
    for (const JsonView call : message["toolCalls"].items()) tell_call(call, at);
  }

  void tell_call(JsonView call, Timestamp at) {
    const std::string id = call["id"].text();
    turns_.add({.kind = PieceKind::tool_call,
                .at = at,
                .text = {},
                .tool_call_id = id,
                .tool = call["name"].text(),
                .input = read_input(call["args"])});
    const std::string status = call["status"].text();
    if (status != "success" && status != "error" && status != "cancelled") return;
    std::string output;
    for (const JsonView part : call["result"].items()) {
      const JsonView response = part["functionResponse"]["response"];
      output += response["output"].text() + response["error"].text();
    }
    turns_.add({.kind = PieceKind::tool_result,
                .at = at,
                .text = std::move(output),
                .tool_call_id = id,
                .has_failed = status != "success"});
  }

  const NativeFile& file_;
  NativeSession session_;
  TurnBuilder turns_;
  std::vector<JsonView> messages_;
  std::map<std::string, std::size_t> places_;
  bool is_main_ = true;
};

}  // namespace

Result<NativeSession> read_gemini(const NativeFile& file) { return GeminiReader(file).read(); }

}  // namespace perdure::adopt
