#include "runtime/node_load.h"

#include <utility>

#include "base/fields_json.h"
#include "base/limits.h"
#include "runtime/node_events.h"
#include "wire/node_record.h"

namespace perdure {
namespace {

constexpr std::string_view magic = "perdure-node-snapshot 1 ";

struct Start {
  NodeState state;
  NodeChain chain;
};

// Where folding starts: behind the snapshot, or at the very beginning when there is none to use.
Result<Start> start_of(Store& store, Seq head) {
  const auto stored = TRY(store.snapshot(Node::journal_id()));
  if (!stored || stored->seq == 0 || stored->seq > head) return Start{};
  Result<NodeState> state = decode_node_snapshot(stored->bytes);
  if (!state || state->head != stored->seq) return Start{};
  const RecordPage page =
      TRY(store.read(Node::journal_id(), {.after = stored->seq - 1, .limit = 1}));
  if (page.records.size() != 1) return fail(Code::damaged, "the record of the snapshot is missing");
  return Start{std::move(*state), NodeChain(stored->seq, sha256(page.records.front()))};
}

}  // namespace

std::string encode_node_snapshot(const NodeState& state) {
  const std::string body = encode_fields(state);
  return std::string(magic) + sha256(body).hex() + "\n" + body;
}

Result<NodeState> decode_node_snapshot(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(magic) || line == std::string_view::npos) {
    return fail(Code::damaged, "this is no snapshot of a node");
  }
  const std::string_view body = bytes.substr(line + 1);
  if (bytes.substr(magic.size(), line - magic.size()) != sha256(body).hex()) {
    return fail(Code::damaged, "the snapshot's checksum is wrong");
  }
  auto decoded = decode_fields<NodeState>(body);
  if (!decoded) return fail(Code::damaged, "snapshot: " + decoded.error().message());
  if (!decoded->unknown.text.empty()) {
    return fail(Code::damaged, "the snapshot has unknown members");
  }
  return std::move(decoded->value);
}

Result<LoadedNode> load_node(Store& store) {
  const Result<SessionHead> head = store.head(Node::journal_id());
  if (!head) {
    if (head.error().code() == Code::not_found) return LoadedNode{};
    return std::unexpected(head.error());
  }
  Start at = TRY(start_of(store, head->seq));
  const Seq snapshot = at.state.head;
  while (at.state.head < head->seq) {
    const RecordPage page =
        TRY(store.read(Node::journal_id(), {.after = at.state.head, .limit = page_records_max}));
    if (page.records.empty()) return fail(Code::damaged, "records are missing before the head");
    for (const std::string& bytes : page.records) {
      const NodeRecord record = TRY(at.chain.add(bytes));
      Result<NodeEvent> event = decode_node_event(record.kind, record.fields);
      if (!event) {
        return fail(Code::damaged,
                    "node record " + std::to_string(record.seq) + ": " + event.error().message());
      }
      evolve(at.state, *event);
    }
  }
  return LoadedNode{std::move(at.state), at.chain.hash(), snapshot};
}

}  // namespace perdure
