// An agent's errors become a class for the ladder and a text that is readable and fits into a
// frame.
#include "agentctl/supervisor/agent/failures.h"

#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

TEST(Failures, C4_each_failure_has_its_class) {
  using acp::Failure;
  EXPECT_EQ(open_failure(Failure::method_missing), OpenFailure::capability_missing);
  EXPECT_EQ(open_failure(Failure::session_unknown), OpenFailure::session_unknown);
  EXPECT_EQ(open_failure(Failure::auth), OpenFailure::auth);
  EXPECT_EQ(open_failure(Failure::cancelled), OpenFailure::cancelled);
  EXPECT_EQ(open_failure(Failure::transport), OpenFailure::transport);
  EXPECT_EQ(open_failure(Failure::version), OpenFailure::startup);
}

// Only a failure that says so may give up the agent's own session.
TEST(Failures, C4_only_what_allows_a_fresh_session_is_of_a_class_that_does) {
  for (int i = 0; i <= static_cast<int>(acp::Failure::other); ++i) {
    const auto failure = static_cast<acp::Failure>(i);
    const bool goes_on = open_failure(failure) < OpenFailure::transport;
    EXPECT_EQ(goes_on, acp::allows_fresh_session(failure)) << acp::failure_name(failure);
  }
}

TEST(Failures, R1_the_text_has_message_code_and_details_on_one_line) {
  EXPECT_EQ(error_text({-32603, "Internal error", {}}), "Internal error (-32603)");
  EXPECT_EQ(error_text({-32603, "Internal error", {R"({"details":"no such model"})"}}),
            R"(Internal error (-32603) {"details":"no such model"})");
  EXPECT_EQ(error_text({1, "a\nb\r\nc", {"[1,\n2]"}}), "a b  c (1) [1, 2]");
}

TEST(Failures, an_error_of_any_length_fits_into_a_frame) {
  std::string message;
  while (message.size() < 3 * agent_error_bytes_max) message += "é";
  const std::string text = error_text({1, message, {"\"" + message + "\""}});
  EXPECT_LE(text.size(), 2 * agent_error_bytes_max + 32);
  EXPECT_TRUE(is_utf8(text));
}

TEST(Failures, R9_a_refused_setting_is_an_update_of_our_own) {
  EXPECT_EQ(option_refused({-32602, "no \"such\" mode", {}}).text,
            R"json({"perdure":"option_refused","message":"no \"such\" mode (-32602)"})json");
}

}  // namespace
}  // namespace perdure
