// Converts a struct with FIELDS to a JSON schema, by the rules of base/json/fields_json.h.
#pragma once

#include <concepts>
#include <string_view>

#include "base/json/fields_json.h"

namespace perdure {

template <class T>
void write_schema(JsonWriter& out);

struct SchemaFields {
  JsonWriter& out;

  template <class T>
  void operator()(std::string_view name, const T&) {
    out.key(name);
    write_schema<T>(out);
  }
};

// An object with exactly these members, none of them required.
template <class T>
void write_object_schema(JsonWriter& out) {
  out.begin_object().key("type").string("object").key("properties").begin_object();
  const T value{};
  visit_fields(value, SchemaFields{out});
  out.end_object().key("additionalProperties").boolean(false).end_object();
}

template <class T>
void write_schema(JsonWriter& out) {
  if constexpr (is_optional<T>) {
    write_schema<typename T::value_type>(out);
  } else if constexpr (std::same_as<T, RawJson>) {
    out.begin_object().end_object();
  } else if constexpr (FieldStruct<const T>) {
    write_object_schema<T>(out);
  } else if constexpr (is_sequence<T>) {
    out.begin_object().key("type").string("array").key("items");
    write_schema<typename T::value_type>(out);
    out.end_object();
  } else if constexpr (is_map<T>) {
    out.begin_object().key("type").string("object").key("additionalProperties");
    write_schema<typename T::mapped_type>(out);
    out.end_object();
  } else if constexpr (std::same_as<T, bool>) {
    out.begin_object().key("type").string("boolean").end_object();
  } else if constexpr (WholeNumber<T>) {
    out.begin_object().key("type").string("integer").end_object();
  } else if constexpr (TextEnum<T>) {
    out.begin_object().key("type").string("string").key("enum").begin_array();
    for (const std::string_view name : EnumText<T>::names) out.string(name);
    out.end_array().end_object();
  } else if constexpr (StrongId<T>) {
    out.begin_object().key("type").string("string").key("pattern");
    out.string("^" + std::string(T::prefix) + "[0-9a-z]{26}$").end_object();
  } else {
    out.begin_object().key("type").string("string").end_object();
  }
}

}  // namespace perdure
