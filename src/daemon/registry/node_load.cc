#include "daemon/registry/node_load.h"

#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/wire/journal/node_record.h"
#include "daemon/registry/node_events.h"

namespace perdure {
namespace {

constexpr std::string_view magic = "perdure-node-snapshot 1 ";

// Where folding starts: after the snapshot, or at the beginning if none is usable.
Result<LoadedNode> start_of(Store& store, Seq head) {
  const auto stored = TRY(store.snapshot(Node::journal_id()));
  if (!stored || stored->seq == 0 || stored->seq > head) return LoadedNode{};
  Result<NodeState> state = decode_node_snapshot(stored->bytes);
  if (!state || state->head != stored->seq) return LoadedNode{};
  const RecordPage page =
      TRY(store.read(Node::journal_id(), {.after = stored->seq - 1, .limit = 1}));
  if (page.records.size() != 1) return fail(Code::damaged, "the record of the snapshot is missing");
  // No tombstone: a redaction takes the snapshot away.
  return LoadedNode{std::move(*state), sha256(page.records.front()), stored->seq};
}

}  // namespace

std::string encode_node_snapshot(const NodeState& state) {
  const std::string body = encode_fields(state);
  return std::string(magic) + sha256(body).hex() + "\n" + body;
}

Result<NodeState> decode_node_snapshot(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(magic) || line == std::string_view::npos) {
    return fail(Code::damaged, "this is not a node snapshot");
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

Result<> load_behind(Store& store, LoadedNode& at) {
  NodeChain chain(at.state.head, at.head_hash);
  while (true) {
    const Result<RecordPage> page =
        store.read(Node::journal_id(), {.after = at.state.head, .limit = page_records_max});
    const bool is_new = !page && at.state.head == 0 && page.error().code() == Code::not_found;
    if (is_new) return {};
    if (!page) return std::unexpected(page.error());
    if (page->records.empty()) return {};
    for (const std::string& bytes : page->records) {
      const NodeRecord record = TRY(chain.add(bytes));
      Result<NodeEvent> event = decode_node_event(record.kind, record.fields);
      if (!event) {
        return fail(Code::damaged,
                    "node record " + std::to_string(record.seq) + ": " + event.error().message());
      }
      evolve(at.state, *event);
    }
    at.head_hash = chain.hash();
  }
}

Result<LoadedNode> load_node(Store& store) {
  const Result<SessionHead> head = store.head(Node::journal_id());
  if (!head) {
    if (head.error().code() == Code::not_found) return LoadedNode{};
    return std::unexpected(head.error());
  }
  LoadedNode at = TRY(start_of(store, head->seq));
  TRY_VOID(load_behind(store, at));
  if (at.state.head < head->seq) return fail(Code::damaged, "records are missing before the head");
  return at;
}

}  // namespace perdure
