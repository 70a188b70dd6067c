// Paged reads of one session: records, transcript rows, turns. Each read costs what it returns, not
// what the session holds (S9), and states as of which record it is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/views/history.h"
#include "daemon/runtime/reads/folds.h"
#include "daemon/runtime/reads/journal_reader.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/reads/timeline.h"

namespace perdure {

struct EventsAsk {
  Seq after = 0;
  std::optional<Seq> before;  // if set: the last ones below it, not the first after `after`
  std::size_t limit = 100;    // at most page_records_max
  std::string kind;           // `run.failed`, or a whole group: `run`; empty: all
  RunId run;                  // null: all
};
// Whether the query selects the record.
bool is_asked(const EventsAsk& ask, const Record& record);

struct EventsPage {
  std::vector<std::string> records;  // as served, in order
  Seq first = 0;                     // the part of the journal that was read: first … last
  Seq last = 0;
  bool more = false;  // in the direction of reading
  Seq head = 0;
};
// A cursor beyond the head: cursor_invalid. With a filter, a page may be short and not the last.
Result<EventsPage> read_events(Runtime& runtime, SessionId session, const EventsAsk& ask);

// A row of the page: a message, or a mark between messages that shows an event.
struct Row {
  std::optional<TranscriptMessage> message;
  Seq seq = 0;       // of its first record: its position
  Seq rev = 0;       // of its last record: the row changes only with this
  std::string mark;  // the record as served; only without a message
};
struct RowsAsk {
  std::optional<Seq> before;
  std::optional<Seq> around;
  std::optional<Seq> at;   // as it was after this record
  std::size_t limit = 80;  // messages; marks are not counted
};
struct RowsPage {
  std::vector<Row> rows;  // by position
  Seq as_of = 0;
  bool has_older = false;
  bool has_newer = false;
  Seq segment = 0;  // rows below it no longer change; 0: any may change
};
Result<RowsPage> read_rows(Runtime& runtime, SessionId session, const RowsAsk& ask);

struct HistoryAsk {
  std::optional<Seq> before;  // only turns that began below it
  std::size_t limit = 50;     // turns
};
struct HistoryPage {
  std::vector<Turn> turns;  // oldest first
  bool has_older = false;
  Seq as_of = 0;
};
Result<HistoryPage> read_history(Runtime& runtime, SessionId session, const HistoryAsk& ask);

struct FoundText {
  SessionId session;
  Seq seq = 0;  // of the message's first record
  std::string kind;
  Timestamp at;
  std::string title;
  std::string agent;
  TaskId task;
  std::string snippet;  // matches between \x02 and \x03
};
struct TextAsk {
  std::string words;
  std::size_t limit = 50;  // at most search_hits_max
  std::string kind;        // `message.user`, or a whole group: `message`; empty: all
  std::string agent;       // of the session; empty: all
  TaskId task;             // null: all
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
  MaySee may_see;
};
// By message, newest first. Recent commits may be missing.
Result<std::vector<FoundText>> search_sessions(Runtime& runtime, const TextAsk& ask);

}  // namespace perdure
