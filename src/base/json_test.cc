// JSON: accepted is exactly what RFC 8259 allows, within limits; raw slices are the input's own
// bytes; what the writer writes reads back as what was given.
#include "base/json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

using namespace std::string_view_literals;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonValidate, takes_every_kind_of_value) {
  for (const std::string_view good :
       {"null"sv, "true"sv, "false"sv, "0"sv, "-0"sv, "1.5e-3"sv, "1E+2"sv, "\"\""sv, "[]"sv,
        "{}"sv, " \t\r\n[ 1 , 2 ] \n"sv, "{\"\":{}}"sv, "\"\\u0000\""sv, "\"\\ud83d\\ude00\""sv,
        "\"😀\""sv, "\"\x7f\""sv, "[{},[],\"]\"]"sv}) {
    EXPECT_TRUE(json_validate(good).has_value())
        << good << ": " << json_validate(good).error().message();
  }
}

TEST(JsonValidate, refuses_everything_else) {
  for (const std::string_view bad :
       {""sv,        " "sv,           "nul"sv,      "True"sv,     "01"sv,
        "+1"sv,      ".5"sv,          "1."sv,       "1e"sv,       "-"sv,
        "NaN"sv,     "Infinity"sv,    "0x10"sv,     "'a'"sv,      "\"a"sv,
        "\"\\x\""sv, "\"\\u12g4\""sv, "\"a\nb\""sv, "\"\0\""sv,   "[1,]"sv,
        "[,1]"sv,    "[1 2]"sv,       "{\"a\"}"sv,  "{\"a\":}"sv, "{\"a\":1,}"sv,
        "{a:1}"sv,   "{1:1}"sv,       "[1]]"sv,     "{} {}"sv,    "1 2"sv,
        "[1}"sv,     "// c\n1"sv,     "1 // c"sv,   "/**/1"sv,    "\xef\xbb\xbf{}"sv,
        "1\0"sv,     "[\f1]"sv}) {
    const auto checked = json_validate(bad);
    ASSERT_FALSE(checked.has_value()) << testing::PrintToString(std::string(bad));
    EXPECT_EQ(checked.error().code(), Code::invalid_argument);
  }
}

TEST(JsonValidate, refuses_invalid_utf8_in_keys_and_strings) {
  for (const std::string_view bytes : {"\xff"sv, "\x80"sv, "\xc0\x80"sv, "\xe2\x82"sv,
                                       "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xf0\x9f\x98"sv}) {
    const std::string text = "\"a" + std::string(bytes) + "b\"";
    EXPECT_FALSE(json_validate(text).has_value()) << testing::PrintToString(text);
    EXPECT_FALSE(json_validate("{" + text + ":1}").has_value()) << testing::PrintToString(text);
    EXPECT_FALSE(json_validate("\"" + std::string(bytes) + "\"").has_value());
  }
}

TEST(JsonValidate, refuses_half_of_a_surrogate_pair) {
  for (const std::string_view bad :
       {"\"\\ud800\""sv, "\"\\ud800x\""sv, "\"\\ud800\\n\""sv, "\"\\ud800\\u0041\""sv,
        "\"\\ud800\\ud800\""sv, "\"\\udc00\""sv, "\"\\udfff\\ud800\""sv, "{\"\\ud800\":1}"sv}) {
    EXPECT_FALSE(json_validate(bad).has_value()) << bad;
  }
}

TEST(JsonDepth, levels_are_counted_outside_of_strings) {
  EXPECT_FALSE(json_is_deeper("7", 0));
  EXPECT_FALSE(json_is_deeper(R"("[[[\"[[")", 0));
  EXPECT_TRUE(json_is_deeper("[]", 0));
  EXPECT_FALSE(json_is_deeper(R"({"a":[1],"b":[{}]})", 3));
  EXPECT_TRUE(json_is_deeper(R"({"a":[1],"b":[{}]})", 2));
  EXPECT_FALSE(json_is_deeper("", 0));
}

TEST(JsonValidate, depth_is_bounded) {
  EXPECT_TRUE(json_validate(nested(json_depth_max)).has_value());
  EXPECT_FALSE(json_validate(nested(json_depth_max + 1)).has_value());
  EXPECT_FALSE(json_validate(std::string(1'000'000, '[')).has_value());
  std::string objects;
  for (std::size_t i = 0; i <= json_depth_max; ++i) objects += "{\"a\":";
  EXPECT_FALSE(json_validate(objects + "1" + std::string(json_depth_max + 1, '}')).has_value());
}

TEST(JsonNumbers, of_any_size_are_kept_as_text) {
  for (const std::string_view number :
       {"1e400"sv, "-1e400"sv, "1e-400"sv, "123456789012345678901234567890"sv,
        "0.1000000000000000055511151231257827021181583404541015625"sv, "1e2147483647"sv}) {
    const std::string text = "{\"n\":" + std::string(number) + "}";
    const auto object = JsonObject::parse(text);
    ASSERT_TRUE(object.has_value()) << number << ": " << object.error().message();
    EXPECT_EQ(object->find("n"), number);
    EXPECT_FALSE(json_int(number).has_value());
  }
  const std::string digits(100'000, '7');
  EXPECT_TRUE(json_validate(digits).has_value());
}

TEST(JsonNumbers, whole_numbers_are_exact_or_refused) {
  EXPECT_EQ(json_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(json_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(json_uint("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json_int("-0"), 0);
  for (const std::string_view bad :
       {"9223372036854775808"sv, "1.0"sv, "1e3"sv, "\"1\""sv, "null"sv, ""sv, "[1]"sv}) {
    EXPECT_EQ(json_int(bad).error().code(), Code::invalid_argument) << bad;
  }
  for (const std::string_view bad : {"18446744073709551616"sv, "-1"sv, "0.5"sv, "true"sv}) {
    EXPECT_EQ(json_uint(bad).error().code(), Code::invalid_argument) << bad;
  }
}

TEST(JsonObject, members_are_slices_of_the_text_byte_for_byte) {
  const std::string_view text =
      " { \"a\" : 1.50 ,\n\"b\":{ \"x\" : [ 1, \"}\\\"\" ] } , "
      "\"c\" : \"\\u0041/\\/\",\"d\":[ ] }\n"sv;
  const auto object = JsonObject::parse(text);
  ASSERT_TRUE(object.has_value());
  ASSERT_EQ(object->members().size(), 4U);
  EXPECT_EQ(object->find("a"), "1.50");
  EXPECT_EQ(object->find("b"), "{ \"x\" : [ 1, \"}\\\"\" ] }");
  EXPECT_EQ(object->find("c"), "\"\\u0041/\\/\"");
  EXPECT_EQ(object->find("d"), "[ ]");
  EXPECT_EQ(object->find("e"), "");
  for (const auto& [key, raw] : object->members()) {
    EXPECT_GE(raw.data(), text.data());
    EXPECT_LE(raw.data() + raw.size(), text.data() + text.size());
  }
}

TEST(JsonObject, X25_unknown_members_are_kept_in_order) {
  const auto object = JsonObject::parse(R"({"z":1,"a":{"deep":[null]},"m":"x"})");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->members()[0].first, "z");
  EXPECT_EQ(object->members()[1].second, R"({"deep":[null]})");
  EXPECT_EQ(object->members()[2].first, "m");
}

TEST(JsonObject, keys_are_unescaped) {
  const auto object = JsonObject::parse(R"({"\u006bind":1,"a\"b\\":2,"\ud83d\ude00":3,"":4})");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->find("kind"), "1");
  EXPECT_EQ(object->find("a\"b\\"), "2");
  EXPECT_EQ(object->find("😀"), "3");
  EXPECT_EQ(object->find(""), "4");
}

TEST(JsonObject, a_repeated_key_is_an_error_however_it_is_written) {
  EXPECT_FALSE(JsonObject::parse(R"({"a":1,"a":2})").has_value());
  EXPECT_FALSE(JsonObject::parse(R"({"kind":1,"b":2,"\u006bind":3})").has_value());
  EXPECT_FALSE(JsonObject::parse(R"({"":1,"":2})").has_value());
  EXPECT_TRUE(JsonObject::parse(R"({"a":{"a":1},"A":2})").has_value());
}

TEST(JsonObject, many_members_cost_no_more_than_they_should) {
  // 200,000 members take 2·10^10 steps when each is compared with all before it.
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"member" + std::to_string(i) + "\":1,";
  std::string twice = text + "\"member0\":2}";
  text.back() = '}';
  ASSERT_TRUE(JsonObject::parse(text).has_value());
  EXPECT_FALSE(JsonObject::parse(twice).has_value());
}

TEST(JsonObject, the_error_about_a_repeated_key_is_short) {
  const std::string key(100'000, 'k');
  const auto parsed = JsonObject::parse("{\"" + key + "\":1,\"" + key + "\":2}");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_LT(parsed.error().message().size(), 300U);
}

TEST(JsonObject, other_values_are_no_object) {
  for (const std::string_view other : {"[]"sv, "null"sv, "\"{}\""sv, "1"sv, ""sv, "  "sv}) {
    EXPECT_EQ(JsonObject::parse(other).error().code(), Code::invalid_argument) << other;
  }
}

TEST(JsonReaders, strings_are_unescaped) {
  EXPECT_EQ(json_string(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(json_string(R"("\u0041\u00fc\u20AC\uD83D\uDE00")"), "Aü€😀");
  EXPECT_EQ(json_string(R"("\u0000")"), std::string("\0", 1));
  EXPECT_EQ(json_string("\"\""), "");
  for (const std::string_view other : {"1"sv, "null"sv, "[\"a\"]"sv, ""sv, "\""sv}) {
    EXPECT_EQ(json_string(other).error().code(), Code::invalid_argument) << other;
  }
}

TEST(JsonReaders, booleans_and_null) {
  EXPECT_EQ(json_bool("true"), true);
  EXPECT_EQ(json_bool("false"), false);
  EXPECT_FALSE(json_bool("1").has_value());
  EXPECT_FALSE(json_bool("\"true\"").has_value());
  EXPECT_TRUE(json_is_null("null"));
  EXPECT_FALSE(json_is_null("\"null\""));
  EXPECT_FALSE(json_is_null(""));
}

TEST(JsonReaders, elements_are_slices) {
  const auto elements = json_elements("[ 1.0 , \"a,]\" ,[2,[3]], {\"x\":[ ]},null]");
  ASSERT_TRUE(elements.has_value());
  EXPECT_EQ(*elements,
            (std::vector<std::string_view>{"1.0", "\"a,]\"", "[2,[3]]", "{\"x\":[ ]}", "null"}));
  EXPECT_TRUE(json_elements("[ ]")->empty());
  EXPECT_FALSE(json_elements("{}").has_value());
  EXPECT_FALSE(json_elements("").has_value());
}

TEST(JsonWriter, commas_and_nesting) {
  JsonWriter writer;
  writer.begin_object().key("a").number(-1).key("b").begin_array().end_array();
  writer.key("c").begin_array().boolean(true).null().begin_object().end_object().end_array();
  writer.key("d").number_unsigned(std::numeric_limits<std::uint64_t>::max()).key("e").raw("1.50");
  writer.key("f").begin_object().key("g").string("x").end_object().end_object();
  EXPECT_EQ(
      writer.text(),
      R"({"a":-1,"b":[],"c":[true,null,{}],"d":18446744073709551615,"e":1.50,"f":{"g":"x"}})");
  EXPECT_TRUE(json_validate(writer.text()).has_value());
}

TEST(JsonWriter, escapes_what_must_be_and_nothing_else) {
  EXPECT_EQ(JsonWriter().string("a\"b\\c/\n\t\r").text(), R"("a\"b\\c/\n\t\r")");
  EXPECT_EQ(JsonWriter().string(std::string("\0\x1f\x7f", 3)).text(), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(JsonWriter().string("ü€😀").text(), "\"ü€😀\"");
  EXPECT_EQ(JsonWriter().string("").text(), "\"\"");
}

TEST(JsonWriter, ill_formed_text_becomes_the_replacement_character) {
  EXPECT_EQ(JsonWriter().string("a\xffz").text(), "\"a\ufffdz\"");
  EXPECT_EQ(JsonWriter().string("\xed\xa0\x80").text(), "\"\ufffd\ufffd\ufffd\"");
  JsonWriter writer;
  writer.begin_object().key("\xff").number(1).end_object();
  EXPECT_TRUE(json_validate(writer.text()).has_value());
}

RC_GTEST_PROP(JsonProperties, any_bytes_written_read_back_scrubbed, (std::string bytes)) {
  const std::string text = JsonWriter().string(bytes).text();
  RC_ASSERT(json_validate(text).has_value());
  RC_ASSERT((json_string(text) == utf8_scrub(bytes)));
}

RC_GTEST_PROP(JsonProperties, numbers_round_trip, (std::int64_t number, std::uint64_t natural)) {
  RC_ASSERT((json_int(JsonWriter().number(number).text()) == number));
  RC_ASSERT((json_uint(JsonWriter().number_unsigned(natural).text()) == natural));
}

// Some value of bounded depth, with white space where JSON allows it.
std::string some_value(int depth) {
  const auto space = [] { return *rc::gen::element<std::string>("", " ", "\n\t"); };
  switch (*rc::gen::inRange(0, depth > 0 ? 5 : 3)) {
    case 0:
      return *rc::gen::element<std::string>("null", "true", "-0.0", "1e99", "12345678901234567890");
    case 1: return JsonWriter().string(*rc::gen::arbitrary<std::string>()).text();
    case 2: return *rc::gen::element<std::string>("\"\\ud83d\\ude00\"", "\"]}\\\"\"", "{}", "[]");
    default: break;
  }
  const bool array = *rc::gen::arbitrary<bool>();
  std::string out = (array ? "[" : "{") + space();
  const int count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) {
    if (!array) out += "\"k" + std::to_string(i) + "\"" + space() + ":" + space();
    out += some_value(depth - 1) + space() + (i + 1 < count ? "," + space() : "");
  }
  return out + (array ? "]" : "}");
}

RC_GTEST_PROP(JsonProperties, taking_apart_and_splicing_changes_no_byte_of_a_value, ()) {
  const std::string value = some_value(4);
  const std::string text = "{\"before\":0,\"value\":" + value + ",\"after\":1}";
  const auto object = JsonObject::parse(text);
  RC_ASSERT(object.has_value());
  RC_ASSERT((object->find("value") == value));
  JsonWriter writer;
  writer.begin_object();
  for (const auto& [key, raw] : object->members()) writer.key(key).raw(raw);
  writer.end_object();
  RC_ASSERT((writer.text() == text));
}

RC_GTEST_PROP(JsonProperties, damaged_text_is_an_error_or_still_json, ()) {
  std::string text = some_value(3);
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  const auto object = JsonObject::parse(text);
  RC_ASSERT(!object || json_validate(text).has_value());
}

}  // namespace
}  // namespace perdure
