// Describes a field list as in a document: each field with its type in words. For
// core/wire/journal/schema.cc and for the tests that compare documents with the structs they
// describe.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/json/fields_json.h"
#include "core/session/events.h"
#include "core/wire/journal/schema.h"

namespace perdure {

// "text", "run_ id", "permission | input", "policy" …
template <class T>
std::string type_text();

// The documents' names of structs used in several others.
template <class T>
inline constexpr std::string_view struct_name;
template <>
inline constexpr std::string_view struct_name<AgentProfile> = "profile";
template <>
inline constexpr std::string_view struct_name<Workspace> = "workspace";
template <>
inline constexpr std::string_view struct_name<Policy> = "policy";
template <>
inline constexpr std::string_view struct_name<AgentLimits> = "limits";
template <>
inline constexpr std::string_view struct_name<ContinueAtReset> = "continue_at_reset";
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

// The fields of T under this name.
template <class T>
KindSchema schema_of(std::string_view kind) {
  KindSchema out{kind, {}};
  const T value{};
  visit_fields(value, FieldLister{out});
  return out;
}

}  // namespace perdure
