// What the engine keeps in memory of one session: its rows, where its records end, and the records
// that are committed and not yet in its file. Written to <id>.rows.json when it is saved.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "store/store.h"

namespace perdure {

// A record that is in the commit log and not yet in the session's file.
struct TailRecord {
  std::string record;
  std::uint64_t position = 0;  // the group that committed it
};

struct StoredSession {
  SessionId id;
  Seq head = 0;
  Seq filled = 0;                    // records that are in the file
  std::uint64_t filled_bytes = 0;    // where they end there
  std::deque<TailRecord> tail;       // filled + 1 … head
  std::uint64_t position = 0;        // the last group that changed anything here
  std::uint64_t saved_position = 0;  // up to which the session's files have it all
  std::optional<Seq> good;           // damaged behind this record
  bool is_without_rows = false;      // they were lost: its records are all that is known of it
  std::optional<FrameCursor> cursor;
  std::map<std::uint64_t, std::string> outbox;
  std::set<std::string> refs;
  std::set<Hash> blobs;
  std::optional<Listing> listing;
  std::optional<Seq> snapshot_seq;
  // Of a snapshot that is not in <id>.json yet; nothing: it is there.
  std::optional<std::string> snapshot_unsaved;

  // Segments below this hold nothing that the session's files do not hold.
  std::optional<std::uint64_t> unsaved_since;
  std::uint64_t quiet_since = 0;  // the idle step behind its last append
};

// The parts of a session on the disk.
enum class SessionPart { snapshot, records, index, rows, tokens };
std::string session_file(SessionId session, SessionPart part);
// The session whose file of that part has this name; nothing for any other name.
std::optional<SessionId> session_of_file(const std::string& name, SessionPart part);

// The session's rows as the text of its file. The snapshot is not among them.
std::string encode_rows(const StoredSession& session);
// damaged, format_too_new.
Result<StoredSession> decode_rows(std::string_view text);

}  // namespace perdure
