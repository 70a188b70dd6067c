#include "sim/judges/read_check.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/limits.h"
#include "core/session/token_index.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/reads/journal_reader.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure::sim {
namespace {

constexpr std::size_t buckets = 7;
constexpr std::size_t page_messages = 3;
constexpr std::uint64_t transcript_chance = 400'000;
constexpr std::uint64_t long_timeline_chance = 30'000;  // it takes as long as a whole seed
constexpr std::int64_t moment_ms = 100;                 // a timeline's resolution while it is short

}  // namespace

void ReadCheck::ask(Runtime& runtime) {
  past_ = std::make_unique<KeptPast>(runtime);
  runtime.hint({});  // the list's data on other daemons' sessions may be 30 s old
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0) continue;
    ask_refs(runtime, session);
    check_tokens(session);
    check_view(runtime, session);
    if (universe_.meddler_prng.chance(transcript_chance)) check_transcript(runtime, session);
    ask_timeline(session);
    ask_state(session, 1 + universe_.prng.below(book->records()));
    ask_state(session, book->records());
  }
  check_long_timeline();
  const Result<SessionView> none = runtime.view(SessionId());
  universe_.verdict.expect(!none && none.error().code() == Code::not_found, "C7",
                           [] { return std::string("a session that never was is shown"); });
}

void ReadCheck::check_answered() {
  universe_.verdict.expect(open_ == 0, "U15", [&] {
    return std::to_string(open_) + " questions about the past have no answer";
  });
}

// Refs belong to the session that asked: a fork copies the ids, but not the questions.
void ReadCheck::ask_refs(Runtime& runtime, SessionId session) {
  const Ledger& book = judge_.ledger(session);
  const auto check = [&](const std::string& ref, bool is_there) {
    const Result<SessionId> found = runtime.find_session(ref);
    const bool right =
        is_there ? found && *found == session : !found && found.error().code() == Code::not_found;
    universe_.verdict.expect(right, "O8", [&] { return ref + " leads elsewhere, or nowhere"; });
  };
  if (book.copied_records() > 0) return;
  for (const auto& [id, asked] : book.permissions()) check(id.text(), true);
  for (const auto& [id, token] : book.tokens()) check(id.text(), true);
  check("no-such-ref", false);
}

void ReadCheck::ask_timeline(SessionId session) {
  ++open_;
  past_->timeline(session, judge_.ledger(session).records(),
                  [this, session](const Result<std::shared_ptr<const Timeline>>& timeline) {
                    --open_;
                    universe_.verdict.expect(timeline.has_value(), "U15", [&] {
                      return tail(session) + ": no timeline: " + timeline.error().message();
                    });
                    if (timeline) check_timeline(session, **timeline);
                  });
}

// Counts record by record, while the product counts moments.
void ReadCheck::check_timeline(SessionId session, const Timeline& timeline) {
  const Ledger& book = judge_.ledger(session);
  Timeline::Span span{.begin = book.at(1), .end = book.at(1)};
  for (Seq seq = 1; seq <= book.records(); ++seq) span.end = std::max(span.end, book.at(seq));
  check_marks(session, timeline);
  const std::vector<Timeline::Bucket> given = timeline.density(span, buckets);
  std::vector<Timeline::Bucket> own(buckets);
  for (Seq seq = 1; seq <= book.records(); ++seq) {
    const std::int64_t ms = book.at(seq).ms - book.at(seq).ms % moment_ms;
    std::size_t at = 0;
    while (at + 1 < given.size() && given[at + 1].from.ms <= ms) ++at;
    own[at].records += 1;
    if (own[at].first_seq == 0) own[at].first_seq = seq;
    own[at].last_seq = seq;
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool same = i < given.size() && own[i].records == given[i].records &&
                      own[i].first_seq == given[i].first_seq &&
                      own[i].last_seq == given[i].last_seq;
    universe_.verdict.expect(same, "U15", [&] {
      return tail(session) + ": another density in bucket " + std::to_string(i);
    });
  }
}

// Prompts stand for all marks: each has one at its own record.
void ReadCheck::check_marks(SessionId session, const Timeline& timeline) {
  const Ledger& book = judge_.ledger(session);
  std::vector<Seq> marked;
  for (const Timeline::Mark& mark : timeline.marks()) {
    if (mark.kind == MarkKind::prompt) marked.push_back(mark.seq);
  }
  std::vector<Seq> prompts;
  for (Seq seq = 1; seq <= book.records(); ++seq) {
    if (book.kind_at(seq) == EventBody(MessageUser{}).index()) prompts.push_back(seq);
  }
  const bool is_full = timeline.marks().size() == density_marks_max;
  universe_.verdict.expect(marked == prompts || is_full, "U15", [&] {
    return tail(session) + ": prompts are not marked as they stand";
  });
}

// O8: compares the index of wait tokens, rebuilt from the records, with the ledger's own.
void ReadCheck::check_tokens(SessionId session) {
  const Ledger& book = judge_.ledger(session);
  const State& state = book.fold();
  for (const auto& [id, token] : book.tokens()) {
    const std::optional<TokenEntry> entry = find_token(state, id);
    const bool may_be_forgotten =
        token.status != TokenStatus::active && book.tokens().size() > waits_closed_kept;
    const bool is_same = entry && entry->status == token.status && entry->run == token.run;
    universe_.verdict.expect(is_same || (!entry && may_be_forgotten), "O8",
                             [&] { return id.text() + " is another one in the index"; });
  }
}

void ReadCheck::ask_state(SessionId session, Seq seq) {
  ++open_;
  past_->state(session, seq, [this, session, seq](const Result<State>& state) {
    --open_;
    universe_.verdict.expect(state && *state == state_at(session, seq), "U15", [&] {
      return tail(session) + ": another state at " + std::to_string(seq);
    });
  });
}

State ReadCheck::state_at(SessionId session, Seq seq) {
  if (seq == judge_.ledger(session).records()) return judge_.ledger(session).fold();
  State state;
  for (const Record& record : records_to(session, seq)) {
    state = evolve(std::move(state), record.event);
  }
  return state;
}

std::vector<Record> ReadCheck::records_to(SessionId session, Seq seq) {
  std::vector<Record> out;
  for (Seq one = 1; one <= seq; ++one) {
    Result<DecodedRecord> record = decode_record(disk_.record(session, one));
    if (record) out.push_back(std::move(record->record));
  }
  return out;
}

// A client's view and the list both agree with the journal about the session.
void ReadCheck::check_view(Runtime& runtime, SessionId session) {
  const State& state = judge_.ledger(session).fold();
  const Result<SessionView> view = runtime.view(session);
  universe_.verdict.expect(view && view->session == session && view->title == state.title, "C7",
                           [&] { return tail(session) + " is not shown as its journal has it"; });
  const Result<const SessionRow*> row = runtime.sessions().find(session);
  const bool is_listed = row && *row && (*row)->summary.title == state.title;
  universe_.verdict.expect(is_listed, "C7",
                           [&] { return tail(session) + " is not listed as its journal has it"; });
}

// A20: all pages, from end to beginning, add up to the fold; every record is read.
void ReadCheck::check_transcript(Runtime& runtime, SessionId session) {
  const auto expect = [&](bool condition, const char* what) {
    universe_.verdict.expect(condition, "A20", [&] { return tail(session) + ": " + what; });
  };
  const Seq head = judge_.ledger(session).records();
  std::vector<TranscriptMessage> pages;
  std::set<Seq> told;
  const auto on_record = [&](const Record& record) { told.insert(record.seq); };
  TranscriptPage::Ask ask{.limit = page_messages};
  for (bool has_older = true; has_older;) {
    const Result<TranscriptSlice> page =
        read_transcript(runtime.store(), session, ask, {.on_record = on_record});
    if (!page) return expect(false, "a page of the transcript cannot be read");
    if (page->last_seq != head) return expect(false, "a page of another head");
    has_older = page->has_older && !page->messages.empty();
    expect(has_older == page->has_older, "an empty page with something older");
    pages.insert(pages.begin(), page->messages.begin(), page->messages.end());
    if (has_older) ask.before = pages.front().first_seq;
    if (pages.size() > 4 * page_messages) ask.limit *= 2;  // a long one has longer pages too
  }
  expect(pages == fold_transcript(records_to(session, head)), "its pages are another transcript");
  expect(told.size() == head, "not every record that was read is told");
  const Result<TranscriptSlice> untold = read_transcript(runtime.store(), session, {});
  expect(untold && untold->last_seq == head, "the last page cannot be read");
}

// More moments than a timeline keeps, with a wall clock that jumps back and forth: no record is
// lost, and distant times stay apart.
void ReadCheck::check_long_timeline() {
  if (!universe_.prng.chance(long_timeline_chance)) return;
  constexpr Timestamp end{1'000'000'000'000};
  constexpr std::array<Timestamp, 3> times{Timestamp{1}, Timestamp{end.ms / 2}, end};
  std::array<std::string, 3> records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i] = encode_record(1, Hash(), {.at = times[i], .body = SessionUnarchived{}});
  }
  Timeline timeline;
  constexpr Seq count = timeline_moments_max + 300;
  for (Seq seq = 1; seq <= count; ++seq) {
    universe_.verdict.expect(timeline.add(seq, records[seq % 3]).has_value(), "U15",
                             [] { return std::string("a timeline refuses a record"); });
  }
  std::uint64_t counted = 0;
  for (const Timeline::Bucket& bucket : timeline.density({.begin = {0}, .end = end}, 3)) {
    counted += bucket.records;
    universe_.verdict.expect(bucket.records > 0, "U15", [] {
      return std::string("a long timeline joins what lies far apart");
    });
  }
  universe_.verdict.expect(counted == count, "U15", [&] {
    return "a long timeline counts " + std::to_string(counted) + " records";
  });
}

}  // namespace perdure::sim
