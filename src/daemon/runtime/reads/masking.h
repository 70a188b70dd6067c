// A record as it leaves Perdure: without the values that are known to be secret.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "base/secret_mask.h"

namespace perdure {

// Goes through whatever a value is made of. Ids, numbers and times hold no text.
class Masker {
 public:
  explicit Masker(const SecretMask& mask) : mask_(mask) {}

  void operator()(std::string_view /*name*/, auto& field) const { hide(field); }

  template <class T>
  void hide(T& value) const {
    if constexpr (std::same_as<T, std::string>) {
      value = mask_.mask(value);
    } else if constexpr (std::same_as<T, RawJson>) {
      value = mask_.mask(value);
    } else if constexpr (HasFields<T>) {
      value.fields(*this);
    } else {
      hide_inside(value);
    }
  }

 private:
  template <class T>
  void hide_inside(std::optional<T>& value) const {
    if (value) hide(*value);
  }
  template <class T>
  void hide_inside(std::vector<T>& values) const {
    for (T& value : values) hide(value);
  }
  void hide_inside(std::map<std::string, std::string>& values) const {
    for (auto& [name, value] : values) hide(value);
  }
  void hide_inside(auto& /*value*/) const {}

  const SecretMask& mask_;
};

// The same bytes where nothing has to be hidden. Otherwise a tombstone with the hash of the record,
// so that the chain verifies, which keeps the rest of its event. Errors as decode_record.
Result<std::string> masked_record(std::string_view bytes, const SecretMask& mask);

}  // namespace perdure
