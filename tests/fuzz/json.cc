// Any bytes given to the JSON reader: an error or a value, never a crash or a read beyond the
// input. An accepted value is the same after it is taken apart, written and read again.
#include "base/json/json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"

namespace perdure {
namespace {

bool lies_within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// Each reader returns a value or an error, and a value that can be written gives the same text
// again.
void read_scalar(std::string_view raw) {
  if (const auto text = json_string(raw)) {
    CHECK(is_utf8(*text));
    const std::string written = JsonWriter().string(*text).text();
    CHECK(json_validate(written).has_value());
    CHECK(json_string(written) == text);
  }
  if (const auto number = json_int(raw)) CHECK(json_int(std::to_string(*number)) == number);
  if (const auto number = json_uint(raw)) CHECK(json_uint(std::to_string(*number)) == number);
  (void)json_bool(raw);
}

void take_apart(std::string_view raw) {
  CHECK(json_validate(raw).has_value());
  read_scalar(raw);
  if (const auto elements = json_elements(raw)) {
    JsonWriter writer;
    writer.begin_array();
    for (const std::string_view element : *elements) {
      CHECK(lies_within(element, raw));
      take_apart(element);
      writer.raw(element);
    }
    writer.end_array();
    CHECK(json_elements(writer.text())->size() == elements->size());
  }
}

void take_object_apart(std::string_view text) {
  const auto object = JsonObject::parse(text);
  if (!object) return;
  JsonWriter writer;
  writer.begin_object();
  for (const auto& [key, raw] : object->members()) {
    CHECK(is_utf8(key));
    CHECK(lies_within(raw, text));
    take_apart(raw);
    writer.key(key).raw(raw);
  }
  writer.end_object();
  const auto again = JsonObject::parse(writer.text());
  CHECK(again.has_value());
  CHECK(again->members() == object->members());
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (perdure::json_validate(text)) {
    CHECK(perdure::is_utf8(text));
    perdure::take_apart(text);
    perdure::take_object_apart(text);
  } else {
    CHECK(!perdure::JsonObject::parse(text).has_value());
  }
  return 0;
}
