// Server-sent events from bytes in any portions.
#include "client/sse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"

namespace perdure::client {
namespace {

std::vector<SseEvent> read(SseParser& parser, std::string_view bytes) {
  auto events = parser.feed(bytes);
  EXPECT_TRUE(events.has_value());
  return events.value_or(std::vector<SseEvent>());
}

constexpr std::string_view stream =
    "\xEF\xBB\xBF: welcome\r\n"
    "event: state\r\ndata: {\"a\":1}\r\n\r\n"
    "id: 7\nevent: record\ndata: {\"seq\":\ndata: 7}\n\n"
    "data\n\n"
    "id: 8\nevent: nothing\n\n"
    "retry: 5\rdata: ü\r\rid:9\ndata:x\n\n";

const std::vector<SseEvent> expected = {
    {.id = std::nullopt, .event = "state", .data = "{\"a\":1}"},
    {.id = "7", .event = "record", .data = "{\"seq\":\n7}"},
    {.id = std::nullopt, .event = "message", .data = ""},
    {.id = std::nullopt, .event = "message", .data = "ü"},
    {.id = "9", .event = "message", .data = "x"},
};

TEST(Sse, whole_stream_gives_its_events) {
  SseParser parser;
  EXPECT_EQ(read(parser, stream), expected);
}

RC_GTEST_PROP(Sse, any_cut_gives_the_same_events, ()) {
  SseParser parser;
  std::vector<SseEvent> events;
  for (std::string_view rest = stream; !rest.empty();) {
    const auto bytes = std::min<std::size_t>(rest.size(), *rc::gen::inRange<std::size_t>(1, 9));
    for (SseEvent& event : read(parser, rest.substr(0, bytes))) events.push_back(std::move(event));
    rest.remove_prefix(bytes);
  }
  RC_ASSERT(events == expected);
}

TEST(Sse, what_the_end_cuts_off_is_no_event) {
  SseParser parser;
  EXPECT_TRUE(read(parser, "id: 1\ndata: half").empty());
  EXPECT_TRUE(read(parser, "\n").empty());
  EXPECT_EQ(read(parser, "\n").size(), 1U);
}

TEST(Sse, an_event_without_end_is_refused) {
  SseParser parser;
  const std::string piece(16UL << 20, 'x');
  ASSERT_TRUE(parser.feed("data: ").has_value());
  Result<std::vector<SseEvent>> result = parser.feed(piece);
  for (int i = 0; i < 5 && result; ++i) result = parser.feed(piece);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::limit_reached);
}

}  // namespace
}  // namespace perdure::client
