#include "runtime/masking.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "session/redacted.h"
#include "wire/record.h"

namespace perdure {
namespace {

// Visits every part of an event. Ids, numbers and times hold no text.
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

}  // namespace

Result<std::string> masked_record(std::string_view bytes, const SecretMask& mask) {
  // Most records contain no secret and need not be decoded.
  if (mask.mask(RawJson{std::string(bytes)}).text == bytes) return std::string(bytes);
  const DecodedRecord decoded = TRY(decode_record(bytes));
  if (decoded.redacted) return std::string(bytes);
  if (holds_alternative<UnknownEvent>(decoded.record.event.body) || decoded.version == 0) {
    return encode_tombstone(bytes);
  }
  EventBody kept = decoded.record.event.body;
  const Masker masker(mask);
  visit([&](auto& body) { masker.hide(body); }, kept);
  const bool is_same = kept == decoded.record.event.body && decoded.extra.text.empty();
  return is_same ? std::string(bytes) : encode_tombstone(bytes, kept);
}

}  // namespace perdure
