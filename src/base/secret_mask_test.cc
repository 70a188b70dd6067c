// Values that are hidden and, as important, those that are not: hiding ordinary words is useless.
#include "base/secret_mask.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(SecretMask, values_are_told_by_their_names_and_forms) {
  struct Case {
    const char* name;
    const char* value;
    bool is_secret;
  };
  constexpr Case cases[] = {
      {"OPENAI_API_KEY", "abcdefgh", true},
      {"DB_PASSWORD", "correct horse", true},
      {"X-Api-Key", "hunter22hunter22", true},
      {"AWS_SECRET_ACCESS_KEY", "/abc/defghi", true},
      {"GITHUB", "ghp_0123456789abcdef", true},
      {"ANYTHING", "aB3dE6gH9jK2mN5pQ8sT", true},
      {"API_KEY", "short", false},
      {"DEBUG", "true", false},
      {"LEVEL", "1", false},
      {"PATH", "/usr/local/bin:/usr/bin", false},
      {"HOME", "/srv/someone", false},
      {"PWD", "/srv/someone", false},
      {"SSH_AUTH_SOCK", "/tmp/agent.1234", false},
      {"GIT_AUTHOR_NAME", "Ada Lovelace", false},
      {"NODE_ENV", "production", false},
      {"ANTHROPIC_MODEL", "claude-sonnet-4-20250514", false},
      {"PORT", "1234567890", false},
      {"LANG", "en_GB.UTF-8", false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(is_secret_value(one.name, one.value), one.is_secret) << one.name << "=" << one.value;
  }
}

TEST(SecretMask, every_place_of_a_value_is_hidden_and_nothing_else) {
  SecretMask mask;
  mask.add("API_KEY", "hunter22");
  mask.add("OTHER_KEY", "hunter22-and-more");
  mask.add("DEBUG", "true");
  mask.add("SHORT_KEY", "seven77");
  EXPECT_EQ(mask.mask("a hunter22, hunter22hunter22, true seven77 hunter22-and-more"),
            "a ***, ******, true seven77 ***");
  EXPECT_EQ(mask.size(), 2U);
}

TEST(SecretMask, a_value_with_quotes_is_hidden_in_json) {
  SecretMask mask;
  mask.add("API_KEY", "say \"friend\"\n");
  EXPECT_EQ(mask.mask(RawJson{R"({"a":"x say \"friend\"\n y"})"}).text, R"({"a":"x *** y"})");
  mask.add("PIN_KEY", "12345678");
  EXPECT_EQ(mask.mask(RawJson{R"({"a":12345678})"}).text, "") << "what is left is not JSON";
}

TEST(SecretMask, secrets_of_our_own_are_hidden_by_their_form) {
  const std::string digits(64, 'a');
  const SecretMask mask;
  for (const char* const kind : {"", "launch_", "ticket_", "cookie_", "key_"}) {
    EXPECT_EQ(mask.mask("x perdure_" + std::string(kind) + digits + " y"), "x *** y");
  }
  EXPECT_EQ(mask.mask("perdure_agentctl perdure_" + digits.substr(1)),
            "perdure_agentctl perdure_" + digits.substr(1));
}

TEST(SecretMask, an_address_is_shown_without_its_secret_parts) {
  EXPECT_EQ(masked_url("https://hooks.example.com/services/T012345678/B01234567/abcDEF123456xyz"),
            "https://hooks.example.com/services/T012345678/B01234567/***");
  EXPECT_EQ(masked_url("https://me:pass@ntfy.example:8443/topic?auth=abc&x=1#part"),
            "https://me:***@ntfy.example:8443/topic?auth=***&x=***#***");
  EXPECT_EQ(masked_url("https://token@host/"), "https://***@host/");
  EXPECT_EQ(masked_url("http://127.0.0.1:9/hook"), "http://127.0.0.1:9/hook");
  EXPECT_EQ(masked_url(""), "");
  SecretMask mask;
  mask.add("DATABASE_URL", "postgres://app:opensesame@db/app");
  EXPECT_EQ(mask.mask("cannot connect with opensesame to db"), "cannot connect with *** to db");
}

TEST(SecretMask, variables_and_headers_of_mcp_servers_are_secrets_too) {
  SecretMask mask;
  mask.add_mcp_servers({R"([{"name":"a","env":[{"name":"API_TOKEN","value":"abcdefghij"}]},)"
                        R"({"url":"https://x/?k=longvalue1","headers":[{"name":"Authorization",)"
                        R"("value":"Bearer opensesame"}]}])"});
  EXPECT_EQ(mask.mask("abcdefghij longvalue1 opensesame"), "*** *** ***");
  mask.add_mcp_servers({});
  mask.add_mcp_servers({R"([1,{"env":{}},{"env":[2]}])"});
}

}  // namespace
}  // namespace perdure
