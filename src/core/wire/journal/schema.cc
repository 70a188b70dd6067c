// Walks the field lists of all kinds and names their types as the document does.
#include "core/wire/journal/schema.h"

#include <algorithm>
#include <utility>

#include "core/session/events.h"
#include "core/wire/journal/schema_of.h"

namespace perdure {
namespace {

template <std::size_t... I>
std::vector<KindSchema> all_schemas(std::index_sequence<I...>) {
  return {schema_of<EventBody::Kind<I>>(EventBody::Kind<I>::kind_text)...};
}

}  // namespace

const FieldSchema* KindSchema::find(std::string_view name) const {
  const auto at = std::ranges::find(fields, name, &FieldSchema::name);
  return at == fields.end() ? nullptr : &*at;
}

std::span<const KindSchema> record_schema() {
  static const std::vector<KindSchema> schemas =
      all_schemas(std::make_index_sequence<EventBody::size - 1>());
  return schemas;
}

const KindSchema* find_kind_schema(std::string_view kind) {
  const auto schemas = record_schema();
  const auto at = std::ranges::find(schemas, kind, &KindSchema::kind);
  return at == schemas.end() ? nullptr : &*at;
}

std::span<const KindSchema> shared_schema() {
  static const std::vector<KindSchema> schemas = [] {
    std::vector<KindSchema> out;
    const auto add = [&]<class... T>() { (out.push_back(schema_of<T>(struct_name<T>)), ...); };
    add.operator()<AgentProfile, Workspace, Policy, AgentLimits, ContinueAtReset, AgentAbilities,
                   OpenAttempt, PermissionOption, Deadline>();
    return out;
  }();
  return schemas;
}

const KindSchema& origin_schema() {
  static const KindSchema schema = schema_of<Origin>("");
  return schema;
}

}  // namespace perdure
