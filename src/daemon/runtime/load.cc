#include "daemon/runtime/load.h"

#include "base/limits.h"
#include "base/probe.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "core/wire/journal/snapshot.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/audit/audit_index.h"
#include "daemon/runtime/care/fork.h"

namespace perdure {
namespace {

// The hash of the record at which a snapshot was taken, so that the chain can continue after it.
Result<Hash> hash_at(Store& store, SessionId session, Seq seq) {
  const RecordPage page = TRY(store.read(session, {.after = seq - 1, .limit = 1}));
  if (page.records.size() != 1) return fail(Code::damaged, "the record of the snapshot is missing");
  return chain_hash(TRY(decode_record(page.records.front())), page.records.front());
}

struct Start {
  State state;
  ChainVerifier chain;
};

// Where folding starts: after the snapshot, or at the beginning if none is usable.
Result<Start> start_of(Store& store, SessionId session, Seq head) {
  const std::optional<StoredSnapshot> stored = TRY(store.snapshot(session));
  if (!stored || stored->seq == 0) return Start{};
  // Another daemon may have written since the head was read; otherwise the snapshot proves that
  // records are missing.
  if (stored->seq > head && stored->seq > TRY(store.head(session)).seq) {
    return fail(Code::damaged, "records that the snapshot knows of are missing");
  }
  if (stored->seq > head) return Start{};
  Result<State> state = decode_snapshot(stored->bytes);
  if (!state || state->head != stored->seq) {
    SIM_PROBE("unusable snapshot passed over");
    return Start{};
  }
  const Hash hash = TRY(hash_at(store, session, stored->seq));
  return Start{std::move(*state), ChainVerifier(stored->seq, hash)};
}

}  // namespace

std::optional<std::string> snapshot_to_keep(const State& state) {
  std::string snapshot = encode_snapshot(state);
  if (snapshot.size() > snapshot_bytes_max) return std::nullopt;
  return snapshot;
}

Result<LoadedSession> load_session(Store& store, SessionId session) {
  // Stored like a session but not one: writing to it as a session would break it.
  if (session == Node::journal_id() || is_audit_journal(session)) {
    return fail(Code::not_found, "no session " + session.text());
  }
  const SessionHead head = TRY(store.head(session));
  std::vector<OutboxRow> outbox = TRY(store.outbox(session));
  if (is_unfinished_fork(outbox)) return fail(Code::not_found, "the fork is not whole");
  Start at = TRY(start_of(store, session, head.seq));
  const Seq snapshot = at.state.head;
  while (at.state.head < head.seq) {
    const RecordPage page =
        TRY(store.read(session, {.after = at.state.head, .limit = page_records_max}));
    if (page.records.empty()) return fail(Code::damaged, "records are missing before the head");
    for (const std::string& bytes : page.records) {
      const DecodedRecord decoded = TRY(at.chain.add(bytes));
      at.state = evolve(std::move(at.state), decoded.record.event);
    }
  }
  return LoadedSession{.state = std::move(at.state),
                       .head_hash = at.chain.hash(),
                       .snapshot = snapshot,
                       .cursor = head.cursor,
                       .outbox = std::move(outbox)};
}

}  // namespace perdure
