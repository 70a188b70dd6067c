#include "runtime/redaction.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/limits.h"
#include "runtime/forks_of.h"
#include "runtime/journal_scan.h"
#include "runtime/transfer.h"
#include "session/machine.h"
#include "session/redacted.h"
#include "wire/record.h"

namespace perdure {
namespace {

Result<std::string> stored_record(Store& store, SessionId session, Seq seq) {
  RecordPage page = TRY(store.read(session, {.after = seq - 1, .limit = 1}));
  if (page.records.empty()) return fail(Code::damaged, "a record is missing");
  return std::move(page.records.front());
}

// As it appears within a JSON string.
std::string escaped(std::string_view text) {
  std::string out;
  json_append_string(out, text);
  return out.substr(1, out.size() - 2);
}

std::string name_of(Seq seq, std::string_view kind) {
  return "record " + std::to_string(seq) + " (" + std::string(kind) + ")";
}

// The title of a session is often the beginning of its first prompt.
bool is_title_of(const EventBody& body, const std::vector<std::string>& texts) {
  std::string title;
  if (const auto* created = get_if<SessionCreated>(&body)) title = created->title;
  if (const auto* renamed = get_if<SessionRenamed>(&body)) title = renamed->title;
  if (title.ends_with("…")) title.resize(title.size() - std::string_view("…").size());
  return title.size() >= text_to_find_min &&
         std::ranges::any_of(texts, [&](const auto& text) { return text.contains(title); });
}

// What to redact, and everything needed to find it elsewhere.
struct Targets {
  std::set<Seq> seqs;                // without existing tombstones
  std::vector<std::string> texts;    // unescaped
  std::vector<std::string> escapes;  // as they appear within JSON
  std::vector<MessageId> queued;     // prompts that still wait
};

// The state folded from the journal with the tombstones in it.
class RedactedFold final : public JournalFold {
 public:
  RedactedFold(SessionId session, const Targets& targets) : session_(session), targets_(targets) {}

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
  const std::vector<Seq>& also_in() const { return also_in_; }
  std::vector<Leftover> take_left() { return std::move(left_); }
  std::vector<Redaction> take() { return std::move(redactions_); }

 private:
  void look_for_texts(Seq seq, std::string_view bytes, const DecodedRecord& decoded) {
    const bool has = std::ranges::any_of(
        targets_.escapes, [&](const std::string& text) { return bytes.contains(text); });
    const EventBody& body = decoded.record.event.body;
    if (!has && !is_title_of(body, targets_.texts)) return;
    also_in_.push_back(seq);
    left_.push_back({.where = name_of(seq, event_kind(decoded.record.event)),
                     .until = "that record is redacted too"});
  }

  SessionId session_;
  const Targets& targets_;
  Seq head_ = 0;
  State state_;
  std::vector<Redaction> redactions_;
  std::vector<Seq> also_in_;
  std::vector<Leftover> left_;
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
        return fail(Code::not_found, "there is no record " + std::to_string(seq));
      }
      TRY_VOID(look_at_target(state, seq));
    }
    for (const std::string& text : targets_.texts) targets_.escapes.push_back(escaped(text));
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
    targets_.seqs.insert(seq);
    std::ranges::move(texts_of(body), std::back_inserter(targets_.texts));
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
    if (targets_.seqs.empty()) return finish({});
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
    report_.also_in = fold_->also_in();
    report_.left = fold_->take_left();
    if (runtime_.sends_any(order_.session, targets_.escapes)) {
      report_.left.push_back({.where = "a command on its way to the agent",
                              .until = "the agent has taken it, or its run ends"});
    }
    const std::string in_engine = runtime_.store().bytes_kept();
    if (!in_engine.empty()) {
      report_.left.push_back({.where = "the files of the store", .until = in_engine});
    }
    find_copies();
  }

  void find_copies() {
    find_forks(runtime_, order_.session,
               [self = shared_from_this()](const Result<std::vector<SessionId>>& forks) {
                 if (!forks) return self->finish(std::unexpected(forks.error()));
                 for (const SessionId fork : *forks) self->look_at_fork(fork);
                 self->finish(std::move(self->report_));
               });
  }

  // The records of a copy have the same numbers.
  void look_at_fork(SessionId fork) {
    for (const Seq seq : targets_.seqs) {
      const Result<std::string> bytes = stored_record(runtime_.store(), fork, seq);
      if (!bytes) continue;
      const Result<DecodedRecord> decoded = decode_record(*bytes);
      if (!decoded || decoded->redacted || !holds_text(decoded->record.event.body)) continue;
      const bool has = std::ranges::any_of(
          targets_.escapes, [&](const std::string& text) { return bytes->contains(text); });
      if (!has && !targets_.escapes.empty()) continue;
      report_.left.push_back(
          {.where = "fork " + fork.text() + ", " + name_of(seq, event_kind(decoded->record.event)),
           .until = "that record is redacted there"});
    }
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
  std::shared_ptr<RedactedFold> fold_;
  RedactionReport report_;
};

}  // namespace

void redact_records(Runtime& runtime, RedactionOrder order, OnRedacted done) {
  std::make_shared<RedactionJob>(runtime, std::move(order), std::move(done))->start();
}

}  // namespace perdure
