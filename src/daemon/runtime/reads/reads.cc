#include "daemon/runtime/reads/reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

constexpr Seq window_records = 256;

bool has_filter(const EventsAsk& ask) { return !ask.kind.empty() || ask.run; }

// Reads events forwards or backwards until the page is full, the end is reached, or enough records
// were read that the caller should get an answer first.
class EventsReader {
 public:
  EventsReader(Runtime& runtime, SessionId session, const EventsAsk& ask)
      : runtime_(runtime),
        session_(session),
        ask_(ask),
        limit_(std::clamp<std::size_t>(ask.limit, 1, page_records_max)) {}

  Result<EventsPage> read() {
    page_.head = TRY(runtime_.store().head(session_)).seq;
    if (ask_.after > page_.head) {
      return fail(Code::cursor_invalid, "the cursor " + std::to_string(ask_.after) +
                                            " is beyond the head " + std::to_string(page_.head));
    }
    TRY_VOID(ask_.before ? backwards() : forwards());
    return std::move(page_);
  }

 private:
  // The selected records among after … upto, each with its number.
  using Asked = std::vector<std::pair<Seq, std::string>>;
  Result<Asked> window(Seq after, Seq upto) {
    Asked out;
    while (after < upto) {
      const RecordPage read = TRY(runtime_.store().read(
          session_, {.after = after, .limit = static_cast<std::size_t>(upto - after)}));
      if (read.records.empty()) return fail(Code::damaged, "records are missing");
      for (const std::string& bytes : read.records) {
        after += 1;
        if (has_filter(ask_) && !is_asked(ask_, TRY(decode_record(bytes)).record)) continue;
        out.emplace_back(after, TRY(encode_served(session_, bytes)));
      }
    }
    return out;
  }

  Result<> forwards() {
    Seq at = ask_.after;
    page_.first = at + 1;
    while (at < page_.head && page_.records.size() < limit_ && looked_at_ < scan_records_max) {
      const Seq want = has_filter(ask_) ? window_records : limit_ - page_.records.size();
      const Seq upto = std::min(page_.head, at + std::min<Seq>(want, window_records));
      looked_at_ += upto - at;
      Asked asked = TRY(window(at, upto));
      at = upto;
      for (auto& [seq, record] : asked) {
        if (page_.records.size() == limit_) {
          at = seq - 1;
          break;
        }
        page_.records.push_back(std::move(record));
      }
    }
    page_.last = at;
    page_.more = at < page_.head;
    return {};
  }

  Result<> backwards() {
    const Seq end = std::min(*ask_.before > 0 ? *ask_.before - 1 : 0, page_.head);
    Seq at = end;
    std::vector<std::string> newest_first;
    while (at > ask_.after && newest_first.size() < limit_ && looked_at_ < scan_records_max) {
      const Seq want = has_filter(ask_) ? window_records : limit_ - newest_first.size();
      const Seq floor = std::max(ask_.after, at - std::min({want, window_records, at}));
      Asked asked = TRY(window(floor, at));
      looked_at_ += at - floor;
      at = floor;
      for (auto next = asked.rbegin(); next != asked.rend(); ++next) {
        if (newest_first.size() == limit_) {
          at = next->first;
          break;
        }
        newest_first.push_back(std::move(next->second));
      }
    }
    page_.records.assign(std::make_move_iterator(newest_first.rbegin()),
                         std::make_move_iterator(newest_first.rend()));
    page_.first = at + 1;
    page_.last = end;
    page_.more = at > ask_.after;
    return {};
  }

  Runtime& runtime_;
  SessionId session_;
  const EventsAsk& ask_;
  std::size_t limit_;
  EventsPage page_;
  std::size_t looked_at_ = 0;
};

// A page of messages, and the numbers of the marks among the records read for it.
struct PageWithMarks {
  TranscriptSlice slice;
  std::vector<Seq> marks;
  Seq segment = 0;  // the last of those records that ended everything
};

Result<PageWithMarks> read_page(Store& store, SessionId session, TranscriptPage::Ask ask,
                                std::optional<Seq> at) {
  std::vector<Seq> marks;
  Seq segment = 0;
  const auto note = [&](const Record& record) {
    if (is_flush_point(record)) segment = std::max(segment, record.seq);
    const std::optional<MarkKind> kind = mark_of(event_kind(record.event));
    if (kind && *kind != MarkKind::prompt) marks.push_back(record.seq);
  };
  TranscriptSlice slice = TRY(read_transcript(store, session, ask, {.at = at, .on_record = note}));
  const Seq begin =
      slice.has_older && !slice.messages.empty() ? slice.messages.front().first_seq : 1;
  const Seq end = ask.before.value_or(slice.last_seq + 1);
  std::erase_if(marks, [&](Seq seq) { return seq < begin || seq >= end; });
  return PageWithMarks{std::move(slice), std::move(marks), segment};
}

Result<std::vector<Row>> make_rows(Store& store, SessionId session, PageWithMarks page) {
  std::vector<Row> messages;
  for (TranscriptMessage& message : page.slice.messages) {
    Row row{.seq = message.first_seq, .rev = message.last_seq};
    row.message = std::move(message);
    messages.push_back(std::move(row));
  }
  std::vector<Row> marks;
  std::ranges::sort(page.marks);
  if (page.marks.size() > rows_max)
    page.marks.erase(page.marks.begin(), page.marks.end() - rows_max);
  for (const Seq seq : page.marks) {
    const RecordPage found = TRY(store.read(session, {.after = seq - 1, .limit = 1}));
    if (found.records.empty()) return fail(Code::damaged, "a record is missing");
    marks.push_back(
        {.seq = seq, .rev = seq, .mark = TRY(encode_served(session, found.records.front()))});
  }
  std::vector<Row> rows;
  std::merge(std::make_move_iterator(messages.begin()), std::make_move_iterator(messages.end()),
             std::make_move_iterator(marks.begin()), std::make_move_iterator(marks.end()),
             std::back_inserter(rows), [](const Row& a, const Row& b) { return a.seq < b.seq; });
  return rows;
}

// The record by which, reading from `after`, more than the given number of messages have begun. A
// message already in progress counts, too.
struct Beginnings {
  Seq after = 0;
  Seq head = 0;
  std::size_t messages = 0;
};
Result<Seq> find_beginnings(Store& store, SessionId session, const Beginnings& ask) {
  TranscriptFolder folder;
  Seq at = ask.after;
  while (at < ask.head) {
    const Seq upto = std::min(ask.head, at + window_records);
    for (const Record& record : TRY(read_records(store, session, at, upto))) {
      folder.add(record);
      if (folder.messages().size() > ask.messages) return record.seq;
    }
    at = upto;
  }
  return ask.head;
}

// Half of the page before the record and half after it. Reading forward from the record finds the
// end; the rest works as for any page.
Result<RowsPage> read_around(Store& store, SessionId session, const RowsAsk& ask, Seq head) {
  const Seq centre = std::min(*ask.around, head);
  const std::size_t half = std::max<std::size_t>(ask.limit / 2, 1);
  const Seq end = TRY(find_beginnings(store, session, {centre, head, half + 1}));
  PageWithMarks page =
      TRY(read_page(store, session, {.before = end + 1, .limit = 2 * half + 4}, ask.at));
  std::vector<TranscriptMessage>& messages = page.slice.messages;
  const auto middle = std::ranges::upper_bound(messages, centre, {}, &TranscriptMessage::first_seq);
  const auto newer = static_cast<std::size_t>(messages.end() - middle);
  const auto older = static_cast<std::size_t>(middle - messages.begin());
  const std::size_t drop_old = older > half ? older - half : 0;
  const std::size_t drop_new = newer > half ? newer - half : 0;
  RowsPage out{.as_of = head,
               .has_older = page.slice.has_older || drop_old > 0,
               .has_newer = end < head || drop_new > 0,
               .segment = page.segment};
  messages.erase(messages.end() - static_cast<std::ptrdiff_t>(drop_new), messages.end());
  messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(drop_old));
  const Seq first = out.has_older && !messages.empty() ? messages.front().first_seq : 1;
  const Seq last = out.has_newer && !messages.empty() ? messages.back().last_seq : head;
  std::erase_if(page.marks, [&](Seq seq) { return seq < first || seq > last; });
  out.rows = TRY(make_rows(store, session, std::move(page)));
  return out;
}

std::size_t runs_started(const std::vector<Record>& records) {
  return static_cast<std::size_t>(std::ranges::count_if(records, [](const Record& record) {
    return holds_alternative<RunStarted>(record.event.body);
  }));
}

}  // namespace

bool is_asked(const EventsAsk& ask, const Record& record) {
  if (ask.run && record.event.origin.run != ask.run) return false;
  if (ask.kind.empty()) return true;
  const std::string_view kind = event_kind(record.event);
  const bool in_group =
      kind.starts_with(ask.kind) && kind.size() > ask.kind.size() && kind[ask.kind.size()] == '.';
  return kind == ask.kind || in_group;
}

Result<EventsPage> read_events(Runtime& runtime, SessionId session, const EventsAsk& ask) {
  return EventsReader(runtime, session, ask).read();
}

Result<RowsPage> read_rows(Runtime& runtime, SessionId session, const RowsAsk& ask) {
  Store& store = runtime.store();
  const Seq stored = TRY(store.head(session)).seq;
  if (ask.at && *ask.at > stored) {
    return fail(Code::cursor_invalid,
                "the session has only " + std::to_string(stored) + " records");
  }
  const Seq head = ask.at.value_or(stored);
  RowsAsk bounded = ask;
  bounded.limit = std::clamp<std::size_t>(ask.limit, 1, rows_max);
  if (ask.around) return read_around(store, session, bounded, head);
  PageWithMarks page =
      TRY(read_page(store, session, {.before = ask.before, .limit = bounded.limit}, ask.at));
  RowsPage out{.as_of = head,
               .has_older = page.slice.has_older,
               .has_newer = ask.before && *ask.before <= head,
               .segment = page.segment};
  out.rows = TRY(make_rows(store, session, std::move(page)));
  return out;
}

// Windows are read backwards until one run more than requested began in them. Its turn is dropped,
// since its beginning may lie further back.
Result<HistoryPage> read_history(Runtime& runtime, SessionId session, const HistoryAsk& ask) {
  Store& store = runtime.store();
  const std::size_t limit = std::clamp<std::size_t>(ask.limit, 1, rows_max);
  HistoryPage out{.as_of = TRY(store.head(session)).seq};
  const Seq end = ask.before && *ask.before > 0 ? std::min(out.as_of, *ask.before - 1) : out.as_of;
  std::vector<Record> records;
  Seq at = end;
  while (at > 0 && runs_started(records) <= limit) {
    const Seq after = at > window_records ? at - window_records : 0;
    std::vector<Record> window = TRY(read_records(store, session, after, at));
    window.insert(window.end(), std::make_move_iterator(records.begin()),
                  std::make_move_iterator(records.end()));
    records = std::move(window);
    at = after;
  }
  HistoryFolder folder;
  const auto begin = at == 0 ? records.begin() : std::ranges::find_if(records, is_flush_point);
  std::for_each(begin, records.end(), [&](const Record& record) { folder.add(record); });
  out.turns = folder.turns();
  out.has_older = at > 0 || out.turns.size() > limit;
  if (out.turns.size() > limit) {
    out.turns.erase(out.turns.begin(), out.turns.end() - static_cast<std::ptrdiff_t>(limit));
  }
  return out;
}

Result<std::vector<FoundText>> search_sessions(Runtime& runtime, const TextAsk& ask) {
  // Rows of removed sessions and the node journal are excluded.
  const auto row_of = [&](SessionId session) -> const SessionRow* {
    const Result<const SessionRow*> row = runtime.sessions().find(session);
    return row ? *row : nullptr;
  };
  const auto is_wanted = [&](SessionId session) {
    if (ask.may_see && !ask.may_see(session)) return false;
    const SessionRow* const row = row_of(session);
    return row && (ask.agent.empty() || row->summary.agent == ask.agent) &&
           (!ask.task || row->summary.task == ask.task);
  };
  std::vector<FoundText> out;
  for (SearchHit& hit :
       TRY(runtime.store().search({.query = ask.words,
                                   .limit = std::clamp<std::size_t>(ask.limit, 1, search_hits_max),
                                   .kind = ask.kind,
                                   .since = ask.since,
                                   .until = ask.until,
                                   .is_wanted = is_wanted}))) {
    const SessionRow* const row = row_of(hit.session);
    if (!row) continue;
    out.push_back({.session = hit.session,
                   .seq = hit.seq,
                   .kind = std::move(hit.kind),
                   .at = hit.at,
                   .title = row->summary.title,
                   .agent = row->summary.agent,
                   .task = row->summary.task,
                   .snippet = std::move(hit.snippet)});
  }
  return out;
}

}  // namespace perdure
