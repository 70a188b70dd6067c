#include "daemon/runtime/reads/session_list.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/limits.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/audit/audit_index.h"

namespace perdure {
namespace {

constexpr std::size_t candidates_named_max = 5;
// Shorter parts of an id match too many sessions, so a title takes precedence over them.
constexpr std::size_t id_part_min = 4;

// The id directly before this one: the store lists sessions after an id.
SessionId before(SessionId session) {
  Ulid ulid = session.ulid();
  if (ulid.low == 0) ulid.high -= 1;
  ulid.low -= 1;
  return SessionId(ulid);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_folded(std::string_view text, std::string_view wanted) {
  return !std::ranges::search(text, wanted, {}, lower, lower).empty() || wanted.empty();
}

std::string cursor_text(Timestamp updated, SessionId session) {
  return std::to_string(updated.ms) + "-" + session.text();
}

Result<std::pair<Timestamp, SessionId>> parse_cursor(std::string_view text) {
  const std::size_t dash = text.find('-');
  std::pair<Timestamp, SessionId> out;
  const std::string_view digits = text.substr(0, dash);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.first.ms);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (dash == std::string_view::npos || !whole) {
    return fail(Code::invalid_argument, "the cursor of the list is malformed");
  }
  out.second = TRY(SessionId::parse(text.substr(dash + 1)));
  return out;
}

bool is_asked(const SessionRow& row, const SessionList::Ask& ask) {
  const bool archived_fits =
      ask.archived == ArchivedFilter::all || row.archived == (ask.archived == ArchivedFilter::only);
  if (!archived_fits || (ask.task && row.summary.task != ask.task)) return false;
  if (ask.status && row.summary.status != *ask.status) return false;
  if (!ask.agent.empty() && row.summary.agent != ask.agent) return false;
  if (ask.may_see && !ask.may_see(row.session)) return false;
  return ask.text.empty() || contains_folded(row.summary.title, ask.text) ||
         contains_folded(row.summary.cwd, ask.text) ||
         contains_folded(row.summary.agent, ask.text) ||
         contains_folded(row.session.text(), ask.text);
}

std::string listed(const std::vector<SessionId>& sessions) {
  std::string out;
  for (std::size_t i = 0; i < std::min(sessions.size(), candidates_named_max); ++i) {
    out += (i == 0 ? "" : ", ") + sessions[i].text();
  }
  return sessions.size() > candidates_named_max ? out + " and others" : out;
}

// The possible meanings of a text that is not a whole id.
struct Candidates {
  std::vector<SessionId> named;  // by their titles
  std::vector<SessionId> parts;  // by the beginning or end of their ids
};

// An agent may choose its title, so a title never takes precedence over another session's short id.
Result<SessionId> only_one(std::string_view text, const Candidates& candidates) {
  const auto& [named, parts] = candidates;
  const std::string quoted = "'" + std::string(text) + "'";
  const bool titles_win = text.size() < id_part_min || parts.empty() || named == parts;
  if (!named.empty() && !titles_win) {
    return fail(Code::conflict, quoted + " is the title of " + listed(named) +
                                    " and part of the id of " + listed(parts) +
                                    ". Use the whole id");
  }
  const std::vector<SessionId>& found = named.empty() ? parts : named;
  if (found.empty()) return fail(Code::not_found, "no such session: " + quoted);
  if (found.size() > 1) return fail(Code::conflict, quoted + " may mean " + listed(found));
  return found.front();
}

}  // namespace

std::optional<SessionRow> SessionList::row_of(const ListedSession& listed) const {
  if (listed.session == Node::journal_id() || is_audit_journal(listed.session)) return std::nullopt;
  SessionRow row{.session = listed.session,
                 .updated = listed.listing.updated,
                 .archived = listed.listing.archived,
                 .summary = read_summary(listed.listing.summary)};
  if (row.summary.copying) return std::nullopt;
  if (const State* const state = runtime_.state_in_memory(listed.session)) {
    row.updated = state->updated;
    row.archived = state->archived;
    row.in_memory = true;
    row.summary = summarize(*state, runtime_.world_of(listed.session));
  }
  return row;
}

Result<> SessionList::load() {
  forget_all();  // a failed load leaves the pages before the error
  SessionId after;
  while (true) {
    const std::vector<ListedSession> page = TRY(store_.list(after, page_records_max));
    if (page.empty()) break;
    for (const ListedSession& listed : page) {
      if (std::optional<SessionRow> row = row_of(listed)) put(std::move(*row));
    }
    after = page.back().session;
  }
  loaded_ = true;
  return {};
}

Result<std::optional<SessionRow>> SessionList::read_row(SessionId session) {
  const std::vector<ListedSession> found = TRY(store_.list(before(session), 1));
  if (found.empty() || found.front().session != session) return std::nullopt;
  return row_of(found.front());
}

Result<> SessionList::refresh() {
  if (!loaded_) return load();
  while (!stale_.empty()) {
    const SessionId session = *stale_.begin();
    std::optional<SessionRow> row = TRY(read_row(session));  // after an error it stays stale
    take_out(session);
    if (row) put(std::move(*row));
    stale_.erase(session);
  }
  return {};
}

void SessionList::put(SessionRow row) {
  newest_first_.emplace(row.updated, row.session);
  if (!row.summary.inbox.empty()) with_inbox_.insert(row.session);
  const SessionId session = row.session;
  rows_.insert_or_assign(session, std::move(row));
}

void SessionList::take_out(SessionId session) {
  const auto at = rows_.find(session);
  if (at == rows_.end()) return;
  newest_first_.erase({at->second.updated, session});
  with_inbox_.erase(session);
  rows_.erase(at);
}

void SessionList::forget_all() {
  loaded_ = false;
  stale_.clear();
  rows_.clear();
  newest_first_.clear();
  with_inbox_.clear();
}

Result<SessionList::Page> SessionList::page(const Ask& ask) {
  TRY_VOID(refresh());
  auto next = newest_first_.begin();
  if (!ask.cursor.empty()) next = newest_first_.upper_bound(TRY(parse_cursor(ask.cursor)));
  Page out{.sessions = rows_.size()};
  for (; next != newest_first_.end(); ++next) {
    const SessionRow& row = rows_.at(next->second);
    if (!is_asked(row, ask)) continue;
    if (out.rows.size() == std::min(ask.limit, page_records_max)) {
      out.next = cursor_text(out.rows.back()->updated, out.rows.back()->session);
      break;
    }
    out.rows.push_back(&row);
  }
  return out;
}

Result<const SessionRow*> SessionList::find(SessionId session) {
  TRY_VOID(refresh());
  const auto at = rows_.find(session);
  return at == rows_.end() ? nullptr : &at->second;
}

Result<SessionId> SessionList::resolve(std::string_view text, const MaySee& may_see) {
  const auto nothing = [&] {
    return fail(Code::not_found, "no session matches '" + std::string(text) + "'");
  };
  const auto visible = [&](SessionId session) { return !may_see || may_see(session); };
  if (const Result<SessionId> whole = SessionId::parse(text)) {
    // Known to the runtime or the store, whether listed or not: most calls take this path.
    if (!visible(*whole) || *whole == Node::journal_id() || is_audit_journal(*whole)) {
      return nothing();
    }
    return *whole;
  }
  TRY_VOID(refresh());
  if (text.empty()) return nothing();
  Candidates candidates;
  for (const auto& [session, row] : rows_) {
    if (row.summary.title == text && visible(session)) candidates.named.push_back(session);
    const std::string id = session.text();
    const std::string_view ulid = std::string_view(id).substr(SessionId::prefix.size());
    const bool fits = id.starts_with(text) || ulid.starts_with(text) || ulid.ends_with(text);
    if (fits && visible(session)) candidates.parts.push_back(session);
  }
  return only_one(text, candidates);
}

Result<std::vector<InboxItem>> SessionList::inbox(const MaySee& may_see) {
  TRY_VOID(refresh());
  std::vector<std::vector<InboxItem>> inboxes;
  for (const SessionId session : with_inbox_) {
    if (may_see && !may_see(session)) continue;
    const std::int64_t now_ms = runtime_.world_of(session).now.wall.ms;
    std::vector<InboxItem>& items = inboxes.emplace_back(rows_.at(session).summary.inbox);
    for (InboxItem& item : items) item.age_ms = std::max<std::int64_t>(now_ms - item.since.ms, 0);
  }
  return merge_inboxes(std::move(inboxes));
}

Result<std::vector<const SessionRow*>> SessionList::executors(SessionId after, std::size_t limit,
                                                              const MaySee& may_see) {
  TRY_VOID(refresh());
  std::vector<const SessionRow*> out;
  for (auto at = rows_.upper_bound(after); at != rows_.end() && out.size() < limit; ++at) {
    const bool visible = !may_see || may_see(at->first);
    if (visible && at->second.summary.executor) out.push_back(&at->second);
  }
  return out;
}

}  // namespace perdure
