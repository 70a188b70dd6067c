// The recorded errors of real agents (tests/golden/acp/errors.jsonl), and how each is classified.
// Then errors without a recording: rate limits with their times, and words found in the wrong
// place.
#include "core/acp/classify.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/acp/golden_for_test.h"
#include "core/acp/reset_time.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

struct Case {
  std::string agent;
  Call call;
  std::int64_t code;
  std::string message;
  std::string data;
  Failure failure;
};

const std::map<std::string, Call> calls = {
    {"authenticate", Call::authenticate},
    {"session/new", Call::open_new},
    {"session/load", Call::load},
    {"session/resume", Call::resume},
    {"session/prompt", Call::prompt},
    {"session/set_mode", Call::set_option},
    {"session/set_config_option", Call::set_option},
    {"session/close", Call::close},
    {"session/delete", Call::remove},
    {"session/list", Call::list},
    {"session/fork", Call::fork},
};

struct RecordedCase {
  std::string agents;
  Call call = Call::other;
  RpcError error;
  std::string failure;
};

std::vector<RecordedCase> recorded_cases() {
  std::vector<RecordedCase> cases;
  for (const std::string& line : golden_lines("errors.jsonl")) {
    const Slices members(line);
    const auto call = calls.find(members.text("method"));
    cases.push_back({members.text("agents"), call == calls.end() ? Call::other : call->second,
                     parse_rpc_error(members.raw("error")), members.text("failure")});
  }
  return cases;
}

TEST(Classify, C4_X10_R1_every_recorded_error_by_call_and_words) {
  const std::vector<RecordedCase> cases = recorded_cases();
  EXPECT_GE(cases.size(), 99U);
  for (const RecordedCase& one : cases) {
    EXPECT_EQ(failure_name(classify(one.call, one.error).failure), one.failure)
        << one.agents << ' ' << print_rpc_error(one.error);
  }
}

// Not recorded: errors defined by the protocol, and wordings that are expected but not yet
// observed, including the rate limits.
const std::vector<Case> told = {
    {"codex-acp", Call::load, -32600, "Invalid request", R"({"reason":"thread_active_writer"})",
     Failure::session_in_use},
    {"codex-acp", Call::initialize, 1001, "CODEX_HOME does not exist", "", Failure::other},
    {"v2", Call::initialize, -32022, "Unsupported protocol version", R"({"supported":[1]})",
     Failure::version},
    {"any", Call::prompt, -32800, "Request cancelled", "", Failure::cancelled},
    {"any", Call::prompt, -32603, "Internal error", R"({"details":"AbortError: stop"})",
     Failure::cancelled},
    {"old", Call::load, -32001, "Session not found", "", Failure::session_unknown},
    {"claude", Call::resume, -32603, "Internal error",
     R"({"details":"No conversation found with session ID: 7f3a"})", Failure::session_unknown},
    {"any", Call::prompt, -32603, "429 Too Many Requests", "", Failure::rate_limited},
    {"any", Call::prompt, 429, "slow down", "", Failure::rate_limited},
    {"any", Call::prompt, -32000, "Rate limit exceeded", "", Failure::rate_limited},
    {"any", Call::prompt, -32603, "API Error: 529 Overloaded", "", Failure::transport},
    {"any", Call::prompt, -32603, "unexpected status 503 Service Unavailable", "",
     Failure::transport},
    {"any", Call::prompt, -32603, "OAuth token has expired. Please run /login", "", Failure::auth},
    {"any", Call::prompt, -32603, "invalid_grant: Refresh token was rotated", "", Failure::auth},
    {"any", Call::prompt, -32603, "request failed", R"({"status":403})", Failure::auth},
    // The code alone, without words.
    {"any", Call::open_new, -32000, "", "", Failure::auth},
    {"any", Call::load, -32002, "", "", Failure::session_unknown},
    {"any", Call::open_new, -32002, "", "", Failure::other},
    {"any", Call::prompt, -32602, "", "", Failure::invalid_params},
    {"any", Call::prompt, 0, "", "", Failure::other},
    // Words in the wrong place.
    {"any", Call::prompt, -32002, "Resource not found", R"({"uri":"file:///w/a.txt"})",
     Failure::other},
    {"any", Call::open_new, -32603, "no rollout found", "", Failure::other},
    {"any", Call::prompt, -32603, "see line 401 of main.c", "", Failure::other},
    {"any", Call::prompt, -32603, "error 4010", "", Failure::other},
    {"any", Call::open_new, -32603, "terminated", "", Failure::other},
};

TEST(Classify, C4_X10_P12_errors_that_are_told_of) {
  for (const Case& one : told) {
    const RpcError error{.code = one.code, .message = one.message, .data = {one.data}};
    EXPECT_EQ(failure_name(classify(one.call, error).failure), failure_name(one.failure))
        << print_rpc_error(error);
  }
}

TEST(Classify, C4_two_failures_allow_a_fresh_session) {
  for (const Failure failure :
       {Failure::session_in_use, Failure::session_archived, Failure::auth, Failure::cancelled,
        Failure::rate_limited, Failure::transport, Failure::cwd_missing, Failure::version,
        Failure::invalid_params, Failure::other}) {
    EXPECT_FALSE(allows_fresh_session(failure)) << failure_name(failure);
  }
  EXPECT_TRUE(allows_fresh_session(Failure::method_missing));
  EXPECT_TRUE(allows_fresh_session(Failure::session_unknown));
}

struct ResetCase {
  std::string message;
  std::string data;
  ResetTime reset;
};

TEST(Classify, P13_rate_limit_has_its_reset_time) {
  const ResetTime at_noon{.at = Timestamp{1794744000000}};
  const auto after = [](std::int64_t ms) { return ResetTime{.after_ms = ms}; };
  for (const ResetCase& one : std::vector<ResetCase>{
           {"Claude AI usage limit reached|1794744000", "", at_noon},
           {"usage limit reached", R"({"resets_at":1794744000000})", at_noon},
           {"usage_limit_reached", R"({"resetsAt":"2026-11-15T12:00:00.250Z"})", at_noon},
           {"usage_limit_reached", R"({"resetsAt":"2026-11-15T12:00:00Z"})", at_noon},
           {"usage_limit_reached", R"({"resetsAt":"2026-11-15T12:00:00+01:00"})", {}},
           {"usage_limit_reached", R"({"plan":"x","resets_in_seconds":90})", after(90'000)},
           // A time of day, in an unknown zone: not a span of four seconds.
           {"You've hit your usage limit. Try again at 4:08 AM.", "", {}},
           {"You've hit your limit, resets at 3pm", "", {}},
           {"Rate limit reached. Please try again in 1m30.5s.", "", after(90'500)},
           {"Rate limit reached. Please try again in 2 hours", "", after(7'200'000)},
           {"429 Too Many Requests, Retry-After: 20", "", after(20'000)},
           {"429 Too Many Requests", R"({"retry_after_ms":1500})", after(1500)},
           {"RESOURCE_EXHAUSTED", R"({"retryDelay":"34s"})", after(34'000)},
           {"rate limit: try again in 99999999 days", "", {}},
           {"rate limit: try again later", "", {}},
       }) {
    const Verdict verdict = classify(Call::prompt, {-32603, one.message, {one.data}});
    EXPECT_EQ(verdict.failure, Failure::rate_limited) << one.message;
    EXPECT_EQ((ResetTime{verdict.reset_at, verdict.retry_after_ms}), one.reset)
        << one.message << one.data;
  }
}

TEST(Classify, P12_no_other_failure_has_a_reset_time) {
  const Verdict verdict =
      classify(Call::prompt, {-32000, "Authentication required, retry-after: 20", {}});
  EXPECT_EQ(verdict, (Verdict{.failure = Failure::auth}));
}

}  // namespace
}  // namespace perdure::acp
