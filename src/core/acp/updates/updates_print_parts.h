// The parts of an update that other messages contain as well: tools, options, choices. Only for the
// writers of this folder.
#pragma once

#include <string>
#include <vector>

#include "core/acp/updates/updates.h"

namespace perdure::acp {

// Writes the members of a tool into an open object.
void write_tool(JsonWriter& writer, const ToolUpserted& tool, Dialect dialect);

// The items of the content, each as JSON.
std::vector<std::string> print_tool_items(const ToolContent& content, Dialect dialect);

}  // namespace perdure::acp
