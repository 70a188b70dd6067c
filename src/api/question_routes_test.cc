// GET /api/permissions/{id}: all that a question asks for, wherever the journal keeps it.
#include <gmock/gmock.h>

#include "api/bench_for_test.h"
#include "base/limits.h"
#include "session/rule_limits.h"

namespace perdure {
namespace {

using ::testing::HasSubstr;

struct Questions : ApiBench {
  Questions() {
    make_worked();
    on_session("prompt", R"({"text":"go"})");
  }
  void announce(const std::string& members) {
    frame(ToolCall{.tool_call_id = "t", .title = "x", .update = {mention(members)}},
          state().run->id);
  }
  void update(const std::string& members, const std::string& status = "") {
    frame(ToolUpdate{.tool_call_id = "t", .status = status, .update = {mention(members)}},
          state().run->id);
  }
  void speak(std::size_t records) {
    for (std::size_t i = 0; i < records; ++i) {
      frame(ToolUpdate{.tool_call_id = "other", .text = "x"}, state().run->id);
    }
  }
  PermissionId asks_about(const std::string& members) {
    frame(FramePermission{.request = "q",
                          .tool_call_id = "t",
                          .title = "May I?",
                          .options = {{"allow", "Allow", "allow_once"}},
                          .update = {R"({"toolCall":)" + mention(members) + "}"}},
          state().run->id);
    run_now();
    return state().permissions.begin()->first;
  }
  Asked shown(PermissionId permission) {
    return ask_route("GET", "/api/permissions/" + permission.text(), "");
  }
  static std::string mention(const std::string& members) {
    return R"({"toolCallId":"t")" + members + "}";
  }
  static std::string command(const std::string& text) {
    return R"(,"kind":"execute","rawInput":{"command":")" + text + "\"}";
  }
};

TEST(QuestionRoutes, G7_a_question_is_shown_with_all_that_its_tool_call_said) {
  Questions bench;
  bench.announce(Questions::command("rm -rf /"));
  bench.update(R"(,"locations":[{"path":"/etc"}])");
  const PermissionId asked = bench.asks_about(R"(,"content":[],"elevated":true)");
  const Asked shown = bench.shown(asked);
  EXPECT_EQ(shown.at("is_whole"), "true");
  EXPECT_EQ(shown.at("title"), "May I?");
  EXPECT_EQ(shown.at("tool_kind"), "execute");
  EXPECT_EQ(shown.at("session_id"), bench.session.text());
  EXPECT_EQ(shown.at("digest"), bench.state().permissions.at(asked).digest);
  EXPECT_EQ(shown.at("parts"), R"([{"kind":"command","label":"command","text":"rm -rf /"},)"
                               R"({"kind":"path","label":"","text":"/etc"},)"
                               R"({"kind":"value","label":"elevated","text":"true"}])");
  bench.post("/api/permissions/" + asked.text(), R"({"option_id":"allow"})");
  EXPECT_EQ(bench.shown(asked).code(), "not_found") << "only open ones";
}

TEST(QuestionRoutes, G7_a_call_that_is_large_and_far_back_is_found) {
  Questions bench;
  bench.announce(Questions::command(std::string(blob_threshold_bytes, 'x') + " && rm -rf /"));
  bench.speak(3 * rule_look_back_records);
  const Asked shown = bench.shown(bench.asks_about(""));
  EXPECT_EQ(shown.at("is_whole"), "true");
  EXPECT_THAT(shown.at("parts"), HasSubstr("x && rm -rf /"));
}

TEST(QuestionRoutes, G7_a_question_of_which_a_part_is_missing_is_not_whole) {
  Questions far;
  far.announce(Questions::command("rm -rf /"));
  far.speak(rule_look_back_records * question_look_backs_max);
  EXPECT_EQ(far.shown(far.asks_about(Questions::command("ls"))).at("is_whole"), "false");
  Questions large;
  large.announce(Questions::command(std::string(question_bytes_max, 'x')));
  EXPECT_EQ(large.shown(large.asks_about(Questions::command("ls"))).at("is_whole"), "false");
}

TEST(QuestionRoutes, G7_an_id_that_is_used_again_names_another_call) {
  Questions bench;
  bench.announce(Questions::command("make"));
  bench.update("", "completed");
  bench.announce(Questions::command("ls"));
  const std::string parts = bench.shown(bench.asks_about("")).at("parts");
  EXPECT_EQ(parts, R"([{"kind":"command","label":"command","text":"ls"}])");
}

TEST(QuestionRoutes, N17_a_token_of_another_session_does_not_see_it) {
  Questions bench;
  const PermissionId asked = bench.asks_about(Questions::command("ls"));
  bench.principal = {.id = "token:x", .scope = Scope::observe, .sessions = {bench.session}};
  EXPECT_EQ(bench.shown(asked).status(), 200);
  bench.principal.sessions = {SessionId(Ulid{1, 1})};
  EXPECT_EQ(bench.shown(asked).code(), "not_found");
}

}  // namespace
}  // namespace perdure
