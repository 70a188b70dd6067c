// Loads the node journal: its last good snapshot, then the records after it, each checked against
// the hash chain. The journal is authoritative; a bad snapshot only costs time.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "daemon/registry/node.h"

namespace perdure {

struct LoadedNode {
  NodeState state;
  Hash head_hash;
  Seq snapshot = 0;  // the head of the stored snapshot; 0: none is usable
};

// A store without a node journal gives an empty one. `damaged` if the chain or a record is broken,
// format_too_new if a later version wrote it.
Result<LoadedNode> load_node(Store& store);
// Updates it to the store's contents. After an error it may be partly updated, but is consistent.
Result<> load_behind(Store& store, LoadedNode& at);

std::string encode_node_snapshot(const NodeState& state);
// Accepts any bytes; `damaged` if they are not a snapshot of this version.
Result<NodeState> decode_node_snapshot(std::string_view bytes);

}  // namespace perdure
