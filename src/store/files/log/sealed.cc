#include "store/files/log/sealed.h"

#include "base/bytes/base64.h"
#include "base/bytes/crc32c.h"
#include "base/check.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::string_view opening = R"({"crc":")";
constexpr std::size_t digits = 8;
constexpr std::size_t covered_from = opening.size() + digits;  // the closing quote onwards

}  // namespace

std::string crc_text(std::uint32_t crc) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out(digits, '0');
  for (std::size_t i = digits; i-- > 0; crc >>= 4U) out[i] = hex[crc & 0xfU];
  return out;
}

std::string seal(std::string_view object) {
  CHECK(object.size() > 2 && object.front() == '{', "only objects with members are sealed");
  std::string rest = "\",";
  rest += object.substr(1);
  std::string out(opening);
  out += crc_text(crc32c(rest));
  out += rest;
  return out;
}

bool is_sealed(std::string_view text) {
  return text.size() > covered_from && text.starts_with(opening) &&
         text.substr(opening.size(), digits) == crc_text(crc32c(text.substr(covered_from)));
}

Result<JsonObject> open_sealed(std::string_view text, std::string_view what) {
  if (!is_sealed(text)) return fail(Code::damaged, std::string(what) + " is damaged");
  Result<JsonObject> object = JsonObject::parse(text);
  if (!object) return fail(Code::damaged, std::string(what) + ": " + object.error().message());
  return object;
}

void write_bytes(JsonWriter& json, const BytesField& field) {
  if (is_utf8(field.bytes)) {
    json.key(field.key).string(field.bytes);
  } else {
    json.key(std::string(field.key) + "_base64").string(base64_encode(field.bytes));
  }
}

Result<std::string> read_bytes(const JsonObject& object, std::string_view key) {
  if (const std::string_view raw = object.find(key); !raw.empty()) return json_string(raw);
  const std::string_view coded = object.find(std::string(key) + "_base64");
  if (coded.empty()) return std::string();
  return base64_decode(TRY(json_string(coded)));
}

}  // namespace perdure
