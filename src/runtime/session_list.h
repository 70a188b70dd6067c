// The list of all sessions, as a person sees it: newest first, filtered, in pages. It is built from
// the store's listings and kept current by what the runtime tells it; it loads no session (U15) and
// knows every one that has a record (U16, X27).
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
#include "runtime/listing.h"
#include "runtime/runtime.h"

namespace perdure {

struct SessionRow {
  SessionId session;
  Timestamp updated;  // of one that is not in memory, to the minute
  bool archived = false;
  bool in_memory = false;
  SessionSummary summary;
};

// Whether somebody may know of a session. Empty: of every one.
using MaySee = std::function<bool(SessionId session)>;

enum class ArchivedFilter { without, only, all };
ENUM_TEXT(ArchivedFilter, "false", "true", "all");

class SessionList {
 public:
  SessionList(Runtime& runtime, Store& store) : runtime_(runtime), store_(store) {}

  struct Ask {
    TaskId task;  // null: of any task or none
    ArchivedFilter archived = ArchivedFilter::without;
    std::optional<Status> status;
    std::string agent;   // empty: any
    std::string text;    // in title, folder, agent or id, without regard to case
    std::string cursor;  // `next` of the page before; empty: from the newest
    std::size_t limit = 100;
    MaySee may_see;
  };
  struct Page {
    std::vector<const SessionRow*> rows;  // until the next call
    std::string next;                     // empty: that was all
    std::size_t sessions = 0;             // that exist, filtered or not
  };
  // A cursor that is none: invalid_argument. Sessions that change while somebody turns pages may
  // be shown twice, and none that stays as it is is left out.
  Result<Page> page(const Ask& ask);

  // The session that the text means: a whole id, the only one with this title, or the only one
  // whose id begins or ends so. not_found, or conflict with the candidates, also if it is the title
  // of one session and four or more characters of another one's id.
  Result<SessionId> resolve(std::string_view text, const MaySee& may_see);

  // Null for a session that there is not. Valid until the next call.
  Result<const SessionRow*> find(SessionId session);

  // What waits for a person over all sessions, the most urgent first, with ages as of now.
  Result<std::vector<InboxItem>> inbox(const MaySee& may_see);

  // The rows that have an execution, in id order behind `after`.
  Result<std::vector<const SessionRow*>> executors(SessionId after, std::size_t limit,
                                                   const MaySee& may_see);

  // Anything may have changed: the next call reads all anew.
  void forget_all();
  // The session's state, link or existence has changed.
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
