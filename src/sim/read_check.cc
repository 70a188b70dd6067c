#include "sim/read_check.h"

#include <algorithm>

#include "session/token_index.h"
#include "wire/record.h"

namespace perdure::sim {
namespace {

constexpr std::size_t buckets = 7;
constexpr std::int64_t moment_ms = 100;  // as fine as a timeline is while it is short

}  // namespace

void ReadCheck::ask(Runtime& runtime) {
  past_ = std::make_unique<KeptPast>(runtime);
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0) continue;
    ask_refs(runtime, session);
    check_tokens(session);
    ask_timeline(session);
    ask_state(session, 1 + universe_.prng.below(book->records()));
    ask_state(session, book->records());
  }
}

void ReadCheck::check_answered() {
  universe_.verdict.expect(open_ == 0, "U15", [&] {
    return std::to_string(open_) + " questions about the past have no answer";
  });
}

// Refs are of the session that asked: a fork's copies keep the ids and not the questions.
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

// Record by record, where the product counts moments.
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

// Prompts stand for all marks: each has one, at its own record.
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
  universe_.verdict.expect(marked == prompts || timeline.marks_left_out() > 0, "U15", [&] {
    return tail(session) + ": prompts are not marked as they stand";
  });
}

// O8: the index of wait tokens, made from the records, against the ledger's own.
void ReadCheck::check_tokens(SessionId session) {
  TokenIndex index;
  const Ledger& book = judge_.ledger(session);
  for (Seq seq = 1; seq <= book.records(); ++seq) {
    const Result<DecodedRecord> record = decode_record(disk_.record(session, seq));
    if (record) index.add(record->record);
  }
  for (const auto& [id, token] : book.tokens()) {
    const TokenEntry* const entry = index.find(id);
    universe_.verdict.expect(entry && entry->status == token.status && entry->run == token.run,
                             "O8", [&] { return id.text() + " is another one in the index"; });
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
  State state;
  for (Seq one = 1; one <= seq; ++one) {
    const Result<DecodedRecord> record = decode_record(disk_.record(session, one));
    if (!record) break;
    state = evolve(std::move(state), record->record.event);
  }
  return state;
}

}  // namespace perdure::sim
