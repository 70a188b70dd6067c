// TOK5: searches for secrets, used in every way, in everything that the daemon stores, logs and
// starts. As a control, the search must find a prompt.
#include "guarded_daemon.h"

namespace perdure {
namespace {

std::string processes_with(const DaemonProcess& daemon, const std::string& text) {
  std::string found;
  for (const MarkedProcess& process : daemon.processes()) {
    const std::string folder = "/proc/" + std::to_string(process.pid);
    for (const char* file : {"/cmdline", "/environ"}) {
      if (read_text(folder + file).find(text) != std::string::npos) found += folder + file + " ";
    }
  }
  return found;
}

TEST(Canary, TOK5_no_secret_is_in_store_journal_log_spool_argv_or_environment) {
  GuardedDaemon daemon;
  ASSERT_EQ(daemon.start(), "");
  ApiClient client = daemon.client();
  const std::string session = client.create_session({});
  const std::string token = daemon.make_token(R"({"name":"canary","scopes":["admin"]})");
  const std::string launch = daemon.make_launch_token();
  const std::string ticket = client.post("/api/ticket").at("ticket");
  const PageLogin page = daemon.log_in();
  const std::string cookie = page.cookie.substr(page.cookie.find('=') + 1);
  ASSERT_TRUE(client.prompt({.session = session, .text = "canary-prompt\npermission 1"}).ok());
  std::string wait;
  ASSERT_TRUE(until([&] {
    for (const std::string& record : client.records(session)) {
      if (json_at(record, "kind") == "token.minted") wait = json_at(record, "token_id");
    }
    return !wait.empty();
  }));
  const std::string secret = client.get("/api/waits/" + wait + "/secret").at("secret");
  ASSERT_FALSE(secret.empty());
  // Used correctly, used wrongly, and in places where a log might quote it.
  daemon.with_token(token, {});
  daemon.with_token(token, {.target = "/api/none?x=" + token});
  daemon.with_token(token, {.method = "POST", .target = "/api/sessions", .body = "{" + token});
  daemon.with_token(token, {.host = token + ".example"});
  daemon.tcp({.headers = {{"Authorization", "Basic " + token}}});
  daemon.tcp({.target = "/ws?ticket=" + ticket});
  client.post("/api/waits/" + wait, R"({"secret":")" + secret + R"(x","answer":{}})");
  daemon.tcp({.method = "POST",
              .target = "/api/login",
              .headers = daemon.page_headers({}),
              .body = R"({"token":")" + launch + R"("})"});
  daemon.tcp({.headers = daemon.page_headers(page)});
  const ApiReply answered =
      client.post("/api/waits/" + wait,
                  R"({"secret":")" + secret + R"(","answer":{"option_id":"allow_once"}})");
  ASSERT_EQ(answered.status, 200) << answered.body;
  daemon.process.kill_daemon();
  ASSERT_EQ(daemon.start(), "");
  const std::pair<const char*, std::string> secrets[] = {
      {"token", token},   {"launch token", launch}, {"ticket", ticket},
      {"cookie", cookie}, {"page key", page.key},   {"wait secret", secret}};
  for (const auto& [name, text] : secrets) {
    ASSERT_GT(text.size(), 20u) << name;
    EXPECT_TRUE(files_with(daemon.process.home(), text).empty())
        << name << " in " << files_with(daemon.process.home(), text).front();
    EXPECT_TRUE(files_with(daemon.process.agent_home(), text).empty()) << name;
    EXPECT_EQ(daemon.process.output().find(text), std::string::npos) << name;
    EXPECT_EQ(processes_with(daemon.process, text), "") << name;
  }
  const std::string admin = daemon.process.admin_token();
  EXPECT_EQ(files_with(daemon.process.home(), admin),
            std::vector<std::string>{daemon.process.home() + "/token"});
  EXPECT_EQ(processes_with(daemon.process, admin), "");
  EXPECT_FALSE(files_with(daemon.process.home(), "canary-prompt").empty());
}

TEST(Canary, TOK5_values_of_an_agents_variables_are_in_no_journal_log_or_spool) {
  GuardedDaemon daemon;
  ASSERT_EQ(daemon.start(), "");
  ApiClient client = daemon.client();
  const std::string session =
      client.create_session({.more = R"("env":{"CANARY_KEY":"canary-value-91d3"})"});
  ASSERT_FALSE(session.empty());
  client.prompt({.session = session, .text = "say 1"});
  ASSERT_TRUE(until([&] { return client.count(session, "run.completed") == 1; }));
  for (const std::string& file : files_with(daemon.process.home(), "canary-value-91d3")) {
    EXPECT_TRUE(file.starts_with(daemon.process.home() + "/env/")) << file;
  }
  EXPECT_FALSE(files_with(daemon.process.home(), "canary-value-91d3").empty());
}

}  // namespace
}  // namespace perdure
