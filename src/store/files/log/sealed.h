// JSON objects with their own checksum: {"crc":"1a2b3c4d", …}, which covers everything after it.
// Every line and file that the engine writes for itself has this form, so that people can read it
// and flipped bits are detected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace perdure {

// Seals an object with at least one member and no line breaks.
std::string seal(std::string_view object);
bool is_sealed(std::string_view text);
// The members of a sealed object; `damaged` for anything else. `what` names it in the error.
Result<JsonObject> open_sealed(std::string_view text, std::string_view what);

std::string crc_text(std::uint32_t crc);

// Bytes under a key: as a string if they are text, otherwise as `<key>_base64`.
struct BytesField {
  std::string_view key;
  std::string_view bytes;
};
void write_bytes(JsonWriter& json, const BytesField& field);
// Empty if the key is missing.
Result<std::string> read_bytes(const JsonObject& object, std::string_view key);

}  // namespace perdure
