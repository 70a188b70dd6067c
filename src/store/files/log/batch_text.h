// A group of the commit log as text: one sealed line per change and, after an append's line, one
// line per record. Format: docs/protocol/files.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "store/store.h"

namespace perdure {

// A record as one line without its line break: the record itself if it is an object on one line,
// otherwise '=' and base64.
void append_line(std::string& out, std::string_view record);
Result<std::string> record_of_line(std::string_view line);

// One change as it was logged. Blobs appear as hashes only: their bytes are separate files.
struct LoggedChange {
  enum class Kind { append, remove, redact };
  Kind kind = Kind::append;
  Append append;        // for a removal, only the session
  Redaction redaction;  // for a redaction
  // The records after the line are damaged; append.records is empty and this is their number.
  std::optional<std::uint64_t> records_lost;
};

void append_change(std::string& body, const Append& batch);
void append_removal(std::string& body, SessionId session);
void append_redaction(std::string& body, const Redaction& redaction);

// Removes the next change from the front of `body`. `damaged` if its own line is damaged: then its
// session is unknown. If only its records are damaged, records_lost is set.
Result<LoggedChange> take_change(std::string_view& body);

// Rows as stored in logged changes and saved sessions.
void write_cursor(JsonWriter& json, const FrameCursor& cursor);
Result<FrameCursor> read_cursor(std::string_view raw);
void write_outbox_row(JsonWriter& json, const OutboxRow& row);
Result<OutboxRow> read_outbox_row(std::string_view raw);
void write_listing(JsonWriter& json, const Listing& listing);
Result<Listing> read_listing(std::string_view raw);
// The members of a stored answer; the caller writes the object around them.
void write_answer_members(JsonWriter& json, const StoredAnswer& answer);
Result<StoredAnswer> read_answer(const JsonObject& object);

}  // namespace perdure
