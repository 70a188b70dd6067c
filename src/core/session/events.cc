// The names of the kinds, taken from the structs.
#include "core/session/events.h"

#include <type_traits>

#include "base/json/one_of_members.h"

namespace perdure {

template class OneOf<EventKinds>;

std::string_view event_kind(const Event& event) {
  return visit(
      [](const auto& body) -> std::string_view {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(body)>, UnknownEvent>) {
          return body.kind;
        } else {
          return body.kind_text;
        }
      },
      event.body);
}

}  // namespace perdure
