#include "store/files/log/batch_text.h"

#include "base/bytes/base64.h"
#include "base/bytes/crc32c.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr char coded_mark = '=';

std::unexpected<Error> wrong_change(std::string_view what) {
  return fail(Code::damaged, "a change of the commit log: " + std::string(what));
}

// The first line without its line break; absent if no line is complete.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

void write_rows(JsonWriter& json, const Append& batch) {
  if (batch.cursor) write_cursor(json.key("cursor"), *batch.cursor);
  if (!batch.outbox_add.empty()) {
    json.key("outbox_add").begin_array();
    for (const OutboxRow& row : batch.outbox_add) write_outbox_row(json, row);
    json.end_array();
  }
  if (!batch.outbox_done.empty()) {
    json.key("outbox_done").begin_array();
    for (const std::uint64_t number : batch.outbox_done) json.number_unsigned(number);
    json.end_array();
  }
  if (!batch.answers.empty()) {
    json.key("answers").begin_array();
    for (const StoredAnswer& answer : batch.answers) {
      json.begin_object();
      write_answer_members(json, answer);
      json.end_object();
    }
    json.end_array();
  }
  if (!batch.refs.empty()) {
    json.key("refs").begin_array();
    for (const std::string& ref : batch.refs) json.string(ref);
    json.end_array();
  }
  if (!batch.blobs.empty() || !batch.blob_refs.empty()) {
    json.key("blobs").begin_array();
    for (const Blob& blob : batch.blobs) json.string(blob.hash.hex());
    for (const Hash& hash : batch.blob_refs) json.string(hash.hex());
    json.end_array();
  }
  if (batch.listing) write_listing(json.key("listing"), *batch.listing);
  if (batch.snapshot) write_bytes(json, {.key = "snapshot", .bytes = *batch.snapshot});
}

template <class Read>
Result<> for_elements(const JsonObject& object, std::string_view key, Read read) {
  const std::string_view raw = object.find(key);
  if (raw.empty()) return {};
  for (const std::string_view element : TRY(json_elements(raw))) TRY_VOID(read(element));
  return {};
}

Result<> read_rows(const JsonObject& object, Append& batch) {
  if (const std::string_view raw = object.find("cursor"); !raw.empty()) {
    batch.cursor = TRY(read_cursor(raw));
  }
  TRY_VOID(for_elements(object, "outbox_add", [&](std::string_view raw) -> Result<> {
    batch.outbox_add.push_back(TRY(read_outbox_row(raw)));
    return {};
  }));
  TRY_VOID(for_elements(object, "outbox_done", [&](std::string_view raw) -> Result<> {
    batch.outbox_done.push_back(TRY(json_uint(raw)));
    return {};
  }));
  TRY_VOID(for_elements(object, "answers", [&](std::string_view raw) -> Result<> {
    batch.answers.push_back(TRY(read_answer(TRY(JsonObject::parse(raw)))));
    return {};
  }));
  TRY_VOID(for_elements(object, "refs", [&](std::string_view raw) -> Result<> {
    batch.refs.push_back(TRY(json_string(raw)));
    return {};
  }));
  TRY_VOID(for_elements(object, "blobs", [&](std::string_view raw) -> Result<> {
    batch.blob_refs.push_back(TRY(Hash::parse_hex(TRY(json_string(raw)))));
    return {};
  }));
  if (const std::string_view raw = object.find("listing"); !raw.empty()) {
    batch.listing = TRY(read_listing(raw));
  }
  if (!object.find("snapshot").empty() || !object.find("snapshot_base64").empty()) {
    batch.snapshot = TRY(read_bytes(object, "snapshot"));
  }
  return {};
}

// Parses the record lines, whose checksum was right.
Result<> read_records(std::string_view lines, std::vector<std::string>& records) {
  while (const auto line = take_line(lines)) records.push_back(TRY(record_of_line(*line)));
  return {};
}

Result<LoggedChange> read_redaction(const JsonObject& object) {
  LoggedChange change{.kind = LoggedChange::Kind::redact};
  change.redaction.session = TRY(SessionId::parse(TRY(json_string(object.find("redact")))));
  change.redaction.seq = TRY(json_uint(object.find("seq")));
  change.redaction.replacement = TRY(read_bytes(object, "replacement"));
  TRY_VOID(for_elements(object, "blobs", [&](std::string_view raw) -> Result<> {
    change.redaction.blobs.push_back(TRY(Hash::parse_hex(TRY(json_string(raw)))));
    return {};
  }));
  change.append.session = change.redaction.session;
  return change;
}

Result<LoggedChange> read_append(const JsonObject& object, std::string_view& body) {
  LoggedChange change;
  change.append.session = TRY(SessionId::parse(TRY(json_string(object.find("session")))));
  change.append.expected_head = TRY(json_uint(object.find("head")));
  TRY_VOID(read_rows(object, change.append));
  const std::uint64_t count = TRY(json_uint(object.find("records")));
  const std::uint64_t bytes = TRY(json_uint(object.find("bytes")));
  const std::string sum = TRY(json_string(object.find("sum")));
  if (bytes > body.size()) return wrong_change("its records are cut off");
  const std::string_view lines = body.substr(0, bytes);
  body.remove_prefix(bytes);
  const bool is_whole = crc_text(crc32c(lines)) == sum &&
                        read_records(lines, change.append.records).has_value() &&
                        change.append.records.size() == count;
  if (is_whole) return change;
  change.append.records.clear();
  change.records_lost = count;
  return change;
}

Result<LoggedChange> read_change(const JsonObject& object, std::string_view& body) {
  if (const std::string_view raw = object.find("remove"); !raw.empty()) {
    LoggedChange change{.kind = LoggedChange::Kind::remove};
    change.append.session = TRY(SessionId::parse(TRY(json_string(raw))));
    return change;
  }
  if (!object.find("redact").empty()) return read_redaction(object);
  return read_append(object, body);
}

}  // namespace

void append_line(std::string& out, std::string_view record) {
  const bool is_line =
      record.starts_with('{') && record.find_first_of(std::string_view("\n\0", 2)) == record.npos;
  if (is_line) {
    out += record;
    return;
  }
  out += coded_mark;
  out += base64_encode(record);
}

Result<std::string> record_of_line(std::string_view line) {
  if (line.starts_with(coded_mark)) return base64_decode(line.substr(1));
  if (line.starts_with('{')) return std::string(line);
  return fail(Code::damaged, "a line holds no record");
}

void append_change(std::string& body, const Append& batch) {
  std::string lines;
  for (const std::string& record : batch.records) {
    append_line(lines, record);
    lines += '\n';
  }
  JsonWriter json;
  json.begin_object().key("session").string(batch.session.text());
  json.key("head").number_unsigned(batch.expected_head);
  json.key("records").number_unsigned(batch.records.size());
  json.key("bytes").number_unsigned(lines.size());
  json.key("sum").string(crc_text(crc32c(lines)));
  write_rows(json, batch);
  json.end_object();
  body += seal(json.text());
  body += '\n';
  body += lines;
}

void append_removal(std::string& body, SessionId session) {
  JsonWriter json;
  json.begin_object().key("remove").string(session.text()).end_object();
  body += seal(json.text());
  body += '\n';
}

void append_redaction(std::string& body, const Redaction& redaction) {
  JsonWriter json;
  json.begin_object().key("redact").string(redaction.session.text());
  json.key("seq").number_unsigned(redaction.seq);
  write_bytes(json, {.key = "replacement", .bytes = redaction.replacement});
  json.key("blobs").begin_array();
  for (const Hash& hash : redaction.blobs) json.string(hash.hex());
  json.end_array().end_object();
  body += seal(json.text());
  body += '\n';
}

Result<LoggedChange> take_change(std::string_view& body) {
  const std::optional<std::string_view> line = take_line(body);
  if (!line) return wrong_change("its line is cut off");
  const JsonObject object = TRY(open_sealed(*line, "a change of the commit log"));
  Result<LoggedChange> change = read_change(object, body);
  if (!change) return wrong_change(change.error().message());
  return change;
}

void write_cursor(JsonWriter& json, const FrameCursor& cursor) {
  json.begin_object().key("exec_id").string(cursor.exec.text());
  json.key("frame").number_unsigned(cursor.frame).end_object();
}

Result<FrameCursor> read_cursor(std::string_view raw) {
  const JsonObject object = TRY(JsonObject::parse(raw));
  return FrameCursor{.exec = TRY(ExecId::parse(TRY(json_string(object.find("exec_id"))))),
                     .frame = TRY(json_uint(object.find("frame")))};
}

void write_outbox_row(JsonWriter& json, const OutboxRow& row) {
  json.begin_object().key("number").number_unsigned(row.number);
  write_bytes(json, {.key = "payload", .bytes = row.payload});
  json.end_object();
}

Result<OutboxRow> read_outbox_row(std::string_view raw) {
  const JsonObject object = TRY(JsonObject::parse(raw));
  return OutboxRow{.number = TRY(json_uint(object.find("number"))),
                   .payload = TRY(read_bytes(object, "payload"))};
}

void write_listing(JsonWriter& json, const Listing& listing) {
  json.begin_object().key("open").boolean(listing.open);
  json.key("archived").boolean(listing.archived);
  json.key("updated_ms").number(listing.updated.ms);
  write_bytes(json, {.key = "summary", .bytes = listing.summary});
  json.end_object();
}

Result<Listing> read_listing(std::string_view raw) {
  const JsonObject object = TRY(JsonObject::parse(raw));
  return Listing{.open = TRY(json_bool(object.find("open"))),
                 .archived = TRY(json_bool(object.find("archived"))),
                 .updated = Timestamp{TRY(json_int(object.find("updated_ms")))},
                 .summary = TRY(read_bytes(object, "summary"))};
}

void write_answer_members(JsonWriter& json, const StoredAnswer& answer) {
  write_bytes(json, {.key = "key", .bytes = answer.key});
  json.key("body").string(answer.body.hex());
  if (answer.expires) json.key("expires_ms").number(answer.expires->ms);
  write_bytes(json, {.key = "answer", .bytes = answer.answer});
}

Result<StoredAnswer> read_answer(const JsonObject& object) {
  StoredAnswer answer{.key = TRY(read_bytes(object, "key")),
                      .body = TRY(Hash::parse_hex(TRY(json_string(object.find("body"))))),
                      .answer = TRY(read_bytes(object, "answer"))};
  if (const std::string_view raw = object.find("expires_ms"); !raw.empty()) {
    answer.expires = Timestamp{TRY(json_int(raw))};
  }
  return answer;
}

}  // namespace perdure
