// Brings the node journal back: its last good snapshot, then the records behind it, each checked
// against the hash chain. The journal is the truth; a bad snapshot only costs time.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/node.h"

namespace perdure {

struct LoadedNode {
  NodeState state;
  Hash head_hash;
  Seq snapshot = 0;  // the head that the stored snapshot was taken at; 0: none that can be used
};

// A store without a node journal gives an empty one. `damaged` when the chain or a record is
// broken, format_too_new when a later version wrote it.
Result<LoadedNode> load_node(Store& store);
// Brings it up to what is in the store now. After an error some of it may be newer, and is whole.
Result<> load_behind(Store& store, LoadedNode& at);

std::string encode_node_snapshot(const NodeState& state);
// Takes any bytes; `damaged` for what is no snapshot of this version.
Result<NodeState> decode_node_snapshot(std::string_view bytes);

}  // namespace perdure
