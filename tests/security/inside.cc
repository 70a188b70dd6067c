// Runs commands as a session's process, and returns their output.
#include "inside.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "base/json/json.h"

namespace perdure {

void InsideTest::SetUp() {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
}

void InsideTest::start(const std::string& more_config, DaemonSetup setup) {
  setup.config = more_config + "\n[agents.hostile]\ncommand = ['/usr/bin/python3', '" +
                 PERDURE_ATTACKS + "/hostile_agent.py']\n";
  daemon_ = std::make_unique<GuardedDaemon>(std::move(setup));
  ASSERT_EQ(daemon_->start(), "");
}

std::string InsideTest::hostile_session(const std::string& more) {
  return client().create_session({.agent = "hostile", .more = more});
}

std::string InsideTest::run_inside(const std::string& session, const std::string& command) {
  const std::size_t before = client().count(session, "run.completed");
  const ApiReply reply = client().prompt({.session = session, .text = command});
  EXPECT_TRUE(reply.ok()) << reply.body;
  EXPECT_TRUE(until([&] { return client().count(session, "run.completed") > before; }, 60'000));
  std::string last;
  for (const std::string& record : client().records(session)) {
    const std::string kind = json_at(record, "kind");
    if (kind == "run.started") last.clear();
    if (kind == "message.agent") last += json_at(record, "text");
  }
  return last;
}

std::vector<InsideAnswer> InsideTest::ask_inside(const std::string& session,
                                                 const std::vector<InsideRequest>& requests) {
  JsonWriter json;
  json.begin_array();
  for (const InsideRequest& each : requests) {
    json.begin_array().string(each.method).string(each.path).string(each.body).end_array();
  }
  json.end_array();
  const std::string script = folder("attack") + "/requests.sh";
  // Not on the command line: a quote in a body would end it.
  std::ofstream(folder("attack") + "/requests.json") << json.text();
  std::ofstream(script) << "exec /usr/bin/python3 " << PERDURE_ATTACKS << "/requests.py "
                        << daemon_->socket() << " \"$(cat " << folder("attack")
                        << "/requests.json)\"\n";
  const std::string said = run_inside(session, "sh " + script);
  const std::size_t at = said.find("answers=");
  EXPECT_NE(at, std::string::npos) << said;
  if (at == std::string::npos) return std::vector<InsideAnswer>(requests.size());
  const std::string list = "{\"list\":" + said.substr(at + 8, said.find('\n', at) - at - 8) + "}";
  std::vector<InsideAnswer> out;
  for (const std::string& pair : json_list(list, "list")) {
    const std::string wrapped = "{\"pair\":" + pair + "}";
    const std::vector<std::string> parts = json_list(wrapped, "pair");
    out.push_back({std::stoi(parts.at(0)), json_string(parts.at(1)).value_or("")});
  }
  EXPECT_EQ(out.size(), requests.size()) << said;
  out.resize(requests.size());
  return out;
}

InsideAnswer InsideTest::ask_one(const std::string& session, const InsideRequest& request) {
  return ask_inside(session, std::vector<InsideRequest>{request}).front();
}

std::string InsideTest::folder(const std::string& name) const {
  const std::string path = daemon_->process.folder() + "/" + name;
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace perdure
