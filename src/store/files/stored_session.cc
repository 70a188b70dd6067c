#include "store/files/stored_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/files/log/batch_text.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr std::uint64_t rows_format = 1;
constexpr std::string_view folder = "sessions/";

constexpr std::string_view suffix(SessionPart part) {
  switch (part) {
    case SessionPart::snapshot: return ".json";
    case SessionPart::records: return ".messages.jsonl";
    case SessionPart::index: return ".messages.index";
    case SessionPart::rows: return ".rows.json";
    case SessionPart::tokens: return ".tokens.json";
  }
  std::unreachable();
}

Result<StoredSession> read_rows(const JsonObject& object) {
  if (TRY(json_uint(object.find("format"))) > rows_format) {
    return fail(Code::format_too_new, "a session's rows were written by a newer version");
  }
  StoredSession session;
  session.id = TRY(SessionId::parse(TRY(json_string(object.find("session")))));
  session.head = session.filled = TRY(json_uint(object.find("head")));
  if (const auto raw = object.find("acknowledged"); !raw.empty()) {
    session.head = std::max(session.head, TRY(json_uint(raw)));
  }
  session.filled_bytes = TRY(json_uint(object.find("bytes")));
  session.position = session.saved_position = TRY(json_uint(object.find("position")));
  if (const auto raw = object.find("good"); !raw.empty()) session.good = TRY(json_uint(raw));
  session.is_without_rows = !object.find("rows_lost").empty();
  if (const auto raw = object.find("snapshot_seq"); !raw.empty()) {
    session.snapshot_seq = TRY(json_uint(raw));
  }
  if (const auto raw = object.find("cursor"); !raw.empty()) session.cursor = TRY(read_cursor(raw));
  if (const auto raw = object.find("listing"); !raw.empty()) {
    session.listing = TRY(read_listing(raw));
  }
  for (const std::string_view raw : TRY(json_elements(object.find("outbox")))) {
    OutboxRow row = TRY(read_outbox_row(raw));
    session.outbox[row.number] = std::move(row.payload);
  }
  for (const std::string_view raw : TRY(json_elements(object.find("refs")))) {
    session.refs.insert(TRY(json_string(raw)));
  }
  for (const std::string_view raw : TRY(json_elements(object.find("blobs")))) {
    session.blobs.insert(TRY(Hash::parse_hex(TRY(json_string(raw)))));
  }
  return session;
}

}  // namespace

std::string session_file(SessionId session, SessionPart part) {
  std::string name(folder);
  session.append_to(name);
  name += suffix(part);
  return name;
}

std::optional<SessionId> session_of_file(const std::string& name, SessionPart part) {
  const std::string_view end = suffix(part);
  if (!name.ends_with(end)) return std::nullopt;
  const Result<SessionId> id = SessionId::parse(name.substr(0, name.size() - end.size()));
  return id ? std::optional(*id) : std::nullopt;
}

std::string encode_rows(const StoredSession& session) {
  JsonWriter json;
  json.begin_object().key("format").number_unsigned(rows_format);
  json.key("session").string(session.id.text());
  json.key("head").number_unsigned(session.filled);
  // For a damaged session: records up to this were acknowledged; their numbers must not be reused.
  if (session.head > session.filled) json.key("acknowledged").number_unsigned(session.head);
  json.key("bytes").number_unsigned(session.filled_bytes);
  json.key("position").number_unsigned(session.position);
  if (session.good) json.key("good").number_unsigned(*session.good);
  if (session.is_without_rows) json.key("rows_lost").boolean(true);
  if (session.snapshot_seq) json.key("snapshot_seq").number_unsigned(*session.snapshot_seq);
  if (session.cursor) write_cursor(json.key("cursor"), *session.cursor);
  if (session.listing) write_listing(json.key("listing"), *session.listing);
  json.key("outbox").begin_array();
  for (const auto& [number, payload] : session.outbox) write_outbox_row(json, {number, payload});
  json.end_array().key("refs").begin_array();
  for (const std::string& ref : session.refs) json.string(ref);
  json.end_array().key("blobs").begin_array();
  for (const Hash& hash : session.blobs) json.string(hash.hex());
  json.end_array().end_object();
  return seal(json.text()) + "\n";
}

Result<StoredSession> decode_rows(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const JsonObject object = TRY(open_sealed(text, "a session's rows"));
  Result<StoredSession> session = read_rows(object);
  if (session || session.error().code() == Code::format_too_new) return session;
  return fail(Code::damaged, "a session's rows: " + session.error().message());
}

}  // namespace perdure
