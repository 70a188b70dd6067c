// What requests leave in the audit trail, that an entry is on disk before its action begins, and
// how the trail is read: in pages, as lines, live.
#include "daemon/api/routes/audit_routes.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/api/api.h"
#include "daemon/api/fixture_for_test.h"
#include "daemon/api/routes/care_routes.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/api/routes/session/command_routes.h"
#include "daemon/api/routes/session/transfer_routes.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Bench : public ApiDaemon {
 public:
  Bench() {
    audit = *Audit::open({loop, loop, *store}, {.segment_records = 8});
    world->audit = audit.get();
    GateConfig config{
        .admin_token = sha256(admin),
        .uid = 1000,
        .find_tcp_origin = [this](const std::shared_ptr<const HttpPeer>&, const std::string&,
                                  std::move_only_function<void(Result<CallerOrigin>)> done) {
          done(CallerOrigin{.session = hosted});
        }};
    config.names.add_listener(*parse_listen_host("127.0.0.1"), 7433, Scheme::http);
    api = std::make_unique<Api>(
        Gate::World{*node, loop, loop}, loop, std::move(config),
        Api::Options{.is_ready = [] { return true; }, .shell = nullptr, .audit = audit.get()});
    Router& routes = api->router();
    commands = std::make_unique<SessionCommands>(*world);
    reads = std::make_unique<ReadRoutes>(*world, slots, [](const Principal&) { return true; });
    add_session_command_routes(routes, *commands);
    add_wait_routes(routes, *commands);
    add_care_routes(routes, *world);
    add_transfer_routes(routes, reads->streams());
    reads->add_to(routes);
    add_login_routes(routes, *world, api->gate());
    add_token_routes(routes, *world, api->gate());
    add_audit_routes(routes, reads->streams());
  }
  ~Bench() {
    reads.reset();
    commands.reset();
    api.reset();
  }

  std::shared_ptr<NotedExchange> ask(const std::string& method, const std::string& target,
                                     const std::string& body = "", std::string bearer = "admin",
                                     std::vector<HttpHeader> headers = {}) {
    auto exchange = std::make_shared<NotedExchange>();
    HttpRequest request{.method = method, .target = target};
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    std::string_view rest = target;
    rest.remove_prefix(mark == std::string::npos ? rest.size() : mark + 1);
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      request.query.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
    }
    request.headers = std::move(headers);
    request.headers.push_back({"Host", "127.0.0.1:7433"});
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    if (bearer == "admin") bearer = admin;
    if (!bearer.empty()) request.headers.push_back({"Authorization", "Bearer " + bearer});
    request.body = body;
    request.peer = peer;
    HttpAdmission admission = api->on_head(request);
    if (admission.refuse) {
      exchange->respond(std::move(*admission.refuse));
    } else {
      api->on_request(std::move(request), exchange);
    }
    if (!held) run_now();
    return exchange;
  }
  std::vector<AuditRecord> entries() {
    std::vector<AuditRecord> out = audit->read(0, 1000)->records;
    std::erase_if(out, [](const AuditRecord& record) { return record.entry.what == "token.use"; });
    return out;
  }
  std::vector<std::string> kinds() {
    std::vector<std::string> out;
    for (const AuditRecord& record : entries()) {
      out.push_back(record.entry.what + " " + record.entry.outcome);
    }
    return out;
  }
  static std::string member(const NotedExchange& answer, std::string_view object,
                            std::string_view name) {
    const auto body = JsonObject::parse(answer.body());
    const auto inner = object.empty() ? body : JsonObject::parse(body->find(object));
    return json_string(inner->find(name)).value_or(std::string(inner->find(name)));
  }

  std::string admin = make_secret(SecretKind::token, {1, 2, 3, 4});
  SessionId hosted;
  bool held = false;  // requests wait until run_now()
  std::shared_ptr<const HttpPeer> peer = std::make_shared<const HttpPeer>(
      HttpPeer{.address = "10.0.0.7", .port = 40000, .local_port = 7433});
  StreamSlots slots;
  std::unique_ptr<Audit> audit;
  std::unique_ptr<SessionCommands> commands;
  std::unique_ptr<ReadRoutes> reads;
  std::unique_ptr<Api> api;
};

TEST(AuditTrail, tokens_and_sign_ins_are_noted_with_who_how_and_from_where) {
  Bench bench;
  const auto made = bench.ask("POST", "/api/tokens", R"({"name":"ci","scopes":["admin"]})");
  const std::string id = bench.member(*made, "token", "id");
  const std::string text = bench.member(*made, "", "text");
  const auto launch = bench.ask("POST", "/api/launch", "", text);
  const std::string launch_token = bench.member(*launch, "", "token");
  const std::vector<HttpHeader> page{{"Origin", "http://127.0.0.1:7433"},
                                     {"Sec-Fetch-Site", "same-origin"},
                                     {"X-Perdure-Client", "1"},
                                     {"Idempotency-Key", "k1"}};
  const auto in = bench.ask("POST", "/api/login", R"({"token":")" + launch_token + "\"}", "", page);
  ASSERT_EQ(in->status(), 200);
  bench.ask("DELETE", "/api/tokens/" + bench.member(*in, "", "id"));
  bench.ask("DELETE", "/api/tokens/" + id);
  EXPECT_THAT(bench.kinds(),
              ElementsAre("token.create ok", "launch.create ok", "browser.sign_in ok",
                          "browser.sign_out ok", "token.revoke ok"));
  const std::vector<AuditRecord> entries = bench.entries();
  EXPECT_EQ(entries[0].entry.by, "token:admin");
  EXPECT_EQ(entries[0].entry.how, "admin token");
  EXPECT_EQ(entries[0].entry.from, "10.0.0.7");
  EXPECT_THAT(entries[0].entry.on, ElementsAre(id));
  EXPECT_EQ(entries[0].entry.text, "\"ci\", scope admin");
  EXPECT_EQ(entries[1].entry.by, "token:" + id);
  EXPECT_EQ(entries[1].entry.how, "token \"ci\"");
  EXPECT_EQ(entries[2].entry.by, "token:" + id);
  EXPECT_THAT(entries[4].entry.on, ElementsAre(id));
  // The trail contains no secret and no hash of a secret.
  for (const std::string& secret :
       {text, launch_token, bench.admin, sha256(text).hex(), bench.member(*in, "", "key")}) {
    for (Seq seq = 1; seq <= bench.disk.head(audit_segment_id(1)); ++seq) {
      EXPECT_THAT(std::string(*bench.disk.peek(audit_segment_id(1), seq)), Not(HasSubstr(secret)));
    }
  }
}

TEST(AuditTrail, the_first_use_of_a_token_from_an_address_is_noted) {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.ask("GET", "/api/daemon");
  bench.peer = std::make_shared<const HttpPeer>(HttpPeer{.address = "10.0.0.8"});
  for (int i = 0; i < 3; ++i) bench.ask("GET", "/api/daemon");
  const std::vector<AuditRecord> uses = bench.audit->read(0, 1000)->records;
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].entry.what, "token.use");
  EXPECT_EQ(uses[0].entry.how, "admin token");
  EXPECT_EQ(uses[0].entry.from, "10.0.0.7");
  EXPECT_EQ(uses[1].entry.from, "10.0.0.8");
}

TEST(AuditTrail, an_entry_is_on_disk_before_its_action_begins) {
  Bench bench;
  bench.held = true;
  const auto made = bench.ask("POST", "/api/tokens", R"({"name":"ci","scopes":["admin"]})");
  while (bench.disk.head(Node::journal_id()) == 0) {
    ASSERT_TRUE(bench.loop.run_posted() || bench.store->step());
    if (bench.disk.head(Node::journal_id()) == 0) continue;
    EXPECT_EQ(bench.disk.head(audit_segment_id(1)), 2U) << "the token was made before its entry";
  }
  bench.run_now();
  EXPECT_EQ(made->status(), 201);
  EXPECT_EQ(bench.entries().back().entry.what, "token.create");
}

TEST(AuditTrail, DISK2_without_its_entry_nothing_is_done_and_a_token_can_still_be_revoked) {
  Bench bench;
  const auto made = bench.ask("POST", "/api/tokens", R"({"name":"ci","scopes":["admin"]})");
  const std::string id = bench.member(*made, "token", "id");
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(bench.ask("POST", "/api/tokens", R"({"name":"b","scopes":["admin"]})")->status(), 507);
  EXPECT_EQ(bench.node->state().tokens.size(), 1U);
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(bench.ask("DELETE", "/api/tokens/" + id)->status(), 200);
  EXPECT_TRUE(bench.node->state().tokens.empty());
  EXPECT_EQ(bench.kinds().back(), "token.revoke ok");
}

TEST(AuditTrail, an_action_that_fails_has_a_second_entry_with_the_error) {
  Bench bench;
  EXPECT_EQ(bench.ask("DELETE", "/api/tokens/tok_none")->status(), 404);
  EXPECT_THAT(bench.kinds(), ElementsAre("token.revoke ok", "token.revoke not_found"));
  EXPECT_EQ(bench.entries()[1].entry.of, bench.entries()[0].seq);
}

TEST(AuditTrail, refused_logins_and_requests_from_inside_a_session_are_noted) {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.ask("GET", "/api/inbox", "", "wrong");
  bench.hosted = SessionId(Ulid{5, 5});
  bench.ask("POST", "/api/permissions/perm_00000000000000000000000001", R"({"cancel":true})");
  bench.hosted = {};
  EXPECT_THAT(bench.kinds(),
              ElementsAre("sign_in.refuse unauthenticated", "request.refuse denied"));
  const std::vector<AuditRecord> entries = bench.entries();
  EXPECT_EQ(entries[0].entry.from, "10.0.0.7");
  EXPECT_EQ(entries[0].entry.text, "GET /api/inbox");
  EXPECT_EQ(entries[1].entry.by, "session:" + SessionId(Ulid{5, 5}).text());
  EXPECT_EQ(entries[1].entry.text, "POST /api/permissions/{id}");
  bench.settle(refusal_window_ms + 1000);
  EXPECT_EQ(bench.entries().back().entry.count, 2U);
}

TEST(AuditTrail, a_refused_login_is_seen_behind_other_refusals_of_its_address) {
  Bench bench;
  for (int i = 0; i < 2; ++i) bench.ask("GET", "/api/inbox", "", "wrong");
  bench.ask("POST", "/api/login", R"({"token":"wrong"})", "");
  bench.ask("POST", "/api/login", "no JSON", "");
  ASSERT_THAT(bench.kinds(),
              ElementsAre("sign_in.refuse unauthenticated", "sign_in.refuse unauthenticated",
                          "request.refuse invalid_argument"));
  EXPECT_EQ(bench.entries()[1].entry.text, "POST /api/login");
  EXPECT_EQ(bench.entries()[2].entry.text, "POST /api/login");
}

TEST(AuditTrail, a_login_without_the_header_of_the_page_is_noted) {
  Bench bench;
  bench.ask("POST", "/api/login", R"({"token":"wrong"})", "", {{"Sec-Fetch-Site", "same-origin"}});
  ASSERT_EQ(bench.entries().size(), 1U);
  EXPECT_EQ(bench.entries()[0].entry.text, "POST /api/login");
}

TEST(AuditTrail, answers_are_noted_without_the_words_of_the_question) {
  Bench bench;
  ASSERT_TRUE(bench.create("delete everything"));
  bench.agent_comes_up();
  FramePermission question;
  question.request = "req-1";
  question.title = "rm -rf /";
  question.options = {{"allow", "Allow", "allow_once"}, {"reject", "Reject", "reject_once"}};
  bench.frame(question, bench.state().run->id);
  const PermissionId asked = bench.state().permissions.begin()->first;
  const std::string path = "/api/permissions/" + asked.text();
  EXPECT_EQ(bench.ask("POST", path, R"({"option_id":"allow"})")->status(), 200);
  EXPECT_EQ(bench.ask("POST", path, R"({"option_id":"reject"})")->status(), 200);
  EXPECT_THAT(bench.kinds(),
              ElementsAre("question.answer ok", "question.answer ok", "question.answer no_effect"));
  const std::vector<AuditRecord> entries = bench.entries();
  EXPECT_THAT(entries[0].entry.on, ElementsAre(bench.session.text(), asked.text()));
  EXPECT_EQ(entries[0].entry.text, "allow_once");
  EXPECT_EQ(entries[2].entry.of, entries[1].seq);
}

TEST(AuditTrail, deletion_redaction_export_and_restart_are_noted) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  bench.world->restart = [](ApiWorld::RestartWith) { return Result<>(); };
  const std::string path = "/api/sessions/" + bench.session.text();
  const auto exported = bench.ask("GET", path + "/export");
  ASSERT_TRUE(exported->streamed);
  exported->streamed->close();  // the reader disconnects
  bench.run_now();
  bench.ask("POST", path + "/redact", R"({"seq":1})");
  bench.ask("DELETE", path);
  bench.ask("DELETE", path + "?confirm=true&force=true");
  bench.ask("POST", "/api/restart");
  std::vector<std::string> begun;
  for (const AuditRecord& record : bench.entries()) {
    if (record.entry.outcome == audit_ok) begun.push_back(record.entry.what);
  }
  EXPECT_THAT(begun,
              ElementsAre("session.export", "session.redact", "session.delete", "daemon.restart"));
  EXPECT_THAT(bench.entries()[0].entry.on, ElementsAre(bench.session.text()));
}

TEST(AuditRoutes, pages_go_forward_from_a_cursor_or_a_time_and_back_from_the_end) {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.audit->note({.what = "a.n" + std::to_string(i + 1)});
    bench.run_now();
    bench.loop.time_ms += 1000;
  }
  bench.admin = "";  // using the token would add an entry
  bench.peer = std::make_shared<const HttpPeer>(HttpPeer{.is_unix = true, .uid = 1000});
  const auto seqs = [&](const std::string& query) {
    const auto answer = bench.ask("GET", "/api/audit" + query);
    const auto body = JsonObject::parse(answer->body());
    std::string out = answer->status() == 200 ? "" : std::to_string(answer->status());
    for (const std::string_view entry : *json_elements(body->find("entries"))) {
      out += std::string(JsonObject::parse(entry)->find("seq")) + " ";
    }
    return out + std::string(body->find("more"));
  };
  EXPECT_EQ(seqs("?after=17"), "18 19 20 false");
  EXPECT_EQ(seqs("?after=3&limit=2"), "4 5 true");
  EXPECT_EQ(seqs("?last=2"), "19 20 false");
  EXPECT_EQ(seqs("?limit=2"), "19 20 true");
  EXPECT_EQ(seqs("?limit=2&before=19"), "17 18 true");
  EXPECT_EQ(seqs("?before=3"), "1 2 false");
  const std::string at = format_timestamp(bench.entries()[15].at);
  EXPECT_EQ(seqs("?since=" + at), "16 17 18 19 20 false");
  EXPECT_EQ(bench.ask("GET", "/api/audit?after=21")->status(), 409);
  EXPECT_EQ(bench.ask("GET", "/api/audit?after=1&log_id=other")->status(), 409);
  EXPECT_EQ(bench.ask("GET", "/api/audit?since=yesterday")->status(), 400);
}

TEST(AuditRoutes, only_admins_who_are_bound_to_no_session_read_it) {
  Bench bench;
  for (const char* const scope : {"observe", "operate", "admin"}) {
    const std::string bound = std::string(scope) == "admin"
                                  ? R"(,"sessions":[")" + SessionId(Ulid{7, 7}).text() + "\"]"
                                  : "";
    const auto made =
        bench.ask("POST", "/api/tokens",
                  R"({"name":"t","scopes":[")" + std::string(scope) + "\"]" + bound + "}");
    ASSERT_EQ(made->status(), 201) << made->body();
    EXPECT_EQ(bench.ask("GET", "/api/audit", "", bench.member(*made, "", "text"))->status(), 403)
        << scope;
  }
  EXPECT_EQ(bench.ask("GET", "/api/audit")->status(), 200);
}

TEST(AuditRoutes, the_stream_gives_what_is_there_and_then_what_happens) {
  Bench bench;
  bench.admin = "";
  bench.peer = std::make_shared<const HttpPeer>(HttpPeer{.is_unix = true, .uid = 1000});
  for (int i = 0; i < 12; ++i) bench.audit->note({.what = "a.before"});
  bench.run_now();
  const auto live =
      bench.ask("GET", "/api/audit?after=10", "", "admin", {{"Accept", "text/event-stream"}});
  ASSERT_TRUE(live->streamed);
  ASSERT_EQ(live->streamed->written.size(), 3U);
  EXPECT_THAT(*live->streamed->written[0], HasSubstr("event: state\ndata: {\"log_id\""));
  EXPECT_THAT(*live->streamed->written[1], HasSubstr("id: 11\nevent: record\n"));
  bench.audit->note({.what = "a.later", .text = "now"});
  bench.run_now();
  ASSERT_EQ(live->streamed->written.size(), 4U);
  EXPECT_THAT(*live->streamed->written[3], HasSubstr(R"("what":"a.later")"));
  const auto lines =
      bench.ask("GET", "/api/audit?after=11", "", "admin", {{"Accept", "application/x-ndjson"}});
  ASSERT_TRUE(lines->streamed);
  ASSERT_EQ(lines->streamed->written.size(), 2U);
  EXPECT_THAT(*lines->streamed->written[1], testing::EndsWith("}\n"));
}

}  // namespace
}  // namespace perdure
