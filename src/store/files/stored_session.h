// The engine's in-memory state of one session: its rows, where its records end, and the committed
// records that are not yet in its file. Saved as <id>.rows.json.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "store/store.h"

namespace perdure {

// A record that is in the commit log but not yet in the session's file.
struct TailRecord {
  std::string record;
  std::uint64_t position = 0;  // the group that committed it
};

struct StoredSession {
  SessionId id;
  Seq head = 0;
  Seq filled = 0;                    // number of records in the file
  std::uint64_t filled_bytes = 0;    // where they end in the file
  std::deque<TailRecord> tail;       // filled + 1 … head
  std::uint64_t position = 0;        // the last group that changed this session
  std::uint64_t saved_position = 0;  // the session's files contain everything up to this
  std::optional<Seq> good;           // damaged after this record
  bool is_without_rows = false;      // the rows were lost: only the records are known
  std::optional<FrameCursor> cursor;
  std::map<std::uint64_t, std::string> outbox;
  std::set<std::string> refs;
  std::set<Hash> blobs;
  std::optional<Listing> listing;
  std::optional<Seq> snapshot_seq;
  // A snapshot that is not in <id>.json yet; absent: it is there.
  std::optional<std::string> snapshot_unsaved;

  // The session's files contain everything from segments below this.
  std::optional<std::uint64_t> unsaved_since;
  std::uint64_t quiet_since = 0;  // the idle step after its last append
};

// A session's files.
enum class SessionPart { snapshot, records, index, rows, tokens };
std::string session_file(SessionId session, SessionPart part);
// The session whose file of that part has this name; absent for any other name.
std::optional<SessionId> session_of_file(const std::string& name, SessionPart part);

// The session's rows as the text of its file, without the snapshot.
std::string encode_rows(const StoredSession& session);
// damaged, format_too_new.
Result<StoredSession> decode_rows(std::string_view text);

}  // namespace perdure
