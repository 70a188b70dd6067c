// Redaction: removing the text of any record leaves the session's state unchanged.
#include "core/session/redacted.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "core/session/machine.h"
#include "core/session/random_journal_for_test.h"
#include "core/views/transcript.h"

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

TEST(Redacted, X21_texts_to_look_for_are_all_that_a_redaction_takes) {
  const Prompt prompt{.text = "short", .blocks = {R"([{"type":"text","text":"in a file"}])"}};
  EXPECT_EQ(texts_of(EventBody(MessageUser{.prompt = prompt, .key = "12345678"})),
            (std::vector<std::string>{"short", "in a file"}));
  const std::string name = "Yes, and always allow `curl -u me:hunter2`";
  EXPECT_EQ(texts_of(EventBody(PermissionResolved{.option_id = "a", .option_name = name})),
            std::vector<std::string>{name});
  EXPECT_TRUE(texts_of(EventBody(PermissionResolved{.option_name = "Yes"})).empty());
}

TEST(Redacted, X21_the_name_of_an_answer_is_the_agents_text) {
  const PermissionResolved resolved{.option_id = "a", .option_name = "Allow it"};
  ASSERT_TRUE(holds_text(EventBody(resolved)));
  const EventBody kept = *without_text(EventBody(resolved));
  EXPECT_EQ(get_if<PermissionResolved>(&kept)->option_name, redacted_text);
  EXPECT_EQ(get_if<PermissionResolved>(&kept)->option_id, "a");
}

// Fills every text of an event, and lists the fields that are still filled.
class Filler {
 public:
  template <class T>
  void operator()(std::string_view name, T& field) {
    if constexpr (std::same_as<T, std::string>) {
      if (field == "marked text") kept.emplace(name);
      field = "marked text";
    }
  }
  std::set<std::string, std::less<>> kept;
};

// A text field that somebody adds is either taken by a redaction or named here.
TEST(Redacted, X21_of_every_kind_only_ids_and_settings_stay) {
  const std::set<std::string, std::less<>> may_stay{"runtime",
                                                    "by",
                                                    "image",
                                                    "remote",
                                                    "agent",
                                                    "agent_session_id",
                                                    "host_boot",
                                                    "home",
                                                    "agentctl_url",
                                                    "instance",
                                                    "container_id",
                                                    "confinement",
                                                    "confinement_reason",
                                                    "code",
                                                    "proof",
                                                    "version",
                                                    "why",
                                                    "previous_agent_session_id",
                                                    "cwd",
                                                    "trigger",
                                                    "stop_reason",
                                                    "key",
                                                    "agent_message_id",
                                                    "tool_call_id",
                                                    "tool_kind",
                                                    "status",
                                                    "option",
                                                    "value",
                                                    "request",
                                                    "option_id",
                                                    "outcome",
                                                    "reason of executor.stopped",
                                                    "reason of token.revoked"};
  const auto check = [&]<class Event>(std::type_identity<Event>) {
    if constexpr (HasFields<Event>) {
      Event event;
      Filler filler;
      event.fields(filler);
      std::optional<EventBody> kept = without_text(EventBody(event));
      if (!kept) return;
      visit(
          [&](auto& body) {
            if constexpr (HasFields<std::remove_reference_t<decltype(body)>>) body.fields(filler);
          },
          *kept);
      for (std::string name : filler.kept) {
        if (name == "reason") name += " of " + std::string(Event::kind_text);
        EXPECT_TRUE(may_stay.contains(name)) << name << " of " << Event::kind_text;
      }
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check(std::type_identity<EventBody::Kind<I>>()), ...);
  }(std::make_index_sequence<EventBody::size>());
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
