// Lets a plain struct list its fields once for every reader of fields: the journal codec,
// snapshots, generators in tests. A struct has
//
//   template <class Self>
//   void fields(this Self& self, auto&& visit) { visit("name", self.member); … }
//
// and an enum has a table of texts: ENUM_TEXT(Colour, "red", "green").
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace perdure {

template <class Enum>
struct EnumText;  // specialised by ENUM_TEXT: `names` in the order of the enumerators

template <class Enum>
concept TextEnum = std::is_enum_v<Enum> && requires { EnumText<Enum>::names.size(); };

template <TextEnum Enum>
constexpr std::string_view enum_text(Enum value) {
  return EnumText<Enum>::names[static_cast<std::size_t>(value)];
}

template <TextEnum Enum>
constexpr std::optional<Enum> enum_parse(std::string_view text) {
  for (std::size_t i = 0; i < EnumText<Enum>::names.size(); ++i) {
    if (EnumText<Enum>::names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

struct AnyVisitor {
  void operator()(std::string_view, auto&) const {}
};

template <class T>
concept HasFields = requires(T& value) { value.fields(AnyVisitor{}); };

}  // namespace perdure

// For use at namespace perdure scope.
#define ENUM_TEXT(Enum, ...)                                                      \
  template <>                                                                     \
  struct EnumText<Enum> {                                                         \
    static constexpr auto names = std::to_array<std::string_view>({__VA_ARGS__}); \
  }
#define FIELDS          \
  template <class Self> \
  void fields([[maybe_unused]] this Self& self, [[maybe_unused]] auto&& visit)
