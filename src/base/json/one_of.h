// A value of one of many kinds: std::variant for closed sets of dozens of structs, made so that
// files that only read it compile fast. Operations on every kind (copy, move, destruction,
// comparison) are declared here and instantiated in the one .cc that includes
// base/json/one_of_members.h.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace perdure {

template <class... Alternatives>
struct Kinds {
  static constexpr std::size_t size = sizeof...(Alternatives);
  template <std::size_t Index>
  using at = __type_pack_element<Index, Alternatives...>;
  template <class T>
  static constexpr std::size_t count = (std::size_t{std::same_as<T, Alternatives>} + ... + 0);
  // The index of T, or size.
  template <class T>
  static constexpr std::size_t index_of = [] {
    std::size_t index = 0;
    static_cast<void>(((std::same_as<T, Alternatives> || (++index, false)) || ...));
    return index;
  }();
};

template <class T, class Set>
concept KindOf = Set::template count<T> == 1;

template <class Set>
class OneOf;

// Always holds a kind; a new one holds the first. Moving does not throw, and leaves a moved-from
// value of the same kind.
template <class... Alternatives>
class OneOf<Kinds<Alternatives...>> {
 public:
  using Set = Kinds<Alternatives...>;
  static constexpr std::size_t size = Set::size;
  template <std::size_t Index>
  using Kind = typename Set::template at<Index>;

  OneOf();
  OneOf(const OneOf& other);
  OneOf(OneOf&& other) noexcept;
  OneOf& operator=(const OneOf& other);
  OneOf& operator=(OneOf&& other) noexcept;
  ~OneOf();
  bool operator==(const OneOf& other) const
    requires(std::equality_comparable<Alternatives> && ...);

  template <KindOf<Set> T>
  OneOf(T value) noexcept : index_(Set::template index_of<T>) {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    ::new (static_cast<void*>(bytes_)) T(std::move(value));
  }

  std::size_t index() const { return index_; }

  // Replaces the value with a default-constructed T.
  template <KindOf<Set> T>
  T& emplace() {
    T value{};
    destroy();
    index_ = Set::template index_of<T>;
    return *::new (static_cast<void*>(bytes_)) T(std::move(value));
  }

  // The value, which must be a T.
  template <class T>
  T* at() {
    return std::launder(reinterpret_cast<T*>(bytes_));
  }
  template <class T>
  const T* at() const {
    return std::launder(reinterpret_cast<const T*>(bytes_));
  }

 private:
  void destroy() noexcept;

  alignas(Alternatives...) std::byte bytes_[std::max({sizeof(Alternatives)...})];
  std::uint8_t index_ = 0;
};

template <class T, class Set>
bool holds_alternative(const OneOf<Set>& value) {
  static_assert(KindOf<T, Set>);
  return value.index() == Set::template index_of<T>;
}

// Null if it is of another kind.
template <class T, class Set>
T* get_if(OneOf<Set>* value) {
  return holds_alternative<T>(*value) ? value->template at<T>() : nullptr;
}
template <class T, class Set>
const T* get_if(const OneOf<Set>* value) {
  return holds_alternative<T>(*value) ? value->template at<T>() : nullptr;
}

// CHECKs that it is of this kind.
template <class T, class Set>
T& get(OneOf<Set>& value) {
  CHECK(holds_alternative<T>(value));
  return *value.template at<T>();
}
template <class T, class Set>
const T& get(const OneOf<Set>& value) {
  CHECK(holds_alternative<T>(value));
  return *value.template at<T>();
}

#define ONE_OF_CASE(I)                                                    \
  case I:                                                                 \
    if constexpr (I < Set::size) {                                        \
      return visitor(*value.template at<typename Set::template at<I>>()); \
    } else {                                                              \
      std::unreachable();                                                 \
    }
#define ONE_OF_CASES_4(I) ONE_OF_CASE(I) ONE_OF_CASE(I + 1) ONE_OF_CASE(I + 2) ONE_OF_CASE(I + 3)
#define ONE_OF_CASES_16(I) \
  ONE_OF_CASES_4(I) ONE_OF_CASES_4(I + 4) ONE_OF_CASES_4(I + 8) ONE_OF_CASES_4(I + 12)

// Calls the visitor with the value as its own type. The visitor must accept every kind, with one
// result type. A switch: one function to compile, where std::visit makes a table with one per kind.
template <class Set, class Value>
decltype(auto) visit_one_of(auto& visitor, Value& value) {
  static_assert(Set::size <= 64);
  switch (value.index()) {
    ONE_OF_CASES_16(0)
    ONE_OF_CASES_16(16)
    ONE_OF_CASES_16(32)
    ONE_OF_CASES_16(48)
    default: std::unreachable();
  }
}
#undef ONE_OF_CASES_16
#undef ONE_OF_CASES_4
#undef ONE_OF_CASE

template <class Set>
decltype(auto) visit(auto&& visitor, const OneOf<Set>& value) {
  return visit_one_of<Set>(visitor, value);
}
template <class Set>
decltype(auto) visit(auto&& visitor, OneOf<Set>& value) {
  return visit_one_of<Set>(visitor, value);
}

}  // namespace perdure
