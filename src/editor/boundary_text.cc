#include "editor/boundary_text.h"

#include <utility>

#include "base/json/json.h"

namespace perdure::face {

std::string boundary_text(client::JsonView record) {
  const std::string how = record["how"].text();
  const std::string with_history = "It gets the earlier conversation as text with the next prompt.";
  if (how == "handover") {
    return "Another agent, " + record["agent"].text() + ", takes over from here. " +
           (record["inject"].flag() ? with_history : "It does not know the earlier conversation.");
  }
  if (how == "injected" || (how == "fresh" && record["inject"].flag())) {
    return "The agent started fresh because its own session could not be resumed. " + with_history;
  }
  if (how == "fresh") return "The agent started fresh, without the earlier conversation.";
  if (how == "cleared") return "The agent has forgotten what was said before.";
  return {};
}

std::string boundary_meta(client::JsonView record) {
  JsonWriter out;
  out.begin_object().key("context").begin_object();
  for (const char* const key : {"how", "verified", "agent", "reason"}) {
    if (const std::string text = record[key].text(); !text.empty()) out.key(key).string(text);
  }
  out.key("inject").boolean(record["inject"].flag()).key("seq");
  out.number_unsigned(record["seq"].number()).end_object().end_object();
  return std::move(out).take();
}

std::string run_end_text(client::JsonView record) {
  if (record["kind"].text() == "run.failed") {
    const std::string message = record["message"].text();
    const std::string code = record["code"].text();
    std::string text = "The turn failed: " + (message.empty() ? code : message);
    if (const std::string at = record["reset_at"].text(); !at.empty())
      text += " (until " + at + ")";
    return text;
  }
  return "The turn was interrupted (" + record["reason"].text() +
         "). Nothing was sent again; send a prompt to continue.";
}

}  // namespace perdure::face
