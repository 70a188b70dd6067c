// Redaction: removing the text of any record leaves the session's state unchanged.
#include "session/redacted.h"

#include <gtest/gtest.h>

#include "session/machine.h"
#include "session/random_journal_for_test.h"
#include "session/transcript.h"

namespace perdure {
namespace {

using testing::JournalBuilder;
using testing::make_random_journal;
using testing::some_id;

State fold(const std::vector<Record>& records, std::size_t redacted) {
  State state;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Event event = records[i].event;
    if (i == redacted) {
      const std::optional<EventBody> kept = without_text(event.body);
      event.body = kept ? *kept : EventBody(UnknownEvent{.kind = std::string(redacted_kind)});
    }
    state = evolve(std::move(state), event);
  }
  return state;
}

TEST(Redacted, J2_J4_a_record_without_its_text_leaves_the_state_as_it_was) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<Record> records = make_random_journal(seed, 80);
    const State whole = without_text(fold(records, records.size()));
    for (std::size_t at = 0; at < records.size(); ++at) {
      ASSERT_EQ(without_text(fold(records, at)), whole)
          << "seed " << seed << ", record " << at + 1 << " " << event_kind(records[at].event);
    }
  }
}

TEST(Redacted, J2_a_prompt_loses_its_text_and_attachments_and_nothing_else) {
  const MessageUser message{.message = some_id<MessageId>(1),
                            .prompt = {.text = "my password", .blocks = {R"([{"a":1}])"}},
                            .key = "k",
                            .by = "uid:1",
                            .steered = true};
  MessageUser expected = message;
  expected.prompt = {.text = std::string(redacted_text), .blocks = {}};
  EXPECT_EQ(*without_text(EventBody(message)), EventBody(expected));
  EXPECT_TRUE(holds_text(EventBody(message)));
  EXPECT_FALSE(holds_text(EventBody(expected)));
}

TEST(Redacted, a_record_of_ids_and_numbers_holds_no_text) {
  EXPECT_FALSE(holds_text(EventBody(RunStarted{.trigger = "prompt"})));
  EXPECT_FALSE(holds_text(EventBody(ExecutorReady{.pid = 7})));
  EXPECT_FALSE(holds_text(EventBody(StatusDerived{"idle"})));
  EXPECT_TRUE(holds_text(EventBody(Plan{.text = "plan"})));
  EXPECT_TRUE(holds_text(EventBody(UnknownEvent{.kind = "future.kind"})));
}

TEST(Redacted, texts_to_look_for_are_those_that_say_something) {
  EXPECT_EQ(
      texts_of(EventBody(MessageUser{.prompt = {.text = "a long password"}, .key = "12345678"})),
      std::vector<std::string>{"a long password"});
  EXPECT_TRUE(texts_of(EventBody(MessageUser{.prompt = {.text = "short"}})).empty());
}

TEST(Redacted, J2_the_transcript_shows_that_something_was_taken) {
  JournalBuilder journal;
  journal.add(SessionCreated{.session = some_id<SessionId>(1)}).turn(1, "the password", "done");
  std::vector<Record> records = journal.records();
  records[1].event.body = *without_text(records[1].event.body);
  const std::vector<TranscriptMessage> messages = fold_transcript(records);
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.front().content, redacted_text);
}

}  // namespace
}  // namespace perdure
