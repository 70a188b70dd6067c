// Walks the field lists of all kinds and says their types as the document does.
#include "wire/schema.h"

#include <algorithm>
#include <utility>

#include "base/fields_json.h"
#include "session/events.h"

namespace perdure {
namespace {

template <class T>
std::string type_text();

// The document's names of the structs that records share.
template <class T>
inline constexpr std::string_view struct_name;
template <>
inline constexpr std::string_view struct_name<AgentProfile> = "profile";
template <>
inline constexpr std::string_view struct_name<Workspace> = "workspace";
template <>
inline constexpr std::string_view struct_name<Policy> = "policy";
template <>
inline constexpr std::string_view struct_name<AgentAbilities> = "abilities";
template <>
inline constexpr std::string_view struct_name<OpenAttempt> = "attempt";
template <>
inline constexpr std::string_view struct_name<PermissionOption> = "option";
template <>
inline constexpr std::string_view struct_name<Deadline> = "deadline";

template <TextEnum T>
std::string enum_texts() {
  std::string out;
  for (const std::string_view name : EnumText<T>::names) {
    if (!out.empty()) out += " | ";
    out += name;
  }
  return out;
}

template <class T>
std::string type_text() {
  if constexpr (is_optional<T>) {
    return type_text<typename T::value_type>();
  } else if constexpr (is_sequence<T>) {
    return "[" + type_text<typename T::value_type>() + ", …]";
  } else if constexpr (is_map<T>) {
    return "{…: " + type_text<typename T::mapped_type>() + "}";
  } else if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (WholeNumber<T>) {
    return "number";
  } else if constexpr (std::same_as<T, RawJson>) {
    return "any JSON";
  } else if constexpr (std::same_as<T, Hash>) {
    return "hash";
  } else if constexpr (std::same_as<T, Timestamp>) {
    return "time";
  } else if constexpr (StrongId<T>) {
    return std::string(T::prefix) + " id";
  } else if constexpr (TextEnum<T>) {
    return enum_texts<T>();
  } else {
    return std::string(struct_name<T>);
  }
}

struct FieldLister {
  KindSchema& out;

  template <class T>
  void operator()(std::string_view name, const T&) {
    out.fields.push_back({name, type_text<T>()});
  }
};

template <class T>
KindSchema schema_of(std::string_view kind) {
  KindSchema out{kind, {}};
  const T value{};
  visit_fields(value, FieldLister{out});
  return out;
}

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
    add.operator()<AgentProfile, Workspace, Policy, AgentAbilities, OpenAttempt, PermissionOption,
                   Deadline>();
    return out;
  }();
  return schemas;
}

const KindSchema& origin_schema() {
  static const KindSchema schema = schema_of<Origin>("");
  return schema;
}

}  // namespace perdure
