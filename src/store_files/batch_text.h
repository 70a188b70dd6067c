// What a group of the commit log holds, as text: for each change a sealed line, and behind that of
// an append its records, a line each. docs/protocol/files.md is the description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "store/store.h"

namespace perdure {

// A record as a line of a file, without the line break: itself where it is an object on one line,
// else '=' and base64.
void append_line(std::string& out, std::string_view record);
Result<std::string> record_of_line(std::string_view line);

// One change as it was logged. Of blobs there are hashes only: their bytes are files of their own.
struct LoggedChange {
  enum class Kind { append, remove, redact };
  Kind kind = Kind::append;
  Append append;        // of a removal only the session
  Redaction redaction;  // of a redaction
  // The records behind the line are damaged; append.records is empty and this says how many there
  // were.
  std::optional<std::uint64_t> records_lost;
};

void append_change(std::string& body, const Append& batch);
void append_removal(std::string& body, SessionId session);
void append_redaction(std::string& body, const Redaction& redaction);

// Takes the next change off the front of `body`. `damaged` when its own line is: then nobody knows
// whose it was. A change whose records alone are damaged comes with records_lost.
Result<LoggedChange> take_change(std::string_view& body);

// Rows, as logged changes and saved sessions have them.
void write_cursor(JsonWriter& json, const FrameCursor& cursor);
Result<FrameCursor> read_cursor(std::string_view raw);
void write_outbox_row(JsonWriter& json, const OutboxRow& row);
Result<OutboxRow> read_outbox_row(std::string_view raw);
void write_listing(JsonWriter& json, const Listing& listing);
Result<Listing> read_listing(std::string_view raw);
// The members of a stored answer; the object around them is the caller's.
void write_answer_members(JsonWriter& json, const StoredAnswer& answer);
Result<StoredAnswer> read_answer(const JsonObject& object);

}  // namespace perdure
