#include "daemon/runtime/reads/masking.h"

#include "core/session/redacted.h"
#include "core/wire/journal/record.h"

namespace perdure {
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
