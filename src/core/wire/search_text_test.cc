// The searchable texts of a session: one per message, assembled as in the transcript.
#include "core/wire/search_text.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

std::string stored(EventBody body) {
  return encode_record(1, {}, Event{.at = {}, .body = std::move(body)});
}

std::string words(EventBody body) {
  const std::optional<SearchPiece> piece = search_piece(stored(std::move(body)));
  return piece ? piece->parts[0] : "nothing";
}

std::vector<TextsInMemory::Text> fold(const std::vector<EventBody>& bodies) {
  TextsInMemory texts;
  std::uint64_t seq = 0;
  for (const EventBody& body : bodies) {
    seq += 1;
    if (const auto piece = search_piece(stored(body))) texts.add(seq, *piece);
  }
  return texts.take();
}

TEST(SearchText, what_was_said_can_be_found) {
  EXPECT_EQ(words(MessageAgent{.text = "a needle"}), "a needle");
  EXPECT_EQ(words(MessageUser{.prompt = {.text = "find it"}}), "find it");
}

TEST(SearchText, records_without_words_and_garbage_are_passed_over) {
  EXPECT_EQ(words(SessionStopped{.reason = "stopped_by_user"}), "");
  EXPECT_EQ(search_piece(stored(MessageAgent{.text = ""})), std::nullopt);
  EXPECT_EQ(search_piece(stored(Usage{})), std::nullopt);
  EXPECT_EQ(search_piece("garbage"), std::nullopt);
  const std::string record = stored(MessageAgent{.text = "a secret"});
  EXPECT_EQ(search_piece(encode_tombstone(record).value()), std::nullopt);
}

TEST(SearchText, A23_chunks_of_a_message_are_one_text) {
  const auto texts =
      fold({MessageUser{.prompt = {.text = "why"}}, MessageThought{.text = "hm"},
            MessageAgent{.text = "race con"}, Usage{}, MessageAgent{.text = "dition"},
            RunCompleted{}, MessageAgent{.text = "late"}});
  ASSERT_EQ(texts.size(), 4U);
  EXPECT_EQ(texts[1].words, "hm");
  EXPECT_EQ(texts[1].about.kind, "message.thought");
  EXPECT_EQ(texts[2].words, "race condition");
  EXPECT_EQ(texts[2].about.seq, 2U) << "the message begins with its thought";
  EXPECT_EQ(texts[2].about.first, 3U);
  EXPECT_EQ(texts[2].about.last, 5U);
  EXPECT_EQ(texts[3].words, "late");
}

TEST(SearchText, A24_a_tool_is_one_text_with_what_was_last_said_of_it) {
  const auto texts = fold({ToolCall{.tool_call_id = "t", .title = "Run", .input = "make"},
                           ToolUpdate{.tool_call_id = "t", .text = "compiling"},
                           ToolUpdate{.tool_call_id = "t", .text = "compiling done"},
                           ToolCall{.tool_call_id = "t", .title = "Again"}});
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].words, "Run\nmake\ncompiling done\n");
  EXPECT_EQ(texts[0].about.kind, "tool.call");
  EXPECT_EQ(texts[1].words, "Again\n");
}

TEST(SearchText, another_name_is_another_message_and_a_long_one_several_texts) {
  const auto named =
      fold({MessageAgent{.message = "1", .text = "a"}, MessageAgent{.message = "2", .text = "b"}});
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[1].about.seq, 2U);
  const std::string half(search_text_bytes_max / 2, 'x');
  const auto split =
      fold({MessageAgent{.text = half}, MessageAgent{.text = half}, MessageAgent{.text = "end"}});
  ASSERT_EQ(split.size(), 2U);
  EXPECT_EQ(split[1].words, "end");
  EXPECT_EQ(split[1].about.seq, 1U);
  EXPECT_EQ(split[1].about.first, 3U);
}

}  // namespace
}  // namespace perdure
