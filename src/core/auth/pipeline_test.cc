// The checks of a request, as tables. Each known vulnerability of similar daemons has a row, with
// the name of its advisory if there is one.
#include "core/auth/pipeline.h"

#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/auth/failures.h"
#include "core/auth/one_time.h"
#include "core/auth/secret.h"

namespace perdure {
namespace {

OwnNames own_names() {
  OwnNames own;
  own.add_listener(*parse_listen_host("127.0.0.1"), 7433, Scheme::http);
  own.add_listener(*parse_listen_host("::1"), 7433, Scheme::http);
  EXPECT_TRUE(own.add_public_url("https://agents.example.com/"));
  return own;
}

RequestFacts request(HeaderValues host = {"127.0.0.1:7433"}) {
  return {.method = "GET", .target = "/api/sessions", .host = std::move(host)};
}

TEST(Host, our_own_names_are_exact_with_their_port) {
  const OwnNames own = own_names();
  for (const char* host : {"127.0.0.1:7433", "localhost:7433", "LocalHost:7433", "[::1]:7433",
                           "agents.example.com", "agents.example.com:443", "AGENTS.EXAMPLE.COM"}) {
    EXPECT_TRUE(check_host(request({host}), own)) << host;
  }
}

TEST(Host, CVE_2025_59956_GHSA_w48q_cv73_mx4w_names_that_only_look_like_ours_are_misdirected) {
  const OwnNames own = own_names();
  for (const char* host : {"",
                           "evil.com",
                           "evil.com:7433",
                           "localhost.evil.com:7433",
                           "localhost.evil.com",
                           "127.0.0.1.nip.io:7433",
                           "evil#@localhost:7433",
                           "evil@localhost:7433",
                           "user:pass@127.0.0.1:7433",
                           "localhost.:7433",
                           "127.0.0.1.:7433",
                           "localhost..:7433",
                           ".localhost:7433",
                           "localhost",
                           "127.0.0.1",
                           "localhost:",
                           "localhost:07433",
                           "localhost:7434",
                           "localhost:74330",
                           "localhost:7433:7433",
                           "localhost:+7433",
                           "localhost:7433/",
                           "localhost:7433 ",
                           " localhost:7433",
                           "localhost:7433#",
                           "localhost:7433?",
                           "127.1:7433",
                           "0x7f.0.0.1:7433",
                           "2130706433:7433",
                           "0177.0.0.1:7433",
                           "127.0.0.01:7433",
                           "0.0.0.0:7433",
                           "::1:7433",
                           "[::1]",
                           "[0:0:0:0:0:0:0:1]:7433",
                           "[::0001]:7433",
                           "[::ffff:127.0.0.1]:7433",
                           "[::ffff:7f00:1]:7433",
                           "[::1%25lo]:7433",
                           "[::1]7433",
                           "[::1]:",
                           "[::1",
                           "[127.0.0.1]:7433",
                           "[localhost]:7433",
                           "agents.example.com:80",
                           "agents.example.com.evil.com",
                           "xagents.example.com",
                           "localh\xc3\xb6st:7433",
                           "local%68ost:7433",
                           "localhost\t:7433",
                           "localhost,evil.com:7433",
                           "http://localhost:7433"}) {
    const auto checked = check_host(request({host}), own);
    ASSERT_FALSE(checked) << host;
    EXPECT_EQ(checked.error().code(), Code::misdirected) << host;
  }
}

TEST(Host, a_text_with_more_than_one_reading_is_no_host_at_all) {
  EXPECT_EQ(*parse_authority("A.b:1"), (Authority{"a.b", 1}));
  EXPECT_EQ(*parse_authority("[2001:db8::1]"), (Authority{"2001:db8::1", std::nullopt}));
  for (const char* text : {"localhost.",
                           "localhost.:7433",
                           "a..b",
                           ".a",
                           "127.1",
                           "0x7f.1",
                           "1.2.3.0x4",
                           "2130706433",
                           "1.2.3.4.5",
                           "01.2.3.4",
                           "a:0",
                           "a:00",
                           "a:65536",
                           "a:",
                           "[0:0:0:0:0:0:0:1]",
                           "[::0001]",
                           "[2001:DB8::1]",
                           "[::ffff:1.2.3.4]",
                           "[::1]x",
                           "[]",
                           "[::1",
                           "::1",
                           "a b",
                           "a@b",
                           "a/b"}) {
    EXPECT_FALSE(parse_authority(text)) << text;
    EXPECT_FALSE(parse_origin("http://" + std::string(text))) << text;
  }
}

TEST(Host, exactly_one_and_a_path_as_target) {
  const OwnNames own = own_names();
  EXPECT_EQ(check_host(request({}), own).error().code(), Code::misdirected);
  EXPECT_EQ(check_host(request({"localhost:7433", "localhost:7433"}), own).error().code(),
            Code::misdirected);
  for (const char* target :
       {"http://evil.com/", "http://127.0.0.1:7433/api", "*", "evil.com:443"}) {
    RequestFacts facts = request();
    facts.target = target;
    EXPECT_EQ(check_host(facts, own).error().code(), Code::misdirected) << target;
  }
}

TEST(Host, SEC14_a_foreign_name_on_a_forwarded_socket_is_refused) {
  OwnNames own = own_names();
  ASSERT_TRUE(own.add_public_url("https://agents.example"));
  const auto over_socket = [&](HeaderValues hosts) {
    RequestFacts facts = request(std::move(hosts));
    facts.is_unix = true;
    return check_host(facts, own);
  };
  EXPECT_TRUE(over_socket({}));
  for (const char* host : {"", "x", "localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080",
                           "10.1.2.3", "agents.example"}) {
    EXPECT_TRUE(over_socket({host})) << host;
  }
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example:8080",
                           "127.0.0.1.evil.example", "agents.example:8080", "a b", "x:0"}) {
    const Result<> checked = over_socket({host});
    ASSERT_FALSE(checked) << host;
    EXPECT_EQ(checked.error().code(), Code::misdirected) << host;
  }
  EXPECT_FALSE(over_socket({"x", "x"}));
}

TEST(Host, a_loopback_listener_does_not_answer_to_other_addresses) {
  OwnNames own;
  own.add_listener(*parse_listen_host("192.168.1.2"), 7433, Scheme::https);
  EXPECT_TRUE(check_host(request({"192.168.1.2:7433"}), own));
  EXPECT_FALSE(check_host(request({"localhost:7433"}), own));
  EXPECT_FALSE(check_host(request({"127.0.0.1:7433"}), own));
}

TEST(Host, public_urls_are_whole_addresses) {
  OwnNames own;
  for (const char* url : {"example.com", "ftp://example.com", "https://", "https://u@example.com",
                          "https://example.com/path", "https://example.com?x", "https://a..b",
                          "https://example.com//"}) {
    EXPECT_EQ(own.add_public_url(url).error().code(), Code::invalid_argument) << url;
  }
  EXPECT_EQ(own.shown_url(), "");
  own.add_listener(*parse_listen_host("127.0.0.1"), 7433, Scheme::http);
  EXPECT_EQ(own.shown_url(), "http://127.0.0.1:7433");
  EXPECT_TRUE(own.add_public_url("https://example.com"));
  EXPECT_EQ(own.shown_url(), "https://example.com");
}

TEST(Site, N16_requests_of_other_sites_are_denied) {
  const OwnNames own = own_names();
  for (const char* site : {"cross-site", "same-site", "", "Same-Origin", "none "}) {
    RequestFacts facts = request();
    facts.fetch_site = {site};
    EXPECT_EQ(check_site(facts, own).error().code(), Code::denied) << site;
  }
  for (const char* site : {"same-origin", "none"}) {
    RequestFacts facts = request();
    facts.fetch_site = {site};
    EXPECT_TRUE(check_site(facts, own)) << site;
  }
  RequestFacts both = request();
  both.fetch_site = {"same-origin", "cross-site"};
  EXPECT_FALSE(check_site(both, own));
}

TEST(Site, CVE_2026_40110_CVE_2026_24052_an_origin_is_compared_in_parts) {
  const OwnNames own = own_names();
  for (const char* origin : {"http://127.0.0.1:7433", "http://localhost:7433", "http://[::1]:7433",
                             "https://agents.example.com", "https://agents.example.com:443"}) {
    RequestFacts facts = request();
    facts.origin = {origin};
    EXPECT_TRUE(check_site(facts, own)) << origin;
  }
  for (const char* origin : {"null",
                             "",
                             "http://evil.com",
                             "https://127.0.0.1:7433",
                             "http://127.0.0.1",
                             "http://127.0.0.1:7434",
                             "http://localhost.evil.com:7433",
                             "http://127.0.0.1.nip.io:7433",
                             "http://evil#@localhost:7433",
                             "http://localhost:7433@evil.com",
                             "http://localhost:7433.evil.com",
                             "http://localhost:7433/",
                             "http://localhost:7433 ",
                             "http:/localhost:7433",
                             "http:localhost:7433",
                             "//localhost:7433",
                             "HTTP://localhost:7433",
                             "file://localhost:7433",
                             "http://agents.example.com",
                             "https://agents.example.com.evil.com",
                             "http://localhost:7433 http://evil.com",
                             "chrome-extension://abc"}) {
    RequestFacts facts = request();
    facts.origin = {origin};
    const auto checked = check_site(facts, own);
    ASSERT_FALSE(checked) << origin;
    EXPECT_EQ(checked.error().code(), Code::denied) << origin;
  }
  RequestFacts twice = request();
  twice.origin = {"http://localhost:7433", "http://localhost:7433"};
  EXPECT_FALSE(check_site(twice, own));
}

TEST(Credentials, one_bearer_and_the_cookies_of_our_name) {
  RequestFacts facts = request();
  facts.authorization = {"bEaReR  perdure_x "};
  facts.cookie = {"a=1; perdure_7433=one;perdure_7433=two", "xperdure_7433=no; perdure_74330=no"};
  facts.page_key = {"k"};
  const auto read = read_credentials(facts, "perdure_7433");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bearer, "perdure_x");
  EXPECT_EQ(read->cookies, (std::vector<std::string_view>{"one", "two"}));
  EXPECT_TRUE(read->has_page());
  for (const char* header : {"Basic dTpw", "perdure_x", "Bearer", "Bearer ", "Bearer\tperdure_x"}) {
    facts.authorization = {header};
    EXPECT_EQ(read_credentials(facts, "c").error().code(), Code::unauthenticated) << header;
  }
  facts.authorization = {"Bearer a", "Bearer a"};
  EXPECT_FALSE(read_credentials(facts, "c"));
}

TEST(Credentials, a_cookie_alone_or_a_key_alone_is_no_page) {
  RequestFacts facts = request();
  facts.cookie = {"c=1"};
  EXPECT_FALSE(read_credentials(facts, "c")->has_page());
  facts.cookie = {};
  facts.page_key = {"k"};
  EXPECT_FALSE(read_credentials(facts, "c")->has_page());
}

TEST(Upgrade, CVE_2025_52882_a_websocket_without_an_origin_brings_a_token) {
  RequestFacts facts = request();
  facts.is_upgrade = true;
  EXPECT_EQ(check_upgrade(facts, {.cookies = {"c"}, .page_key = "k"}).error().code(),
            Code::unauthenticated);
  EXPECT_TRUE(check_upgrade(facts, {.bearer = "t"}));
  facts.origin = {"http://localhost:7433"};
  EXPECT_TRUE(check_upgrade(facts, {}));
}

TEST(Mutation, only_json_changes_something) {
  RequestFacts facts = request();
  facts.method = "POST";
  facts.has_body = true;
  for (const char* type :
       {"application/json", "Application/JSON", "application/json; charset=utf-8",
        "application/json;charset=utf-8", "application/merge-patch+json"}) {
    facts.content_type = {type};
    EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::program)) << type;
  }
  // The three that a form can send, and others that are not JSON.
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                           "", "text/json", "application/jsonx", "text/plain; application/json"}) {
    facts.content_type = {type};
    EXPECT_EQ(check_mutation(facts, BodyType::json, Caller::program).error().code(),
              Code::invalid_argument)
        << type;
    EXPECT_TRUE(check_mutation(facts, BodyType::any, Caller::program)) << type;
  }
  facts.content_type = {};
  EXPECT_FALSE(check_mutation(facts, BodyType::json, Caller::program)) << "a body without a type";
  facts.has_body = false;
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::program)) << "curl -X POST";
  facts.content_type = {"application/json", "application/json"};
  EXPECT_FALSE(check_mutation(facts, BodyType::json, Caller::program));
}

TEST(Mutation, a_page_sends_what_no_form_can) {
  RequestFacts facts = request();
  facts.method = "POST";
  facts.content_type = {"application/json"};
  facts.idempotency_key = {"k-1"};
  EXPECT_EQ(check_mutation(facts, BodyType::json, Caller::page).error().code(), Code::denied);
  facts.page_client = {"0"};
  EXPECT_FALSE(check_mutation(facts, BodyType::json, Caller::page));
  facts.page_client = {"1"};
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::page));
  facts.idempotency_key = {};
  EXPECT_EQ(check_mutation(facts, BodyType::json, Caller::page).error().code(),
            Code::invalid_argument);
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::program));
  facts.method = "DELETE";
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::page));
  facts.page_client = {};
  EXPECT_FALSE(check_mutation(facts, BodyType::json, Caller::page));
  facts.method = "GET";
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::page));
}

TEST(Mutation, a_key_is_short_and_visible) {
  RequestFacts facts = request();
  facts.method = "POST";
  const std::string longest(idempotency_key_bytes_max, 'k');
  const std::string longer = longest + "k";
  facts.idempotency_key = {longest};
  EXPECT_TRUE(check_mutation(facts, BodyType::json, Caller::program));
  for (const HeaderValues& keys :
       {HeaderValues{longer}, {""}, {"a b"}, {"a\x01"}, {"\xc3\xa9"}, {"a", "a"}}) {
    facts.idempotency_key = keys;
    EXPECT_EQ(check_mutation(facts, BodyType::json, Caller::program).error().code(),
              Code::invalid_argument)
        << keys.front();
  }
}

TEST(Secret, has_256_bits_and_one_form) {
  const std::string text = make_secret(SecretKind::token, {1, 0xfedcba9876543210, 0, ~0ULL});
  EXPECT_EQ(text, "perdure_0000000000000001fedcba98765432100000000000000000ffffffffffffffff");
  EXPECT_TRUE(is_secret(SecretKind::token, text));
  EXPECT_FALSE(is_secret(SecretKind::launch, text));
  EXPECT_FALSE(is_secret(SecretKind::token, text + "0"));
  EXPECT_FALSE(is_secret(SecretKind::token, text.substr(0, text.size() - 1)));
  EXPECT_FALSE(is_secret(SecretKind::token, "perdure_" + std::string(64, 'F')));
  EXPECT_FALSE(is_secret(SecretKind::token, ""));
  for (const SecretKind kind :
       {SecretKind::launch, SecretKind::ticket, SecretKind::cookie, SecretKind::key}) {
    EXPECT_TRUE(is_secret(kind, make_secret(kind, {1, 2, 3, 4})));
    EXPECT_FALSE(is_secret(SecretKind::token, make_secret(kind, {1, 2, 3, 4})));
  }
}

TEST(OneTime, TOK1_a_secret_serves_once_and_in_time) {
  OneTimeSecrets secrets({.granted_ms = 30, .count_max = 3});
  const Hash a = sha256("a");
  secrets.add(a, {.id = "uid:1"}, BootTime{100});
  EXPECT_EQ(secrets.look(a, BootTime{129})->id, "uid:1");
  EXPECT_FALSE(secrets.look(a, BootTime{130}));
  EXPECT_FALSE(secrets.take(sha256("b"), BootTime{100}));
  EXPECT_EQ(secrets.take(a, BootTime{101})->id, "uid:1");
  EXPECT_FALSE(secrets.take(a, BootTime{101}));
  secrets.add(a, {}, BootTime{200});
  EXPECT_FALSE(secrets.take(a, BootTime{230}));
  for (const char* text : {"1", "2", "3", "4"}) secrets.add(sha256(text), {}, BootTime{300});
  EXPECT_FALSE(secrets.look(sha256("1"), BootTime{300})) << "the oldest gave way";
  EXPECT_TRUE(secrets.look(sha256("4"), BootTime{300}));
}

TEST(Failures, too_many_are_told_so_until_time_has_passed) {
  AuthFailures failures;
  for (std::int64_t i = 0; i < auth_failures_max; ++i) {
    EXPECT_FALSE(failures.note("10.0.0.1", BootTime{0})) << i;
  }
  EXPECT_TRUE(failures.note("10.0.0.1", BootTime{0}));
  EXPECT_FALSE(failures.note("10.0.0.2", BootTime{0})) << "another address is not to blame";
  EXPECT_TRUE(failures.note("10.0.0.1", BootTime{auth_failure_ms - 1}));
  EXPECT_FALSE(failures.note("10.0.0.1", BootTime{auth_failure_ms}));
  EXPECT_TRUE(failures.note("10.0.0.1", BootTime{auth_failure_ms}));
}

TEST(Failures, N16_each_failure_is_held_back_longer_up_to_a_limit_and_time_heals) {
  AuthFailures failures;
  EXPECT_EQ(failures.delay_ms("10.0.0.1", BootTime{0}), 0);
  std::int64_t before_ms = 0;
  for (std::int64_t i = 1; i <= auth_failures_max; ++i) {
    failures.note("10.0.0.1", BootTime{0});
    const std::int64_t delay_ms = failures.delay_ms("10.0.0.1", BootTime{0});
    if (i <= auth_free_failures) {
      EXPECT_EQ(delay_ms, 0) << i;
    } else if (before_ms < auth_delay_max_ms) {
      EXPECT_GT(delay_ms, before_ms) << i;
    }
    EXPECT_LE(delay_ms, auth_delay_max_ms);
    before_ms = delay_ms;
  }
  EXPECT_EQ(before_ms, auth_delay_max_ms);
  EXPECT_EQ(failures.delay_ms("10.0.0.2", BootTime{0}), 0) << "another address is not to blame";
  const BootTime later{auth_failure_ms * (auth_failures_max - auth_free_failures)};
  EXPECT_EQ(failures.delay_ms("10.0.0.1", later), 0);
}

TEST(Failures, the_addresses_remembered_are_bounded) {
  AuthFailures failures;
  for (std::int64_t i = 0; i <= auth_failures_max; ++i) failures.note("guilty", BootTime{0});
  for (std::size_t i = 0; i < 2 * auth_sources_max; ++i) {
    failures.note("a" + std::to_string(i), BootTime{1});
    ASSERT_LE(failures.sources(), auth_sources_max);
  }
  EXPECT_TRUE(failures.note("guilty", BootTime{1})) << "a flood of others does not clear it";
}

TEST(PrincipalRights, TOK3_a_hosted_caller_never_answers_or_mints) {
  const SessionId session(Ulid{1, 2});
  const Principal hosted{.id = "session:x", .scope = Scope::admin, .hosted = session};
  EXPECT_FALSE(hosted.may_answer());
  EXPECT_FALSE(hosted.may_mint());
  EXPECT_TRUE(hosted.may(Scope::operate));
  const Principal observer{.scope = Scope::observe, .sessions = {session}};
  EXPECT_FALSE(observer.may_answer());
  EXPECT_TRUE(observer.may_see(session));
  EXPECT_FALSE(observer.may_see(SessionId(Ulid{1, 3})));
  EXPECT_TRUE(Principal{}.may_see(session));
}

}  // namespace
}  // namespace perdure
