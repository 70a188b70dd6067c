#include "daemon/runtime/care/redaction.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/session/machine.h"
#include "core/session/redacted.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/care/forks_of.h"
#include "daemon/runtime/care/node_redaction.h"
#include "daemon/runtime/care/text_finder.h"
#include "daemon/runtime/care/transfer.h"
#include "daemon/runtime/reads/journal_scan.h"

namespace perdure {
namespace {

// Places of one kind that an answer names one by one.
constexpr std::size_t records_named_max = 100;
// In other sessions: so many texts, each by so much of its beginning.
constexpr std::size_t texts_searched_max = 8;
constexpr std::size_t phrase_bytes_max = 64;

Result<std::string> stored_record(Store& store, SessionId session, Seq seq) {
  RecordPage page = TRY(store.read(session, {.after = seq - 1, .limit = 1}));
  if (page.records.empty()) return fail(Code::damaged, "a record is missing");
  return std::move(page.records.front());
}

std::string name_of(Seq seq, std::string_view kind) {
  return "record " + std::to_string(seq) + " (" + std::string(kind) + ")";
}

// The title of a session is often the beginning of its first prompt.
std::string title_in(const EventBody& body) {
  if (const auto* created = get_if<SessionCreated>(&body)) return created->title;
  if (const auto* renamed = get_if<SessionRenamed>(&body)) return renamed->title;
  return "";
}

// One message of an agent that came in pieces is one text.
void add_texts(TextFinder& finder, std::span<const Record> records) {
  std::string message;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const EventBody& body = records[i].event.body;
    for (std::string& text : texts_of(body)) {
      const bool is_piece =
          holds_alternative<MessageAgent>(body) || holds_alternative<MessageThought>(body);
      if (is_piece) {
        message += text;
      } else {
        finder.add(std::move(text));
      }
    }
    const bool goes_on =
        i + 1 < records.size() && event_kind(records[i + 1].event) == event_kind(records[i].event);
    if (!goes_on) finder.add(std::exchange(message, {}));
  }
}

// What the search looks for: the beginning of a text, its words together.
std::string phrase_of(std::string_view text) {
  std::string_view begin = utf8_prefix(text, phrase_bytes_max);
  if (begin.size() < text.size()) begin = begin.substr(0, begin.find_last_of(" \n\t"));
  std::string phrase(begin);
  std::ranges::replace(phrase, '"', ' ');
  return '"' + phrase + '"';
}

// What is taken back, and all that is needed to find it elsewhere.
struct Targets {
  std::set<Seq> seqs;  // without those that are tombstones already
  TextFinder finder;
  std::set<PermissionId> questions;  // whose answers repeat the name of an option
  std::vector<MessageId> queued;     // prompts that still wait
};

// The state folded from the journal with the tombstones in it.
class RedactedFold final : public JournalFold {
 public:
  RedactedFold(SessionId session, const Targets& targets)
      : session_(session), targets_(targets), pieces_(targets.finder) {}

  Result<> add(Seq seq, std::string_view bytes) override {
    head_ = seq;
    const DecodedRecord decoded = TRY(decode_record(bytes));
    if (!targets_.seqs.contains(seq)) {
      if (!decoded.redacted) look_for_texts(seq, bytes, decoded);
      state_ = evolve(std::move(state_), decoded.record.event);
      return {};
    }
    Redaction redaction{.session = session_, .seq = seq};
    if (const std::optional<Hash> blob = blob_of(bytes)) redaction.blobs.push_back(*blob);
    const auto kept = without_text(decoded.record.event.body);
    const bool keeps = kept && decoded.version > 0;
    redaction.replacement = TRY(keeps ? encode_tombstone(bytes, *kept) : encode_tombstone(bytes));
    const DecodedRecord tombstone = TRY(decode_record(redaction.replacement));
    state_ = evolve(std::move(state_), tombstone.record.event);
    redactions_.push_back(std::move(redaction));
    return {};
  }

  Seq head() const { return head_; }
  const State& state() const { return state_; }
  // Other records with one of the texts, and their kinds. To be called at the end.
  const std::map<Seq, std::string>& also_in() {
    name(pieces_.end());
    return also_in_;
  }
  std::vector<Redaction> take() { return std::move(redactions_); }

 private:
  void look_for_texts(Seq seq, std::string_view bytes, const DecodedRecord& decoded) {
    const EventBody& body = decoded.record.event.body;
    const auto* const resolved = get_if<PermissionResolved>(&body);
    const bool repeats =
        resolved && holds_text(body) && targets_.questions.contains(resolved->permission);
    const bool has =
        targets_.finder.is_in_json(bytes) || targets_.finder.begins_with(title_in(body)) || repeats;
    if (has) also_in_.emplace(seq, event_kind(decoded.record.event));
    name(pieces_.add(seq, body));
  }

  void name(const std::vector<Seq>& pieces) {
    for (const Seq seq : pieces) also_in_.emplace(seq, "part of a message");
  }

  SessionId session_;
  const Targets& targets_;
  Seq head_ = 0;
  State state_;
  std::vector<Redaction> redactions_;
  std::map<Seq, std::string> also_in_;
  PieceFinder pieces_;
};

// One order in progress. Its callbacks keep it alive until it ends.
class RedactionJob : public std::enable_shared_from_this<RedactionJob> {
 public:
  RedactionJob(Runtime& runtime, RedactionOrder order, OnRedacted done)
      : runtime_(runtime), order_(std::move(order)), done_(std::move(done)) {}

  void start() {
    const Result<> looked = look_at_targets();
    if (!looked) return finish(std::unexpected(looked.error()));
    take_from_queue();
  }

 private:
  Result<> look_at_targets() {
    const State state = TRY(runtime_.state(order_.session));
    for (const Seq seq : order_.seqs) {
      if (seq == 0 || seq > state.head) {
        return fail(Code::not_found, "no such record: " + std::to_string(seq));
      }
      TRY_VOID(look_at_target(state, seq));
    }
    add_texts(targets_.finder, records_);
    targets_.finder.add(order_.text);
    return {};
  }

  Result<> look_at_target(const State& state, Seq seq) {
    const std::string bytes = TRY(stored_record(runtime_.store(), order_.session, seq));
    const DecodedRecord decoded = TRY(decode_record(bytes));
    if (decoded.redacted) return {};
    const EventBody& body = decoded.record.event.body;
    if (!holds_text(body) && decoded.extra.text.empty()) {
      return fail(Code::conflict, name_of(seq, event_kind(decoded.record.event)) +
                                      " holds no text that can be taken back");
    }
    if (const auto* asked = get_if<PermissionRequested>(&body);
        asked && state.permissions.contains(asked->permission)) {
      return fail(Code::conflict, name_of(seq, asked->kind_text) +
                                      " is a question that is still open; answer it first");
    }
    if (const auto* added = get_if<QueueAdded>(&body)) {
      see_queued(state, added->message, added->prompt);
    } else if (const auto* edited = get_if<QueueEdited>(&body)) {
      see_queued(state, edited->message, edited->prompt);
    }
    if (const auto* asked = get_if<PermissionRequested>(&body)) {
      targets_.questions.insert(asked->permission);
    }
    if (holds_alternative<PermissionResolved>(body)) {
      const std::int64_t until_ms = decoded.record.event.at.ms + answers_kept_ms;
      answers_until_.ms = std::max(answers_until_.ms, until_ms);
    }
    targets_.seqs.insert(seq);
    records_.push_back(decoded.record);
    return {};
  }

  void see_queued(const State& state, MessageId message, const Prompt& prompt) {
    const auto at = std::ranges::find(state.queue, message, &QueuedPrompt::message);
    if (at == state.queue.end() || *at->prompt != prompt) return;
    targets_.queued.push_back(message);
  }

  // A prompt without its text must not be sent. If it has left the queue by now, it was sent; the
  // record of that is found by its text.
  void take_from_queue() {
    if (targets_.queued.empty()) return scan();
    const MessageId message = targets_.queued.back();
    targets_.queued.pop_back();
    report_.left_queue = true;
    runtime_.submit(order_.session, {.by = order_.by, .body = RemoveQueued{message}},
                    [self = shared_from_this()](const Result<Reply>& removed) {
                      if (!removed && removed.error().code() != Code::not_found) {
                        return self->finish(std::unexpected(removed.error()));
                      }
                      self->take_from_queue();
                    });
  }

  void scan() {
    if (targets_.seqs.empty() && order_.text.empty()) return finish({});
    if (!fold_) fold_ = std::make_shared<RedactedFold>(order_.session, targets_);
    const Result<State> state = runtime_.state(order_.session);
    if (!state) return finish(std::unexpected(state.error()));
    scan_journal(runtime_, order_.session, {.after = fold_->head(), .upto = state->head}, fold_,
                 [self = shared_from_this()](const Result<>& scanned) {
                   if (!scanned) return self->finish(std::unexpected(scanned.error()));
                   self->wait_for_commit();
                 });
  }

  void wait_for_commit() {
    const Result<> waits = runtime_.between_commits(
        order_.session, [self = shared_from_this()] { self->replace_state(); });
    if (!waits) finish(std::unexpected(waits.error()));
  }

  // Folds what was committed since the scan: nothing may come in between.
  void replace_state() {
    const Result<State> state = runtime_.state(order_.session);
    if (!state) return finish(std::unexpected(state.error()));
    const Seq behind = state->head - fold_->head();
    if (behind > page_records_max) return scan();
    const Result<> caught_up = catch_up(behind);
    if (!caught_up) return finish(std::unexpected(caught_up.error()));
    if (without_text(fold_->state()) != without_text(*state)) {
      return finish(fail(Code::conflict, "the session's state still rests on this record"));
    }
    if (fold_->state().mcp_servers != state->mcp_servers) report_.lost.push_back("mcp_servers");
    if (fold_->state().requested != state->requested) report_.lost.push_back("options");
    runtime_.replace_text(order_.session, fold_->state(),
                          [self = shared_from_this()](const Result<>& stored) {
                            if (!stored) return self->finish(std::unexpected(stored.error()));
                            self->redact();
                          });
  }

  Result<> catch_up(Seq behind) {
    if (behind == 0) return {};
    const RecordPage page =
        TRY(runtime_.store().read(order_.session, {.after = fold_->head(), .limit = behind}));
    if (page.records.size() != behind) return fail(Code::unavailable, "try again");
    for (const std::string& bytes : page.records) TRY_VOID(fold_->add(fold_->head() + 1, bytes));
    return {};
  }

  // The list and the outbox no longer hold it; the journal is last, together with the engine's
  // copies of earlier rows.
  void redact() {
    for (Redaction& redaction : fold_->take()) {
      const Result<> redacted = runtime_.store().redact(std::move(redaction));
      if (!redacted) return finish(std::unexpected(redacted.error()));
    }
    runtime_.forget_recent(order_.session);
    name_others();
    name_answers();
    if (runtime_.sends_any(order_.session, targets_.finder.escapes())) {
      report_.left.push_back({.where = "a command on its way to the agent",
                              .until = "the agent has taken it, or its run ends"});
    }
    const std::string in_engine = runtime_.store().bytes_kept();
    if (!in_engine.empty()) {
      report_.left.push_back({.where = "the files of the store", .until = in_engine});
    }
    find_copies();
  }

  void name_others() {
    for (const auto& [seq, kind] : fold_->also_in()) {
      report_.also_in.push_back(seq);
      if (report_.also_in.size() > records_named_max) continue;
      report_.left.push_back({.where = name_of(seq, kind), .until = "that record is redacted too"});
    }
    if (report_.also_in.size() <= records_named_max) return;
    const std::size_t more = report_.also_in.size() - records_named_max;
    report_.left.push_back({.where = std::to_string(more) + " more records, listed in also_in",
                            .until = "those records are redacted too"});
  }

  void name_answers() {
    if (answers_until_ <= runtime_.world_of(order_.session).now.wall) return;
    report_.left.push_back({.where = "the answer that is kept for a repeat of the request",
                            .until = format_timestamp(answers_until_)});
  }

  void find_copies() {
    find_forks(runtime_, order_.session,
               [self = shared_from_this()](const Result<std::vector<SessionId>>& forks) {
                 if (!forks) return self->finish(std::unexpected(forks.error()));
                 for (const SessionId fork : *forks) self->look_at_fork(fork);
                 self->look_at_sessions({forks->begin(), forks->end()});
                 self->look_at_node();
               });
  }

  // The records of a copy have the same numbers.
  void look_at_fork(SessionId fork) {
    std::set<Seq> seqs = targets_.seqs;
    const auto others = report_.also_in | std::views::take(records_named_max);
    seqs.insert(others.begin(), others.end());
    for (const Seq seq : seqs) {
      const Result<std::string> bytes = stored_record(runtime_.store(), fork, seq);
      if (!bytes) return;
      const Result<DecodedRecord> decoded = decode_record(*bytes);
      if (!decoded || decoded->redacted || !holds_text(decoded->record.event.body)) continue;
      const bool has = targets_.finder.is_in_json(*bytes) ||
                       targets_.finder.begins_with(title_in(decoded->record.event.body));
      // A piece of a message holds no text alone, but it was copied with the others.
      if (!has && decoded->record.event.origin.copied_from.empty()) continue;
      report_.left.push_back(
          {.where = "fork " + fork.text() + ", " + name_of(seq, event_kind(decoded->record.event)),
           .until = "that record is redacted there"});
    }
  }

  // Others, as far as the search index has them.
  void look_at_sessions(const std::set<SessionId>& forks) {
    SearchAsk ask{.limit = records_named_max, .is_wanted = [&](SessionId session) {
                    return session != order_.session && !forks.contains(session) &&
                           (!order_.may_see || order_.may_see(session));
                  }};
    std::set<std::pair<SessionId, Seq>> named;
    for (const std::string& text : targets_.finder.texts() | std::views::take(texts_searched_max)) {
      ask.query = phrase_of(text);
      const Result<std::vector<SearchHit>> hits = runtime_.store().search(ask);
      if (!hits) continue;  // it has no words
      for (const SearchHit& hit : *hits) {
        if (named.size() >= records_named_max || !holds(hit)) continue;
        if (!named.emplace(hit.session, hit.seq).second) continue;
        report_.left.push_back(
            {.where = "session " + hit.session.text() + ", " + name_of(hit.seq, hit.kind),
             .until = "that record is redacted there"});
      }
    }
  }

  // The index passes over signs and capitals. A message in pieces is taken at its word.
  bool holds(const SearchHit& hit) const {
    if (hit.kind == MessageAgent::kind_text || hit.kind == MessageThought::kind_text) return true;
    const Result<std::string> bytes = stored_record(runtime_.store(), hit.session, hit.seq);
    return bytes && targets_.finder.is_in_json(*bytes);
  }

  void look_at_node() {
    if (!order_.may_see_node) {
      report_.left.push_back({.where = "perhaps a task, a rule or a deleted session's title",
                              .until = "a person redacts again and sees those"});
      return finish(std::move(report_));
    }
    find_in_node(runtime_, targets_.finder,
                 [self = shared_from_this()](Result<std::vector<Leftover>> found) {
                   if (!found) return self->finish(std::unexpected(found.error()));
                   std::ranges::move(*found, std::back_inserter(self->report_.left));
                   self->finish(std::move(self->report_));
                 });
  }

  void finish(Result<RedactionReport> result) {
    runtime_.loop().post([done = std::move(done_), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  }

  Runtime& runtime_;
  RedactionOrder order_;
  OnRedacted done_;
  Targets targets_;
  std::vector<Record> records_;  // of targets_.seqs
  Timestamp answers_until_;
  std::shared_ptr<RedactedFold> fold_;
  RedactionReport report_;
};

}  // namespace

void redact_records(Runtime& runtime, RedactionOrder order, OnRedacted done) {
  std::make_shared<RedactionJob>(runtime, std::move(order), std::move(done))->start();
}

}  // namespace perdure
