// The list of all sessions for people: newest first, filtered, in pages. It is built from the
// store's listings and updated by the runtime's notifications; it loads no session (U15) and
// contains every one that has a record (U16, X27).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "daemon/runtime/reads/listing.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

struct SessionRow {
  SessionId session;
  Timestamp updated;  // if not in memory, to the minute
  bool archived = false;
  bool in_memory = false;
  SessionSummary summary;
};

// Whether the reader may see this session. Empty: every one.
using MaySee = std::function<bool(SessionId session)>;

enum class ArchivedFilter { without, only, all };
ENUM_TEXT(ArchivedFilter, "false", "true", "all");

class SessionList {
 public:
  SessionList(Runtime& runtime, Store& store) : runtime_(runtime), store_(store) {}

  struct Ask {
    TaskId task;  // null: any or none
    ArchivedFilter archived = ArchivedFilter::without;
    std::optional<Status> status;
    std::string agent;   // empty: any
    std::string text;    // in title, folder, agent or id, ignoring case
    std::string cursor;  // `next` of the previous page; empty: from the newest
    std::size_t limit = 100;
    MaySee may_see;
  };
  struct Page {
    std::vector<const SessionRow*> rows;  // valid until the next call
    std::string next;                     // empty: the last page
    std::size_t sessions = 0;             // all existing ones, ignoring filters
  };
  // An invalid cursor: invalid_argument. Sessions that change while a person pages may appear
  // twice; unchanged ones are never omitted.
  Result<Page> page(const Ask& ask);

  // The session that the text refers to: a whole id, the only one with this title, or the only one
  // whose id begins or ends with it. not_found, or conflict with the candidates, also if it is the
  // title of one session and four or more characters of another one's id.
  Result<SessionId> resolve(std::string_view text, const MaySee& may_see);

  // Null if the session does not exist. Valid until the next call.
  Result<const SessionRow*> find(SessionId session);

  // The inbox over all sessions, most urgent first, with ages as of now.
  Result<std::vector<InboxItem>> inbox(const MaySee& may_see);

  // The rows with an execution, by id, after `after`.
  Result<std::vector<const SessionRow*>> executors(SessionId after, std::size_t limit,
                                                   const MaySee& may_see);

  // Anything may have changed: the next call reads everything again.
  void forget_all();
  // The session's state or link has changed, or it was created or deleted.
  void changed(SessionId session) {
    if (loaded_) stale_.insert(session);
  }

 private:
  using Place = std::pair<Timestamp, SessionId>;

  Result<> refresh();
  Result<> load();
  Result<std::optional<SessionRow>> read_row(SessionId session);
  std::optional<SessionRow> row_of(const ListedSession& listed) const;
  void put(SessionRow row);
  void take_out(SessionId session);

  Runtime& runtime_;
  Store& store_;
  bool loaded_ = false;
  std::set<SessionId> stale_;
  std::map<SessionId, SessionRow> rows_;
  std::set<Place, std::greater<>> newest_first_;
  std::set<SessionId> with_inbox_;
};

}  // namespace perdure
