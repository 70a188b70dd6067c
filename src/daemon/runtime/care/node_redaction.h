// Finds redacted texts in the node journal, and destroys the texts of tasks, tokens, removed rules
// and deleted sessions there. First the state loses them, then tombstones replace the records, so
// that a crash in between leaves nothing that is shown and a repeat finishes the work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/care/leftover.h"
#include "daemon/runtime/care/text_finder.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

using OnNodeFound = std::move_only_function<void(Result<std::vector<Leftover>>)>;

// Names what holds one of the texts. Answers from the loop.
void find_in_node(Runtime& runtime, const TextFinder& finder, OnNodeFound done);

struct NodeRedaction {
  std::vector<std::string> ids;  // task_…, rule_…, tok_…, sess_… of deleted sessions
  NodeRequest request;
};

// Answers from the loop with what is left. not_found for an id without a record, conflict for a
// rule that still answers; nothing has changed then. A repeat changes nothing.
void redact_node(Runtime& runtime, Node& node, NodeRedaction order, OnNodeFound done);

}  // namespace perdure
