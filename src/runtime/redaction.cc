#include "runtime/redaction.h"

#include <memory>
#include <string>
#include <utility>

#include "runtime/transfer.h"
#include "session/machine.h"
#include "wire/record.h"

namespace perdure {
namespace {

// The state as it would be folded from the journal with the tombstone in it.
class RedactedFold final : public JournalFold {
 public:
  RedactedFold(SessionId session, Seq seq) { redaction_ = {.session = session, .seq = seq}; }

  Result<> add(Seq seq, std::string_view bytes) override {
    std::string tombstone;
    if (seq == redaction_.seq) {
      tombstone = TRY(encode_tombstone(bytes));
      if (const std::optional<Hash> blob = blob_of(bytes)) redaction_.blobs.push_back(*blob);
      redaction_.replacement = tombstone;
      changes_ = tombstone != bytes;
    }
    const DecodedRecord decoded = TRY(decode_record(tombstone.empty() ? bytes : tombstone));
    state_ = evolve(std::move(state_), decoded.record.event);
    return {};
  }
  bool wants_more() const override { return changes_; }

  const State& state() const { return state_; }
  bool changes() const { return changes_; }
  Redaction take() { return std::move(redaction_); }

 private:
  State state_;
  Redaction redaction_;
  bool changes_ = true;
};

}  // namespace

void redact_record(Runtime& runtime, SessionId session, Seq seq, OnScanned done) {
  Result<State> state = runtime.state(session);
  if (!state || seq == 0 || seq > state->head) {
    Error error = state ? Error(Code::not_found, "there is no such record") : state.error();
    runtime.loop().post([done = std::move(done), error = std::move(error)]() mutable {
      done(std::unexpected(std::move(error)));
    });
    return;
  }
  auto fold = std::make_shared<RedactedFold>(session, seq);
  const Seq head = state->head;
  scan_journal(runtime, session, {.upto = head}, fold,
               [&runtime, session, fold, before = std::move(*state),
                done = std::move(done)](const Result<>& scanned) mutable {
                 if (!scanned) return done(scanned);
                 if (!fold->changes()) return done({});
                 if (fold->state() != before) {
                   return done(fail(Code::conflict,
                                    "the session's state still rests on this record; stop the "
                                    "session, or redact another"));
                 }
                 const Result<> redacted = runtime.store().redact(fold->take());
                 if (redacted) runtime.forget_recent(session);
                 done(redacted);
               });
}

}  // namespace perdure
