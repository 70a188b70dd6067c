// Questions answered through the routes: once, by those who may, by token or by rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Waits : ApiBench {
  Waits() {
    make_worked();
    on_session("prompt", R"({"text":"dangerous"})");
    permission = asks();
    token = token_of(permission);
  }
  Asked answer(const std::string& body, const std::string& key = "") {
    return post("/api/permissions/" + permission.text(), body, key);
  }
  Asked use_token(const std::string& body, const std::string& key = "") {
    return post("/api/waits/" + token.text(), body, key);
  }
  std::string with_secret(const std::string& more) {
    return R"({"secret":")" + runtime->wait_secret(token) + "\"," + more + "}";
  }
  PermissionId permission;
  WaitTokenId token;
};

TEST(WaitRoutes, N5_an_open_question_is_answered_and_the_agent_gets_it_once) {
  Waits bench;
  const Asked answered = bench.answer(R"({"option_id":"allow"})");
  EXPECT_EQ(answered.status(), 200);
  EXPECT_EQ(answered.at("outcome"), "selected");
  EXPECT_EQ(answered.at("decided_by"), "uid:1000");
  EXPECT_EQ(bench.agentctls.commands<AnswerRequest>().at(0).option_id, "allow");
  EXPECT_EQ(bench.count("token.consumed"), 1U);
}

TEST(WaitRoutes, N6_A6_the_first_answer_wins_and_the_second_learns_it) {
  Waits bench;
  bench.answer(R"({"option_id":"reject"})");
  const Asked second = bench.answer(R"({"option_id":"allow"})");
  EXPECT_EQ(second.status(), 200);
  EXPECT_EQ(second.at("option_id"), "reject");
  EXPECT_EQ(second.at("nothing_to_do"), "true");
  EXPECT_EQ(bench.agentctls.commands<AnswerRequest>().size(), 1U);
}

TEST(WaitRoutes, an_answer_that_names_the_question_serves_only_that_one) {
  Waits bench;
  const auto with = [&](const std::string& digest) {
    return R"({"option_id":"allow","if_question":")" + digest + "\"}";
  };
  const std::string digest = bench.runtime->view(bench.session)->pending.at(0).digest;
  const Asked other = bench.answer(with(std::string(64, '0')));
  EXPECT_EQ(other.status(), 409);
  EXPECT_EQ(other.code(), "conflict");
  EXPECT_EQ(bench.use_token(bench.with_secret("\"answer\":" + with("other"))).code(), "conflict");
  EXPECT_EQ(bench.count("permission.resolved"), 0U);
  const Asked answered = bench.answer(with(digest));
  EXPECT_EQ(answered.at("outcome"), "selected");
  EXPECT_EQ(answered.at("option_name"), bench.state().closed_waits.back().option_name);
  EXPECT_FALSE(answered.at("option_name").empty());
}

TEST(WaitRoutes, answers_that_say_nothing_or_two_things_are_refused) {
  Waits bench;
  for (const char* const body :
       {"", "{}", R"({"option_id":"allow","cancel":true})", R"({"option_id":"maybe"})"}) {
    EXPECT_EQ(bench.answer(body).code(), "invalid_argument") << body;
  }
  EXPECT_EQ(bench.answer(R"({"cancel":true})").at("outcome"), "cancelled");
}

TEST(WaitRoutes, A31_N5_X18_a_question_survives_the_daemon_and_expires_with_the_agent) {
  Waits bench;
  bench.kill_daemon();
  bench.runtime->on_attached(bench.exec());
  bench.run_now();
  EXPECT_EQ(bench.runtime->view(bench.session)->pending.size(), 1U);
  bench.lose_agentctl();
  EXPECT_EQ(enum_text(bench.runtime->view(bench.session)->status), "interrupted_waiting");
  const Asked late = bench.answer(R"({"option_id":"allow"})");
  EXPECT_EQ(late.status(), 410);
  EXPECT_EQ(late.code(), "permission_closed");
  EXPECT_EQ(bench.use_token(bench.with_secret(R"("answer":"allow")")).code(), "token_revoked");
}

TEST(WaitRoutes, N12_N17_TOK3_those_who_may_not_answer_are_refused) {
  Waits bench;
  bench.principal.hosted = bench.session;
  EXPECT_EQ(bench.answer(R"({"option_id":"allow"})").code(), "denied");
  EXPECT_EQ(bench.use_token(bench.with_secret(R"("answer":"allow")")).code(), "denied");
  EXPECT_EQ(bench.ask_route("GET", "/api/waits/" + bench.token.text() + "/secret", "").code(),
            "denied");
  bench.principal = {.id = "token:o", .scope = Scope::observe};
  EXPECT_EQ(bench.answer(R"({"option_id":"allow"})").code(), "denied");
  bench.principal = {.id = "token:s", .scope = Scope::operate, .sessions = {SessionId(Ulid{9, 9})}};
  EXPECT_EQ(bench.answer(R"({"option_id":"allow"})").code(), "not_found");
  EXPECT_EQ(bench.use_token(bench.with_secret(R"("answer":"allow")")).code(), "token_not_found");
  EXPECT_TRUE(bench.state().permissions.contains(bench.permission));
}

TEST(WaitRoutes, O20_O30_each_way_in_which_a_token_is_wrong_has_its_own_code) {
  Waits bench;
  EXPECT_EQ(bench.use_token(R"({"secret":"guess","answer":"allow"})").code(), "token_invalid");
  EXPECT_EQ(bench.post("/api/waits/wt_00000000000000000000000001", R"({"secret":"a","answer":"b"})")
                .code(),
            "token_not_found");
  EXPECT_EQ(bench
                .use_token(bench.with_secret(
                    R"("answer":"allow","run_id":"run_00000000000000000000000001")"))
                .code(),
            "token_scope_mismatch");
  EXPECT_EQ(bench.use_token(bench.with_secret(R"("answer":"allow","wait_kind":"input")")).code(),
            "token_scope_mismatch");
  EXPECT_TRUE(bench.state().waits.contains(bench.token));
}

TEST(WaitRoutes, O21_O28_a_token_is_used_once_and_a_retry_with_its_key_gets_the_first_answer) {
  Waits bench;
  const std::string body = bench.with_secret(R"("answer":"allow")");
  EXPECT_EQ(bench.use_token(body, "w").at("outcome"), "selected");
  EXPECT_EQ(bench.use_token(body, "w").at("outcome"), "selected");
  EXPECT_EQ(bench.use_token(body, "other").code(), "token_consumed");
  EXPECT_EQ(bench.count("run.resumed"), 1U);
  EXPECT_EQ(bench.count("token.consumed"), 1U);
}

TEST(WaitRoutes, O21_a_resume_that_carries_a_wait_uses_the_token) {
  Waits bench;
  const Asked asked = bench.on_session(
      "resume", R"({"wait":{"token_id":")" + bench.token.text() + R"(","secret":")" +
                    bench.runtime->wait_secret(bench.token) + R"(","answer":{"cancel":true}}})");
  EXPECT_EQ(asked.at("outcome"), "cancelled");
  EXPECT_EQ(bench.count("token.consumed"), 1U);
}

TEST(WaitRoutes, O16_O15_O27_a_wait_that_ran_out_cannot_be_resumed) {
  ApiBench bench;
  bench.make(R"({"cwd":"/w","prompt":"go","wait_ms":5000})");
  bench.agent_comes_up();
  const PermissionId asked = bench.asks();
  const WaitTokenId token = bench.token_of(asked);
  const std::string secret = bench.runtime->wait_secret(token);
  bench.settle(6000);
  EXPECT_EQ(enum_text(bench.runtime->view(bench.session)->status), "interrupted_waiting");
  EXPECT_EQ(bench.count("token.expired"), 1U);
  const Asked late = bench.post("/api/waits/" + token.text(),
                                R"({"secret":")" + secret + R"(","answer":"allow"})");
  EXPECT_EQ(late.status(), 410);
  EXPECT_EQ(late.code(), "token_expired");
}

TEST(WaitRoutes, O17_O22_O23_a_new_prompt_revokes_the_open_wait) {
  Waits bench;
  const std::string body = bench.with_secret(R"("answer":"allow")");
  bench.on_session("prompt", R"({"text":"never mind"})");
  const Asked late = bench.use_token(body);
  EXPECT_EQ(late.status(), 410);
  EXPECT_EQ(late.code(), "token_revoked");
  EXPECT_EQ(bench.count("token.minted"), 1U);
  EXPECT_EQ(bench.count("token.revoked"), 1U);
}

TEST(WaitRoutes, N7_an_answer_that_did_not_reach_the_agent_is_given_by_the_next_daemon) {
  Waits bench;
  bench.answer(R"({"option_id":"allow"})");
  bench.kill_daemon();
  EXPECT_TRUE(bench.agentctls.commands<AnswerRequest>().empty());
  bench.runtime->on_attached(bench.exec());
  bench.run_now();
  ASSERT_EQ(bench.agentctls.commands<AnswerRequest>().size(), 1U);
  EXPECT_EQ(bench.agentctls.commands<AnswerRequest>()[0].option_id, "allow");
}

TEST(WaitRoutes, O18_O19_the_secret_is_shown_on_request_and_is_in_no_record) {
  Waits bench;
  const Asked shown = bench.ask_route("GET", "/api/waits/" + bench.token.text() + "/secret", "");
  EXPECT_EQ(shown.at("secret"), bench.runtime->wait_secret(bench.token));
  for (const std::string& record : bench.store->read(bench.session, {.limit = 1000})->records) {
    EXPECT_THAT(record, Not(HasSubstr(shown.at("secret"))));
  }
  bench.answer(R"({"option_id":"allow"})");
  EXPECT_EQ(bench.ask_route("GET", "/api/waits/" + bench.token.text() + "/secret", "").code(),
            "token_consumed");
}

TEST(WaitRoutes, N8_a_waiting_session_leaves_the_others_alone) {
  Waits bench;
  const SessionId waiting = bench.session;
  bench.make_worked();
  EXPECT_EQ(bench.on_session("prompt", R"({"text":"x"})").at("placed"), "started");
  EXPECT_EQ(bench.runtime->state(waiting)->permissions.size(), 1U);
}

PermissionRule allow_rule(const std::string& id) {
  return {.id = id, .title = "Read README.md", .option_kind = "allow_once"};
}

struct Ruled : ApiBench {
  explicit Ruled(std::vector<PermissionRule> given) {
    for (const PermissionRule& rule : given) node.held.rules[rule.id] = rule;
    make_worked();
    on_session("prompt", R"({"text":"go"})");
  }
  // Who decided the question; empty while it is open.
  std::string decided(const std::string& title) {
    const PermissionId permission = asks(title);
    run_now();
    for (const ClosedWait& closed : state().closed_waits) {
      if (permission.is_null() || closed.permission == permission) return closed.by;
    }
    return "";
  }
};

TEST(PermissionRules, G7_a_rule_that_names_the_question_exactly_answers_it) {
  Ruled bench({allow_rule("rule_1")});
  EXPECT_EQ(bench.decided("Read README.md"), "rule:rule_1");
  EXPECT_EQ(bench.agentctls.commands<AnswerRequest>().back().option_id, "allow");
  EXPECT_EQ(bench.count("permission.resolved"), 1U);
}

TEST(PermissionRules, G7_everything_else_is_left_to_a_person) {
  Ruled bench({allow_rule("rule_1")});
  for (const char* const title :
       {"Read README.md ", "read README.md", "Read README.md; rm -rf /", "Read", ""}) {
    EXPECT_EQ(bench.decided(title), "") << title;
  }
}

TEST(PermissionRules, G7_a_rule_of_another_agent_or_session_or_a_later_one_says_nothing) {
  PermissionRule agent = allow_rule("rule_1");
  agent.agent = "other";
  PermissionRule session = allow_rule("rule_2");
  session.session = SessionId(Ulid{9, 9});
  PermissionRule later = allow_rule("rule_3");
  later.created = {9'000'000'000'000};
  PermissionRule kind = allow_rule("rule_4");
  kind.title = "Write";
  kind.option_kind = "allow_always";
  Ruled bench({agent, session, later, kind});
  EXPECT_EQ(bench.decided("Read README.md"), "");
  EXPECT_EQ(bench.decided("Write"), "");
}

TEST(PermissionRules, G7_a_question_that_may_be_cut_is_left_to_a_person) {
  const std::string whole(title_bytes_max - 4, 'w');
  const std::string beginning(title_bytes_max + 1, 'b');
  const std::string split = std::string(title_bytes_max - 3, 's') + "🙂";
  std::vector<PermissionRule> rules;
  for (const std::string& title :
       {whole, question_title(beginning), std::string(utf8_prefix(beginning, title_bytes_max)),
        question_title(split), std::string(utf8_prefix(split, title_bytes_max))}) {
    rules.push_back(allow_rule("rule_" + std::to_string(rules.size())));
    rules.back().title = title;
  }
  Ruled bench(rules);
  EXPECT_EQ(bench.decided(beginning + "; rm -rf /"), "");
  EXPECT_EQ(bench.decided(split + "; rm -rf /"), "");
  // Truncated by an agentctl of an earlier version, which leaves no sign of it.
  EXPECT_EQ(bench.decided(std::string(utf8_prefix(beginning, title_bytes_max))), "");
  EXPECT_EQ(bench.decided(std::string(utf8_prefix(split, title_bytes_max))), "");
  EXPECT_EQ(bench.decided(whole), "rule:rule_0");
}

TEST(PermissionRules, G7_a_question_with_options_left_out_is_left_to_a_person) {
  Ruled bench({allow_rule("rule_1")});
  const PermissionOption allow{"allow", "Allow", "allow_once"};
  const auto by_rule = [&](std::vector<PermissionOption> options, std::uint64_t left_out) {
    const std::size_t resolved = bench.count("permission.resolved");
    bench.frame(FramePermission{.request = "q" + std::to_string(bench.state().head),
                                .title = "Read README.md",
                                .options = std::move(options),
                                .options_left_out = left_out},
                bench.state().run->id);
    bench.run_now();
    return bench.count("permission.resolved") > resolved;
  };
  EXPECT_TRUE(by_rule({allow}, 0));
  EXPECT_FALSE(by_rule({allow}, 1)) << "an agentctl left one out";
  EXPECT_FALSE(by_rule(
      {allow, {std::string(question_option_bytes_max + 1, 'i'), "Allow all", "allow_once"}}, 0));
  EXPECT_FALSE(by_rule({{"", "Allow all", "allow_once"}, allow}, 0));
  EXPECT_FALSE(by_rule({allow, {"allow", "Reject", "reject_once"}}, 0)) << "one id for two options";
  EXPECT_FALSE(by_rule({allow, {"", "Reject", "reject_once"}}, 0));
  std::vector<PermissionOption> many{allow};
  while (many.size() < question_options_max) {
    many.push_back({"no" + std::to_string(many.size()), "No", "reject_once"});
  }
  EXPECT_TRUE(by_rule(many, 0));
  many.push_back({"more", "No", "reject_once"});
  EXPECT_FALSE(by_rule(many, 0));
}

TEST(PermissionRules, G7_rules_that_disagree_ask_a_person) {
  PermissionRule reject = allow_rule("rule_2");
  reject.option_kind = "reject_once";
  Ruled bench({allow_rule("rule_1"), reject});
  EXPECT_EQ(bench.decided("Read README.md"), "");
}

}  // namespace
}  // namespace perdure
