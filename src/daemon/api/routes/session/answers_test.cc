// Who answered a question is told wherever the conversation is: an automatic answer names its rule.
#include <gtest/gtest.h>

#include "daemon/api/fixture_for_test.h"
#include "daemon/api/routes/read_routes.h"

namespace perdure {
namespace {

class AnswersDaemon : public ApiDaemon {
 public:
  AnswersDaemon() {
    reads = std::make_unique<ReadRoutes>(*world, slots, [](const Principal&) { return true; });
    reads->add_to(router);
  }
  ~AnswersDaemon() { reads.reset(); }

  // A turn with a question that a rule answers.
  void make_answered_turn() {
    ASSERT_TRUE(create("what is here?").has_value());
    agent_comes_up();
    const RunId run = state().run->id;
    frame(MessageAgent{.text = "I ask."}, run);
    frame(FramePermission{.request = "r",
                          .title = "npm test",
                          .options = {{.id = "a", .name = "Allow", .kind = "allow_once"}}},
          run);
    runtime->submit(session,
                    {.by = "rule:rule_01kad",
                     .body = AnswerPermission{state().permissions.begin()->first, "a"}},
                    [](const Result<Reply>& answered) { EXPECT_TRUE(answered.has_value()); });
    run_now();
    frame(MessageAgent{.text = "Done."}, run);
    frame(FrameRunFinished{run, "end_turn"}, run);
  }

  StreamSlots slots;
  std::unique_ptr<ReadRoutes> reads;
};

TEST(Answers, an_automatic_answer_names_its_rule_in_transcript_and_history) {
  AnswersDaemon daemon;
  daemon.make_answered_turn();
  for (const char* const route : {"/transcript", "/transcript?limit=2", "/history"}) {
    const std::string body = daemon.get(daemon.at(route))->body();
    EXPECT_TRUE(body.contains(R"("by":"rule:rule_01kad")")) << route << ": " << body;
    EXPECT_TRUE(body.contains(R"("option_name":"Allow")")) << route << ": " << body;
  }
}

TEST(Answers, each_page_of_a_transcript_has_the_answers_of_its_part) {
  AnswersDaemon daemon;
  daemon.make_answered_turn();
  const std::string last = daemon.get(daemon.at("/transcript?limit=1"))->body();
  EXPECT_FALSE(last.contains("rule_01kad")) << "it came before " << last;
  const std::size_t at = last.find(R"("first_seq":)") + 12;
  const std::string before = last.substr(at, last.find(',', at) - at);
  const std::string first = daemon.get(daemon.at("/transcript?before=" + before))->body();
  EXPECT_TRUE(first.contains("rule_01kad")) << first;
}

TEST(Answers, a_transcript_as_a_document_shows_the_answer_where_it_was_given) {
  AnswersDaemon daemon;
  daemon.make_answered_turn();
  const std::string text =
      daemon
          .request({.target = daemon.at("/transcript"), .headers = {{"Accept", "text/markdown"}}})
          ->body();
  const std::size_t answer = text.find("### Answer: Allow (by the rule rule_01kad)");
  ASSERT_NE(answer, std::string::npos) << text;
  EXPECT_LT(text.find("I ask."), answer);
  EXPECT_LT(answer, text.find("Done."));
}

// Also one that came in two pieces, and none of the members around it.
TEST(Documents, X21_transcript_and_history_hold_no_value_that_is_known_to_be_secret) {
  AnswersDaemon daemon;
  daemon.world->secrets_of = [](SessionId) {
    SecretMask secrets;
    secrets.add("API_KEY", "open-sesame-1");
    secrets.add("PASSWORD", "first_seq");
    return secrets;
  };
  ASSERT_TRUE(daemon.create("use open-sesame-1").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  daemon.frame(MessageAgent{.text = "It is open-ses"}, run);
  daemon.frame(MessageAgent{.text = "ame-1."}, run);
  daemon.frame(FrameRunFinished{run, "end_turn"}, run);
  for (const char* const form : {"application/json", "text/markdown", "application/x-ndjson"}) {
    for (const char* const route : {"/transcript", "/history"}) {
      const auto answer =
          daemon.request({.target = daemon.at(route), .headers = {{"Accept", form}}});
      const std::string& body = answer->body();
      EXPECT_TRUE(body.contains("use ***")) << route << " as " << form << ": " << body;
      EXPECT_TRUE(body.contains("It is ***.")) << route << " as " << form << ": " << body;
      EXPECT_FALSE(body.contains("open-sesame-1")) << route << " as " << form << ": " << body;
      EXPECT_FALSE(body.contains("\"***\":")) << "names of members stay: " << body;
    }
  }
}

}  // namespace
}  // namespace perdure
