// The gate over real rows: which caller gets which principal, and that rights end when they are
// revoked. The node below is the real one on a memory store.
#include "daemon/api/gate/gate.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/fixture_for_test.h"

namespace perdure {
namespace {

constexpr std::uint32_t own_uid = 1000;
const SessionId inside_session(Ulid{5, 5});

class GateBench : public ApiDaemon {
 public:
  GateBench() { gate = make_gate(); }

  // The wall clock can be set back while the time since boot continues.
  struct WallClock final : Clock {
    explicit WallClock(Clock& real) : real(real) {}
    Moment now() override {
      Moment moment = real.now();
      moment.wall.ms -= back_ms;
      return moment;
    }
    Clock& real;
    std::int64_t back_ms = 0;
  };

  std::unique_ptr<Gate> make_gate() {
    GateConfig config{
        .admin_token = sha256(admin),
        .uid = own_uid,
        .find_tcp_origin = [this](const std::shared_ptr<const HttpPeer>&, const std::string&,
                                  std::move_only_function<void(Result<CallerOrigin>)> done) {
          ++looked;
          done(CallerOrigin{hosted_peer, ""});
        }};
    config.names.add_listener(*parse_listen_host("127.0.0.1"), 7433, Scheme::http);
    return std::make_unique<Gate>(Gate::World{*node, clock, loop}, std::move(config));
  }

  HttpRequest tcp(std::vector<HttpHeader> headers = {}) {
    HttpRequest request{.method = "GET", .target = "/api/sessions", .path = "/api/sessions"};
    request.headers = std::move(headers);
    request.headers.push_back({"Host", "127.0.0.1:7433"});
    request.peer = std::make_shared<const HttpPeer>(
        HttpPeer{.address = "127.0.0.1", .port = 40000, .local_port = 7433});
    return request;
  }
  HttpRequest unix_socket(std::uint32_t uid, std::vector<HttpHeader> headers = {}) {
    HttpRequest request = tcp(std::move(headers));
    request.peer = std::make_shared<const HttpPeer>(
        HttpPeer{.is_unix = true, .uid = uid, .pid = 77, .origin = {hosted_peer, ""}});
    return request;
  }
  Result<Principal> identify(const HttpRequest& request) {
    if (!gate->knows_origin(request)) gate->find_origin(request, "", [](const Result<>&) {});
    return gate->identify(request, Gate::Ticket::take);
  }
  // Adds a token to the node and returns its text.
  std::string add_token(TokenRow row) {
    std::string text = gate->make_secret_text(SecretKind::token);
    row.text_hash = sha256(text);
    node->add_token({"uid:1", "", {}}, std::move(row), [](Result<>) {});
    run_now();
    return text;
  }
  void add_browser(const std::string& id, const std::string& cookie, const std::string& key) {
    node->add_browser({"uid:1", "", {}},
                      {.id = id, .cookie_hash = sha256(cookie), .key_hash = sha256(key)},
                      [](Result<>) {});
    run_now();
  }

  std::string admin = make_secret(SecretKind::token, {1, 2, 3, 4});
  SessionId hosted_peer;
  int looked = 0;
  WallClock clock{loop};
  std::unique_ptr<Gate> gate;
};

HttpHeader bearer(const std::string& text) { return {"Authorization", "Bearer " + text}; }

TEST(Gate, CVE_2026_22812_without_a_token_nobody_is_let_in_on_loopback_either) {
  GateBench bench;
  EXPECT_EQ(bench.identify(bench.tcp()).error().code(), Code::unauthenticated);
  EXPECT_EQ(bench.identify(bench.tcp({bearer("perdure_")})).error().code(), Code::unauthenticated);
  EXPECT_EQ(bench.identify(bench.tcp({bearer(make_secret(SecretKind::token, {9, 9, 9, 9}))}))
                .error()
                .code(),
            Code::unauthenticated);
}

TEST(Gate, the_admin_token_and_its_own_user_are_admin) {
  GateBench bench;
  const auto admin = bench.identify(bench.tcp({bearer(bench.admin)}));
  ASSERT_TRUE(admin);
  EXPECT_EQ(admin->id, "token:admin");
  EXPECT_EQ(admin->scope, Scope::admin);
  EXPECT_TRUE(bench.gate->still_valid(*admin));
  const auto user = bench.identify(bench.unix_socket(own_uid));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->id, "uid:1000");
  EXPECT_TRUE(user->may_mint());
  EXPECT_EQ(bench.identify(bench.unix_socket(0))->id, "uid:0");
}

TEST(Gate, a_person_may_choose_the_admin_token) {
  GateBench bench;
  bench.admin = "a text of my own, which is long enough";
  bench.gate = bench.make_gate();
  EXPECT_EQ(bench.identify(bench.tcp({bearer(bench.admin)}))->id, "token:admin");
  EXPECT_FALSE(bench.identify(bench.tcp({bearer(bench.admin + "x")})));
}

TEST(Gate, N16_another_user_or_a_proxy_on_the_unix_socket_is_not_our_own) {
  GateBench bench;
  EXPECT_EQ(bench.identify(bench.unix_socket(1001)).error().code(), Code::unauthenticated);
  for (const char* header : {"X-Forwarded-For", "forwarded", "Via", "Origin", "Sec-Fetch-Site"}) {
    EXPECT_EQ(bench.identify(bench.unix_socket(own_uid, {{header, "same-origin"}})).error().code(),
              Code::unauthenticated)
        << header;
  }
  EXPECT_TRUE(bench.identify(bench.unix_socket(1001, {bearer(bench.admin)})));
}

TEST(Gate, GHSA_rqpp_rjj8_7wv8_scopes_come_from_the_row_only) {
  GateBench bench;
  const std::string text =
      bench.add_token({.id = "tok_1", .scope = Scope::observe, .sessions = {inside_session}});
  const auto principal =
      bench.identify(bench.tcp({bearer(text), {"X-Perdure-Scopes", "admin"}, {"Scope", "admin"}}));
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->id, "token:tok_1");
  EXPECT_EQ(principal->scope, Scope::observe);
  EXPECT_EQ(principal->sessions, std::vector<SessionId>{inside_session});
  EXPECT_FALSE(principal->may_see(SessionId(Ulid{5, 6})));
}

TEST(Gate, GHSA_m8wm_r5vq_qjpg_TOK2_a_revoked_token_ends_at_once) {
  GateBench bench;
  const std::string text = bench.add_token({.id = "tok_1"});
  const Principal principal = *bench.identify(bench.tcp({bearer(text)}));
  EXPECT_TRUE(bench.gate->still_valid(principal));
  bench.node->revoke_token({"uid:1", "", {}}, "tok_1", [](Result<>) {});
  bench.run_now();
  EXPECT_FALSE(bench.gate->still_valid(principal));
  EXPECT_EQ(bench.identify(bench.tcp({bearer(text)})).error().code(), Code::unauthenticated);
}

TEST(Gate, a_token_expires) {
  GateBench bench;
  const Timestamp expires{bench.loop.now().wall.ms + 1000};
  const std::string text = bench.add_token({.id = "tok_1", .expires = expires});
  const Principal principal = *bench.identify(bench.tcp({bearer(text)}));
  bench.loop.time_ms += 999;
  EXPECT_TRUE(bench.gate->still_valid(principal));
  bench.loop.time_ms += 1;
  EXPECT_FALSE(bench.gate->still_valid(principal));
  EXPECT_FALSE(bench.identify(bench.tcp({bearer(text)})));
}

TEST(Gate, SEC14_a_clock_that_is_set_back_revives_no_token) {
  GateBench bench;
  const Timestamp expires{bench.loop.now().wall.ms + 1000};
  const std::string text = bench.add_token({.id = "tok_1", .expires = expires});
  bench.loop.time_ms += 1000;
  ASSERT_FALSE(bench.identify(bench.tcp({bearer(text)})));
  bench.clock.back_ms = 3600'000;
  EXPECT_FALSE(bench.identify(bench.tcp({bearer(text)})));
}

TEST(Gate, SEC14_cookies_of_other_servers_lock_no_page_out) {
  GateBench bench;
  bench.add_browser("br_1", "cookie-1", "key-1");
  std::string cookies;
  for (int i = 0; i < 100; ++i) cookies += "perdure_7433=planted" + std::to_string(i) + "; ";
  EXPECT_TRUE(bench.identify(
      bench.tcp({{"Cookie", cookies + "perdure_7433=cookie-1"}, {"X-Perdure-Key", "key-1"}})));
}

TEST(Gate, SEC14_a_browser_on_a_forwarded_socket_is_not_our_own_user) {
  GateBench bench;
  const auto over_socket = [&](std::vector<HttpHeader> headers) {
    return bench.identify(bench.unix_socket(own_uid, std::move(headers)));
  };
  EXPECT_TRUE(over_socket({{"User-Agent", "curl/8.5.0"}}));
  EXPECT_EQ(over_socket({{"User-Agent", "Mozilla/5.0 (X11)"}}).error().code(),
            Code::unauthenticated);
}

TEST(Gate, a_page_needs_its_cookie_and_its_key) {
  GateBench bench;
  bench.add_browser("br_1", "cookie-1", "key-1");
  bench.add_browser("br_2", "cookie-2", "key-2");
  const auto page = [&](const std::string& cookie, const std::string& key) {
    return bench.identify(bench.tcp({{"Cookie", cookie}, {"X-Perdure-Key", key}}));
  };
  const auto principal = page("perdure_7433=cookie-1", "key-1");
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->id, "browser:br_1");
  EXPECT_TRUE(principal->from_browser);
  EXPECT_TRUE(page("perdure_7433=planted; perdure_7433=cookie-1", "key-1"))
      << "a server on another port may set cookies of our name";
  EXPECT_FALSE(page("perdure_7433=cookie-1", "key-2"));
  EXPECT_FALSE(page("perdure_7434=cookie-1", "key-1"));
  EXPECT_FALSE(page("perdure_7433=cookie-1", ""));
  EXPECT_FALSE(page("", "key-1"));
  bench.node->revoke_browser({"uid:1", "", {}}, "br_1", [](Result<>) {});
  bench.run_now();
  EXPECT_FALSE(page("perdure_7433=cookie-1", "key-1"));
  EXPECT_FALSE(bench.gate->still_valid(*principal));
}

TEST(Gate, browsers_survive_a_restart_of_the_daemon) {
  GateBench bench;
  bench.add_browser("br_1", "cookie-1", "key-1");
  bench.gate.reset();
  bench.node.reset();
  bench.crash();
  bench.open_node();
  bench.gate = bench.make_gate();
  EXPECT_TRUE(
      bench.identify(bench.tcp({{"Cookie", "perdure_7433=cookie-1"}, {"X-Perdure-Key", "key-1"}})));
}

TEST(Gate, TOK3_a_caller_inside_of_a_session_is_that_session_whatever_it_presents) {
  GateBench bench;
  bench.hosted_peer = inside_session;
  for (const HttpRequest& request : {bench.unix_socket(own_uid), bench.tcp({bearer(bench.admin)}),
                                     bench.unix_socket(own_uid, {bearer(bench.admin)})}) {
    const auto principal = bench.identify(request);
    ASSERT_TRUE(principal);
    EXPECT_EQ(principal->id, "session:" + inside_session.text());
    EXPECT_EQ(principal->hosted, inside_session);
    EXPECT_EQ(principal->scope, Scope::operate);
    EXPECT_FALSE(principal->may_answer());
    EXPECT_FALSE(principal->may_mint());
  }
  EXPECT_FALSE(bench.identify(bench.tcp())) << "it needs a token on TCP like everybody";
  const std::string observer = bench.add_token({.id = "tok_1", .scope = Scope::observe});
  const Principal narrow = *bench.identify(bench.tcp({bearer(observer)}));
  EXPECT_EQ(narrow.scope, Scope::observe) << "being hosted gives nothing";
  bench.node->revoke_token({"uid:1", "", {}}, "tok_1", [](Result<>) {});
  bench.run_now();
  EXPECT_FALSE(bench.gate->still_valid(narrow)) << "TOK2 holds inside a session, too";
}

TEST(Gate, a_connection_is_looked_up_once) {
  GateBench bench;
  const HttpRequest request = bench.tcp({bearer(bench.admin)});
  EXPECT_TRUE(bench.identify(request));
  EXPECT_TRUE(bench.identify(request));
  EXPECT_EQ(bench.looked, 1);
  EXPECT_TRUE(bench.identify(bench.tcp({bearer(bench.admin)})));
  EXPECT_EQ(bench.looked, 2);
}

TEST(Gate, TOK1_a_ticket_opens_one_websocket_within_its_time) {
  GateBench bench;
  const auto upgrade = [&](const std::string& ticket) {
    HttpRequest request =
        bench.tcp({{"Upgrade", "websocket"}, {"Origin", "http://127.0.0.1:7433"}});
    request.query = {{"ticket", ticket}};
    return request;
  };
  const Principal by{.id = "browser:br_1", .scope = Scope::admin, .credential = "browser:br_1"};
  bench.add_browser("br_1", "c", "k");
  const std::string ticket = bench.gate->make_ticket(by);
  EXPECT_TRUE(bench.gate->identify(upgrade(ticket), Gate::Ticket::look));
  EXPECT_EQ(*bench.identify(upgrade(ticket)), by);
  EXPECT_FALSE(bench.identify(upgrade(ticket))) << "it was used";
  const std::string late = bench.gate->make_ticket(by);
  bench.loop.time_ms += ticket_ms;
  EXPECT_FALSE(bench.identify(upgrade(late)));
  const std::string orphan = bench.gate->make_ticket(by);
  bench.node->revoke_browser({"uid:1", "", {}}, "br_1", [](Result<>) {});
  bench.run_now();
  EXPECT_FALSE(bench.identify(upgrade(orphan))) << "its maker was revoked";
  HttpRequest plain = bench.tcp();
  plain.query = {{"ticket", bench.gate->make_ticket({.id = "uid:1"})}};
  EXPECT_FALSE(bench.identify(plain)) << "a ticket is for WebSockets only";
}

TEST(Gate, failures_are_slowed_down_and_the_right_token_is_not) {
  GateBench bench;
  for (std::int64_t i = 0; i < auth_failures_max; ++i) {
    EXPECT_EQ(bench.identify(bench.tcp()).error().code(), Code::unauthenticated);
  }
  EXPECT_EQ(bench.identify(bench.tcp()).error().code(), Code::limit_reached);
  EXPECT_TRUE(bench.identify(bench.tcp({bearer(bench.admin)})));
  bench.loop.time_ms += auth_failure_ms * auth_failures_max;
  EXPECT_EQ(bench.identify(bench.tcp()).error().code(), Code::unauthenticated);
}

}  // namespace
}  // namespace perdure
