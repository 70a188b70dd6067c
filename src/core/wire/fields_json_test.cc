// The codec of field lists: omitted members read back as the default, errors name their path, and
// unknown members keep their position.
#include "base/json/fields_json.h"

#include <string>

#include <gtest/gtest.h>

#include "core/session/state.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

enum class Colour { red, green };

}  // namespace

ENUM_TEXT(Colour, "red", "green");

namespace {

struct Inner {
  std::string name;
  bool on = false;
  bool operator==(const Inner&) const = default;
  FIELDS {
    visit("name", self.name);
    visit("on", self.on);
  }
};

struct Sample {
  std::string text;
  std::string preset = "preset";
  bool yes = true;
  std::int64_t number = 0;
  std::uint64_t count = 0;
  Colour colour = Colour::red;
  RunId run;
  Timestamp at;
  Hash hash;
  RawJson raw;
  Inner inner;
  Prompt prompt;
  std::optional<Inner> maybe;
  std::optional<std::int64_t> maybe_number;
  std::vector<Inner> list;
  std::map<std::string, std::string> texts;
  std::map<RunId, Inner> by_run;
  Deadline deadline;
  bool operator==(const Sample&) const = default;
  FIELDS {
    visit("text", self.text);
    visit("preset", self.preset);
    visit("yes", self.yes);
    visit("number", self.number);
    visit("count", self.count);
    visit("colour", self.colour);
    visit("run", self.run);
    visit("at", self.at);
    visit("hash", self.hash);
    visit("raw", self.raw);
    visit("inner", self.inner);
    self.prompt.fields(visit);
    visit("maybe", self.maybe);
    visit("maybe_number", self.maybe_number);
    visit("list", self.list);
    visit("texts", self.texts);
    visit("by_run", self.by_run);
    visit("deadline", self.deadline);
  }
};

Sample decode(std::string_view text) {
  auto decoded = decode_fields<Sample>(text);
  EXPECT_TRUE(decoded.has_value()) << text << (decoded ? "" : decoded.error().message());
  return decoded ? decoded->value : Sample{};
}

std::string error_of(std::string_view text) {
  const auto decoded = decode_fields<Sample>(text);
  if (decoded) return "decoded";
  EXPECT_EQ(decoded.error().code(), Code::invalid_argument);
  return decoded.error().message();
}

TEST(FieldsJson, leaves_out_what_holds_nothing_but_never_an_enum_or_an_unusual_default) {
  EXPECT_EQ(encode_fields(Sample{}), R"({"preset":"preset","yes":true,"colour":"red"})");
  EXPECT_EQ(decode("{}"), Sample{});
}

TEST(FieldsJson, tells_nothing_from_the_default_where_they_differ) {
  Sample sample;
  sample.preset = "";
  sample.yes = false;
  sample.maybe_number = 0;
  sample.maybe.emplace();
  sample.list.resize(2);
  EXPECT_EQ(
      encode_fields(sample),
      R"({"preset":"","yes":false,"colour":"red","maybe":{},"maybe_number":0,"list":[{},{}]})");
  EXPECT_EQ(decode(encode_fields(sample)), sample);
}

TEST(FieldsJson, reads_back_what_it_wrote) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    const Sample sample = RandomFields(seed, fill).make<Sample>();
    const std::string text = encode_fields(sample);
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos);
    ASSERT_EQ(decode(text), sample) << text;
    ASSERT_EQ(encode_fields(decode(text)), text);
  }
}

TEST(FieldsJson, writes_a_deadline_with_all_its_clocks) {
  Sample sample;
  sample.deadline = {{1'700'000'000'123}, 60'000, {5'000}, "boot-a"};
  EXPECT_TRUE(encode_fields(sample).contains(
      R"("deadline":{"at":"2023-11-14T22:13:20.123Z","granted_ms":60000,"boot_ms":5000,)"
      R"("host_boot":"boot-a"})"))
      << encode_fields(sample);
}

TEST(FieldsJson, names_the_field_that_is_wrong) {
  EXPECT_EQ(error_of(R"({"text":1})"), "text: expected a string");
  EXPECT_EQ(error_of(R"({"text":null})"), "text: expected a string");
  EXPECT_EQ(error_of(R"({"yes":"true"})"), "yes: expected true or false");
  EXPECT_EQ(error_of(R"({"number":1.5})"), "number: expected a whole number");
  EXPECT_EQ(error_of(R"({"number":9223372036854775808})"), "number: expected a whole number");
  EXPECT_EQ(error_of(R"({"count":-1})"), "count: expected a whole number that is not negative");
  EXPECT_EQ(error_of(R"({"colour":"blue"})"), "colour: 'blue' is not known");
  EXPECT_EQ(error_of(R"({"inner":[]})"), "inner: expected an object");
  EXPECT_EQ(error_of(R"({"inner":{"on":0}})"), "inner.on: expected true or false");
  EXPECT_EQ(error_of(R"({"list":[{},{"name":{}}]})"), "list[1].name: expected a string");
  EXPECT_EQ(error_of(R"({"list":{}})"), "list: expected an array");
  EXPECT_EQ(error_of(R"({"texts":{"a":1}})"), "texts.a: expected a string");
  EXPECT_EQ(error_of(R"({"texts":{"a":"1","\u0061":"2"}})"), "texts.a: it is there twice");
  EXPECT_EQ(error_of(R"({"text":"a","te\u0078t":"b"})"), "text: it is there twice");
  EXPECT_EQ(error_of(R"({"deadline":{"at":"soon"}})"),
            "deadline.at: 'soon' is not a time like 2026-11-15T12:26:55.123Z");
  EXPECT_TRUE(error_of(R"({"run":"sess_01j00000000000000000000000"})").starts_with("run: "));
  EXPECT_TRUE(error_of(R"({"by_run":{"x":{}}})").starts_with("by_run.x: "));
  EXPECT_EQ(error_of("[]"), "expected an object");
  EXPECT_TRUE(error_of("").starts_with("invalid JSON"));
}

TEST(FieldsJson, X25_keeps_unknown_members_at_their_places) {
  const std::string text =
      R"({"text":"t","new":[1, 2],"inner":{"name":"n","x":{"y":1}},"list":[{},{"name":"b",)"
      R"("z":null}],)"
      R"("texts":{"a":"b"},"maybe":{"q\n":1.0}})";
  const auto decoded = decode_fields<Sample>(text);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(
      decoded->unknown.text,
      R"({"inner":{"x":{"y":1}},"maybe":{"q\n":1.0},"list":{"[1]":{"z":null}},"new":[1, 2]})");

  const std::string merged = merge_unknown(encode_fields(decoded->value), decoded->unknown);
  const auto again = decode_fields<Sample>(merged);
  ASSERT_TRUE(again.has_value()) << merged;
  EXPECT_EQ(again->value, decoded->value);
  EXPECT_EQ(again->unknown, decoded->unknown);
}

TEST(FieldsJson, puts_unknown_members_back_into_a_value_that_was_left_out) {
  const auto decoded = decode_fields<Sample>(R"({"inner":{"x":1}})");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(merge_unknown(encode_fields(decoded->value), decoded->unknown)
                  .contains(R"("inner":{"x":1})"));
}

TEST(FieldsJson, keeps_raw_values_byte_for_byte_but_on_one_line) {
  Sample sample;
  sample.raw.text = "{\"n\":1.500,\n \"e\":1E5}";
  EXPECT_EQ(decode(encode_fields(sample)).raw.text, "{\"n\":1.500,  \"e\":1E5}");
}

TEST(FieldsJson, a_hostile_object_costs_no_more_than_its_size) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  text += "\"k0\":2}";
  EXPECT_EQ(error_of(text), "k0: it is there twice");
}

}  // namespace
}  // namespace perdure
