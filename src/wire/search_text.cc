#include "wire/search_text.h"

#include "wire/record.h"

namespace perdure {
namespace {

struct Words {
  std::string operator()(const SessionCreated& event) const { return event.title; }
  std::string operator()(const SessionRenamed& event) const { return event.title; }
  std::string operator()(const MessageUser& event) const { return event.prompt.text; }
  std::string operator()(const MessageAgent& event) const { return event.text; }
  std::string operator()(const MessageThought& event) const { return event.text; }
  std::string operator()(const Plan& event) const { return event.text; }
  std::string operator()(const ToolCall& event) const {
    return event.title + "\n" + event.input + "\n" + event.text;
  }
  std::string operator()(const ToolUpdate& event) const {
    return event.title + "\n" + event.input + "\n" + event.text + event.added;
  }
  std::string operator()(const PermissionRequested& event) const { return event.title; }
  std::string operator()(const auto&) const { return {}; }
};

}  // namespace

std::optional<std::string> search_text(std::string_view record) {
  const Result<DecodedRecord> decoded = decode_record(record);
  if (!decoded || decoded->redacted) return std::nullopt;
  std::string words = visit(Words{}, decoded->record.event.body);
  if (words.find_first_not_of(" \n") == std::string::npos) return std::nullopt;
  return words;
}

}  // namespace perdure
