// Lines from bytes: all kinds of noise seen around real agents' messages are recognised and never
// cost a message, memory is bounded, and the split of the bytes makes no difference.
#include "core/acp/line_reader.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json/json.h"
#include "base/text.h"
#include "core/acp/collect_for_test.h"

namespace perdure::acp {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view message = R"({"jsonrpc":"2.0","id":1,"result":{"a":"b"}})";
const std::string object = "object " + std::string(message);

TEST(LineReader, reads_lines_and_skips_empty_ones) {
  EXPECT_THAT(collect("\n  \r\n" + std::string(message) + "\n\n" + std::string(message) + "\n"),
              ElementsAre(object, object));
}

TEST(LineReader, P8_crlf_is_a_newline) {
  EXPECT_THAT(collect(std::string(message) + "\r\n" + "banner\r\n"),
              ElementsAre(object, "not_json banner"));
}

TEST(LineReader, P8_noise_before_json_is_kept_apart) {
  const std::vector<std::string_view> noises = {
      "Welcome to agent 1.2"sv,
      "\x1b[32mready\x1b[0m"sv,
      "\x1b]0;title\x07\x1b]9;4;3\x07"sv,
      "[12:00:01] INFO"sv,
      "{oops} {\"level\":30}"sv,
      "\xef\xbb\xbf"sv,
      "{\"level\":30,\"msg\":\"{\"}"sv,
      "\0\0\0"sv,
      "{\"unfinished\":"sv,
  };
  for (const std::string_view noise : noises) {
    EXPECT_THAT(collect(std::string(noise) + ' ' + std::string(message) + '\n'),
                ElementsAre("not_json " + std::string(noise), object))
        << noise;
  }
}

TEST(LineReader, P8_noise_behind_json_is_kept_apart) {
  EXPECT_THAT(collect(std::string(message) + "\x1b[0m\n"), ElementsAre(object, "not_json \x1b[0m"));
}

TEST(LineReader, P8_two_messages_on_one_line_are_two) {
  EXPECT_THAT(collect(std::string(message) + std::string(message) + "\n"),
              ElementsAre(object, object));
}

TEST(LineReader, P8_last_line_without_newline_is_a_line) {
  EXPECT_THAT(collect(message), ElementsAre(object));
}

TEST(LineReader, P8_half_a_line_at_the_end_is_unfinished) {
  EXPECT_THAT(collect(message.substr(0, 20)),
              ElementsAre("unfinished " + std::string(message.substr(0, 20))));
}

TEST(LineReader, P8_ill_formed_utf8_is_replaced_and_the_message_kept) {
  const std::string line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\xff\xc3\"}";
  EXPECT_THAT(collect(line + "\n"),
              ElementsAre("repaired " + line,
                          "object {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\ufffd\ufffd\"}"));
}

TEST(LineReader, P8_half_a_surrogate_pair_is_replaced_and_the_message_kept) {
  const std::string front = R"({"jsonrpc":"2.0","id":1,"result":")";
  EXPECT_THAT(collect(front + R"(\ud83d \\ud83d \ud83d\ude00 \ude00"})" + "\n"),
              ElementsAre(testing::StartsWith("repaired "),
                          "object " + front + R"(\ufffd \\ud83d \ud83d\ude00 \ufffd"})"));
}

TEST(LineReader, batches_are_refused_whole) {
  for (const std::string& batch :
       {"[" + std::string(message) + "]", "[ " + std::string(message) + "," + std::string(message),
        std::string("[]")}) {
    EXPECT_THAT(collect(batch + "\n"), ElementsAre("batch " + batch));
  }
}

TEST(LineReader, json_that_is_no_object_is_no_message) {
  EXPECT_THAT(collect("17\n\"text\"\n"), ElementsAre("not_message 17", "not_message \"text\""));
}

TEST(LineReader, an_object_inside_of_a_broken_message_is_no_message) {
  const std::string line = R"({"jsonrpc":"2.0","params":{"a":{"b":1}},})";
  EXPECT_THAT(collect(line + "\n"), ElementsAre("not_json " + line));
}

TEST(LineReader, P7_oversize_line_is_skipped_and_reported_once) {
  constexpr std::size_t limit = 1000;
  Collected collected;
  LineReader reader(limit);
  for (int i = 0; i < 100; ++i) {
    reader.feed(std::string(100, 'x'), collected);
    EXPECT_LE(reader.buffered_bytes(), limit);
  }
  reader.feed("\n", collected);
  reader.feed(std::string(message) + "\n", collected);
  reader.feed(std::string(limit + 1, 'y') + "\n" + std::string(message) + "\n", collected);
  EXPECT_THAT(collected.all,
              ElementsAre("oversize " + std::string(acp_noise_bytes_max, 'x'), object,
                          "oversize " + std::string(acp_noise_bytes_max, 'y'), object));
}

TEST(LineReader, P7_a_line_of_the_limit_is_read) {
  Collected collected;
  LineReader reader(message.size());
  reader.feed(std::string(message) + "\n", collected);
  for (const char c : std::string(message) + "\n") reader.feed({&c, 1}, collected);
  EXPECT_THAT(collected.all, ElementsAre(object, object));
}

TEST(LineReader, P7_an_oversize_line_at_the_end_is_reported_once) {
  Collected collected;
  LineReader reader(10);
  reader.feed("01234567890", collected);
  reader.feed_end(collected);
  EXPECT_THAT(collected.all, ElementsAre("oversize 01234567890"));
  reader.feed("\n", collected);
  EXPECT_EQ(collected.all.size(), 1U);
}

// 16 MiB in pieces of 256 bytes: quadratic work would take minutes.
TEST(LineReader, P8_a_huge_line_in_small_pieces_costs_linear_time) {
  const std::string line =
      R"({"jsonrpc":"2.0","id":1,"result":")" + std::string(16UL << 20, 'x') + "\"}\n";
  Collected collected;
  LineReader reader;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < line.size(); at += 256) {
    reader.feed(std::string_view(line).substr(at, 256), collected);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  ASSERT_EQ(collected.all.size(), 1U);
  EXPECT_EQ(collected.all[0].size(), line.size() - 1 + "object "sv.size());
  EXPECT_EQ(reader.buffered_bytes(), 0U);
}

// Each opening bracket looks like the start of a message to the end of the line.
TEST(LineReader, P7_a_hostile_line_costs_linear_time) {
  std::string line = "x \"jsonrpc\" ";
  for (int i = 0; i < 500'000; ++i) line += "{\"";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(collect(line + "\n"), ElementsAre("not_json " + line.substr(0, acp_noise_bytes_max)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// Pieces of streams, combined in random order.
rc::Gen<std::string> any_stream() {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{
      std::string(message), "\n", "\r\n", "\n", "banner ", "\x1b[0m", "\xff", "[", "{\"a\":", "}",
      R"({"jsonrpc":"2.0","method":"a","params":{"text":"\ud83d"}})", std::string(1, '\0'), "é"});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string all;
                        for (const std::string& one : pieces) all += one;
                        return all;
                      });
}

RC_GTEST_PROP(LineReaderProperty, P8_where_the_bytes_are_cut_makes_no_difference, ()) {
  const std::string bytes = *any_stream();
  Collected by_byte;
  LineReader reader;
  for (const char c : bytes) reader.feed({&c, 1}, by_byte);
  reader.feed_end(by_byte);
  RC_ASSERT(by_byte.all == collect(bytes));
}

RC_GTEST_PROP(LineReaderProperty, P8_every_object_is_valid_and_no_message_is_lost, ()) {
  const std::string noise = *any_stream();
  const std::vector<std::string> all = collect(noise + "\n" + std::string(message) + "\n");
  RC_ASSERT(all.back() == object);
  for (const std::string& one : all) {
    if (one.starts_with("object ")) RC_ASSERT(json_validate(one.substr(7)).has_value());
  }
}

TEST(LineReader, noise_is_shown_as_well_formed_text) {
  const Noise noise = make_noise(std::string(2000, '\xff'), NoiseKind::not_json);
  EXPECT_TRUE(is_utf8(noise.text));
  EXPECT_LE(noise.text.size(), acp_noise_bytes_max);
  EXPECT_EQ(noise.why, "output that is not JSON");
}

}  // namespace
}  // namespace perdure::acp
