// The record format as data, derived from the codec's field lists: for the reader of older formats,
// for docs/protocol/journal.md and for the test that the two agree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

struct FieldSchema {
  std::string_view name;
  std::string type;  // as in the document: "text", "run_ id", "permission | input", "policy" …
};

struct KindSchema {
  std::string_view kind;
  std::vector<FieldSchema> fields;

  // Null if the kind has no such field of its own.
  const FieldSchema* find(std::string_view name) const;
};

// Every known kind, in the order of record_kinds().
std::span<const KindSchema> record_schema();
// Null for an unknown kind.
const KindSchema* find_kind_schema(std::string_view kind);

// The objects that several kinds use in fields, by the name in `kind`: profile, policy …
std::span<const KindSchema> shared_schema();

// The optional members of the envelope: run_id, exec_id, gen, frame, after_run.
const KindSchema& origin_schema();

}  // namespace perdure
