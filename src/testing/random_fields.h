// Random values for every type with a field list, for tests only. `full` gives every field a
// non-default value; otherwise about half of them keep the default.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/fields_json.h"
#include "core/session/effects.h"
#include "core/session/events.h"

namespace perdure {

class RandomFields {
 public:
  enum class Fill { full, some };

  explicit RandomFields(std::uint64_t seed, Fill fill = Fill::full) : engine_(seed), fill_(fill) {}

  template <class T>
  T make() {
    T value{};
    set(value);
    return value;
  }

  // The alternative with this index; the last of EventBody is the unknown kind.
  template <class Variant>
  Variant make_alternative(std::size_t index) {
    return make_alternative<Variant>(index, std::make_index_sequence<Variant::size>());
  }

  Event make_event(std::size_t kind_index) {
    Event event;
    event.at = make<Timestamp>();
    event.origin = make<Origin>();
    event.body = make_alternative<EventBody>(kind_index);
    return event;
  }

  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

 private:
  template <class Variant, std::size_t... I>
  Variant make_alternative(std::size_t index, std::index_sequence<I...>) {
    Variant out;
    ((index == I ? void(out = make<typename Variant::template Kind<I>>()) : void()), ...);
    return out;
  }

  std::string text() {
    static constexpr std::array<std::string_view, 8> pieces{"a",
                                                            "Hello, world",
                                                            "\"quoted\"",
                                                            "back\\slash",
                                                            "new\nline\t",
                                                            "é世😀",
                                                            std::string_view("\0\x01\x1f\x7f", 4),
                                                            "  "};
    std::string out = "x";
    for (std::uint64_t i = below(6); i > 0; --i) out += pieces[below(pieces.size())];
    return out;
  }

  std::string raw_json() {
    static constexpr std::array<std::string_view, 6> values{
        R"({"sessionUpdate":"x","n":1.50,"deep":[{"a":[]},null]})",
        R"([1e400,-0,12345678901234567890])",
        "null",
        "false",
        R"("\u00e9\/")",
        R"({ "spaced" : [ 1 , 2 ] })"};
    return std::string(values[below(values.size())]);
  }

  template <class T>
  void set(T& value) {
    if constexpr (std::same_as<T, std::string>) {
      value = text();
    } else if constexpr (std::same_as<T, bool>) {
      value = !value;
    } else if constexpr (WholeNumber<T>) {
      // All magnitudes, not only the huge ones.
      value = static_cast<T>(engine_() >> below(64));
      if (value == 0) value = 1;
    } else if constexpr (std::same_as<T, RawJson>) {
      value.text = raw_json();
    } else if constexpr (std::same_as<T, Timestamp>) {
      value.ms = 1 + static_cast<std::int64_t>(below(4'000'000'000'000));
    } else if constexpr (std::same_as<T, Hash>) {
      for (auto& byte : value.bytes) byte = static_cast<unsigned char>(engine_());
    } else if constexpr (StrongId<T>) {
      value = T(Ulid::make(make<Timestamp>(), engine_(), engine_()));
    } else if constexpr (TextEnum<T>) {
      value = static_cast<T>(below(EnumText<T>::names.size()));
    } else if constexpr (is_optional<T>) {
      set(value.emplace());
    } else if constexpr (is_sequence<T>) {
      for (std::uint64_t i = 1 + below(3); i > 0; --i) set(value.emplace_back());
    } else if constexpr (is_map<T>) {
      for (std::uint64_t i = 1 + below(3); i > 0; --i) { set(value[make<typename T::key_type>()]); }
    } else if constexpr (std::same_as<T, UnknownEvent>) {
      value.kind = "future." + text();
      value.members.text = R"({"a":)" + raw_json() + R"(,"type":"odd","b\n":)" + raw_json() + "}";
    } else if constexpr (std::same_as<T, SendCommand>) {
      set(value.exec);
      set(value.gen);
      set(value.number);
      value.body = make_alternative<CommandBody>(below(CommandBody::size));
    } else {
      visit_fields(value, [&](std::string_view, auto& field) {
        if (fill_ == Fill::full || below(2) == 0) set(field);
      });
    }
  }

  std::mt19937_64 engine_;
  Fill fill_;
};

}  // namespace perdure
