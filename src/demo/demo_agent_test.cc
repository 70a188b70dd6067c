// The demo agent's conversations on its pure core with a simulated workspace; then once with the
// real world, in a real folder. Its stream must be complete, in order, and end exactly once.
#include "demo/demo_agent.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/limits.h"
#include "core/acp/client/client.h"
#include "demo/demo_world.h"

namespace perdure::demo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PretendedWorld : public DemoWorld {
 public:
  std::optional<std::string> load_session(const std::string& id) override {
    const auto at = sessions.find(id);
    return at == sessions.end() ? std::nullopt : std::optional(at->second);
  }
  void store_session(const std::string& id, const std::string& text) override {
    sessions[id] = text;
  }
  std::vector<std::string> list_sessions() override {
    std::vector<std::string> ids;
    for (const auto& [id, text] : sessions) ids.push_back(id);
    return ids;
  }
  std::optional<std::string> read_file(const std::string& path) override {
    const auto at = files.find(path);
    return at == files.end() ? std::nullopt : std::optional(at->second);
  }
  Result<> write_file(const std::string& path, std::string_view text) override {
    files[path] = text;
    return {};
  }
  void start_command(const CommandRun& run) override { commands.push_back(run); }
  void kill_command(std::int64_t number) override { killed.push_back(number); }

  std::map<std::string, std::string> sessions;
  std::map<std::string, std::string> files;
  std::vector<CommandRun> commands;
  std::vector<std::int64_t> killed;
};

// One run of the agent through acp::Client, which rejects anything that is not ACP.
class Talk {
 public:
  explicit Talk(PretendedWorld& world, std::uint64_t seed = 1)
      : world_(world), agent_(world, seed), client_({}) {
    call([&](std::string& out) { client_.initialize(out); });
  }

  void open() {
    call([&](std::string& out) { client_.open_new(out, {.cwd = "/place"}); });
    const auto* opened = last<acp::SessionOpened>();
    ASSERT_NE(opened, nullptr);
    session = opened->session_id;
  }
  void load(const std::string& id) {
    session = id;
    call([&](std::string& out) { client_.load(out, id, {.cwd = "/place"}); });
  }
  void resume(const std::string& id) {
    session = id;
    call([&](std::string& out) { client_.resume(out, id, {.cwd = "/place"}); });
  }
  void prompt(const std::string& text) {
    JsonWriter blocks;
    blocks.begin_array().begin_object().key("type").string("text").key("text").string(text);
    blocks.end_object().end_array();
    call([&](std::string& out) { client_.prompt(out, session, blocks.text()); });
  }
  void cancel() {
    call([&](std::string& out) { client_.cancel(out, session); });
  }
  void set(const std::string& id, const std::string& value) {
    call([&](std::string& out) {
      client_.call(out, "session/set_config_option",
                   R"({"sessionId":")" + session + R"(","configId":")" + id + R"(","value":")" +
                       value + R"("})");
    });
  }
  void answer(const std::string& option) {
    const auto* asked = last<acp::PermissionAsked>();
    ASSERT_NE(asked, nullptr);
    const acp::RpcId id = asked->id;
    call([&](std::string& out) { client_.answer_permission(out, id, option); });
  }

  // Advances time until the agent waits for input or the time is over. Commands end at once.
  void run_ms(std::int64_t ms) {
    const std::int64_t end = now_ms_ + ms;
    while (true) {
      for (const CommandRun& run : std::exchange(world_.commands, {})) {
        if (leaves_commands) continue;
        agent_.command_output(run.number, "printed\n");
        agent_.command_ended(run.number, command_code);
      }
      const auto wake = agent_.wake_at_ms();
      if (!wake || *wake > end) break;
      now_ms_ = std::max(now_ms_, *wake);
      agent_.tick(now_ms_);
      collect();
    }
    now_ms_ = end;
  }

  template <class T>
  const T* last() const {
    for (auto at = events.rbegin(); at != events.rend(); ++at) {
      if (const T* found = std::get_if<T>(&*at)) return found;
    }
    return nullptr;
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [](const acp::Event& event) { return std::holds_alternative<T>(event); }));
  }
  std::string stop_reason() const {
    const auto* ended = last<acp::TurnEnded>();
    return ended ? ended->stop_reason : "";
  }
  // The bodies of updates of this kind.
  std::vector<std::string> updates(std::string_view kind) const {
    std::vector<std::string> found;
    for (const std::string& line : lines) {
      const LooseObject message(line);
      const LooseObject params{std::string(message.raw("params"))};
      const LooseObject update{std::string(params.raw("update"))};
      if (update.text("sessionUpdate") == kind) found.emplace_back(params.raw("update"));
    }
    return found;
  }
  std::string text(std::string_view kind = "agent_message_chunk") const {
    std::string joined;
    for (const std::string& one : updates(kind)) {
      const LooseObject update(one);
      const LooseObject content{std::string(update.raw("content"))};
      joined += content.text("text");
    }
    return joined;
  }
  DemoAgent& agent() { return agent_; }

  std::string session;
  std::vector<acp::Event> events;
  std::vector<std::string> lines;
  int command_code = 0;
  bool leaves_commands = false;

 private:
  void call(const auto& write) {
    std::string out;
    write(out);
    agent_.feed(out);
    collect();
  }
  void collect() {
    const std::string bytes = agent_.take_output();
    client_.feed(bytes, events);
    splitter_.feed(bytes);
    while (auto line = splitter_.next()) lines.push_back(std::move(*line));
  }

  PretendedWorld& world_;
  DemoAgent agent_;
  acp::Client client_;
  LineSplitter splitter_;
  std::int64_t now_ms_ = 0;
};

constexpr std::int64_t minutes_ms = 300'000;

TEST(DemoAgent, speaks_acp_that_our_client_understands) {
  PretendedWorld world;
  Talk talk(world);
  const auto* initialized = talk.last<acp::Initialized>();
  ASSERT_NE(initialized, nullptr);
  EXPECT_TRUE(initialized->abilities.load);
  EXPECT_TRUE(initialized->abilities.resume);
  talk.open();
  talk.set("mode", "auto");
  for (const char* prompt : {"/tour", "/help", "/plan a move", "/fail", "find the bug", "hello",
                             "explain", "write a haiku", "what do you remember?", "qwertz"}) {
    const std::size_t ended = talk.count<acp::TurnEnded>();
    talk.prompt(prompt);
    talk.run_ms(minutes_ms);
    EXPECT_EQ(talk.count<acp::TurnEnded>(), ended + 1) << prompt;
    EXPECT_EQ(talk.stop_reason(), "end_turn") << prompt;
  }
  EXPECT_EQ(talk.count<acp::Noise>(), 0U);
  EXPECT_EQ(talk.count<acp::CallFailed>(), 0U);
}

TEST(DemoAgent, streams_at_a_human_pace) {
  for (const bool brisk : {false, true}) {
    PretendedWorld world;
    Talk talk(world);
    talk.open();
    if (brisk) talk.set("model", "brisk");
    talk.prompt("explain");
    talk.run_ms(1000);
    const std::size_t chunks =
        talk.updates("agent_message_chunk").size() + talk.updates("agent_thought_chunk").size();
    EXPECT_EQ(talk.count<acp::TurnEnded>(), 0U);
    EXPECT_GE(chunks, brisk ? 60U : 30U);
    EXPECT_LE(chunks, brisk ? 100U : 60U);
  }
}

TEST(DemoAgent, asks_before_it_writes_and_shows_a_diff) {
  PretendedWorld world;
  Talk talk(world);
  talk.open();
  talk.prompt("write a haiku");
  talk.run_ms(minutes_ms);
  ASSERT_EQ(talk.count<acp::PermissionAsked>(), 1U);
  EXPECT_TRUE(world.files.empty());
  EXPECT_EQ(talk.count<acp::TurnEnded>(), 0U);
  EXPECT_THAT(talk.updates("tool_call").back(), HasSubstr("\"newText\":\"# Haiku"));
  talk.answer("allow_once");
  talk.run_ms(minutes_ms);
  EXPECT_EQ(talk.stop_reason(), "end_turn");
  EXPECT_TRUE(world.files.contains("/place/perdure-demo/haiku.md"));
}

TEST(DemoAgent, a_refusal_writes_nothing_and_always_asks_once) {
  PretendedWorld world;
  Talk talk(world);
  talk.open();
  talk.prompt("find the bug");
  talk.run_ms(minutes_ms);
  talk.answer("reject_once");
  talk.run_ms(minutes_ms);
  EXPECT_TRUE(world.files.empty());
  EXPECT_EQ(talk.stop_reason(), "end_turn");
  EXPECT_THAT(talk.text(), Not(HasSubstr("As expected")));
  talk.command_code = 1;
  talk.prompt("find the bug");
  talk.run_ms(minutes_ms);
  talk.answer("allow_always");
  talk.run_ms(minutes_ms);
  EXPECT_EQ(talk.count<acp::PermissionAsked>(), 2U);
  EXPECT_THAT(talk.text(), HasSubstr("As expected"));
  EXPECT_THAT(world.files["/place/perdure-demo/counter.sh"], HasSubstr("-le"));
}

TEST(DemoAgent, files_of_others_are_left_alone) {
  PretendedWorld world;
  world.files["/place/perdure-demo/haiku.md"] = "mine";
  Talk talk(world);
  talk.open();
  talk.set("mode", "auto");
  talk.prompt("write a haiku");
  talk.run_ms(minutes_ms);
  EXPECT_EQ(world.files["/place/perdure-demo/haiku.md"], "mine");
  EXPECT_THAT(talk.updates("tool_call_update").back(), HasSubstr("in the way"));
}

TEST(DemoAgent, plan_mode_touches_nothing) {
  PretendedWorld world;
  Talk talk(world);
  talk.open();
  talk.set("mode", "plan");
  talk.prompt("/tour");
  talk.run_ms(minutes_ms);
  EXPECT_EQ(talk.stop_reason(), "end_turn");
  EXPECT_TRUE(world.files.empty());
  EXPECT_TRUE(talk.updates("tool_call").empty());
  EXPECT_THAT(talk.text(), HasSubstr("I would write `perdure-demo/note.md`"));
}

TEST(DemoAgent, N9_cancel_works_at_any_moment) {
  for (std::int64_t moment = 0; moment < 30'000; moment += 450) {
    PretendedWorld world;
    Talk talk(world);
    talk.leaves_commands = true;
    talk.open();
    talk.set("mode", moment % 900 == 0 ? "auto" : "ask");
    talk.prompt("/tour");
    talk.run_ms(moment);
    talk.cancel();
    ASSERT_EQ(talk.stop_reason(), "cancelled") << moment;
    ASSERT_EQ(talk.count<acp::TurnEnded>(), 1U);
    const std::size_t lines = talk.lines.size();
    talk.run_ms(minutes_ms);
    ASSERT_EQ(talk.lines.size(), lines) << "it went on after the cancel at " << moment;
    talk.prompt("hello");
    talk.run_ms(minutes_ms);
    ASSERT_EQ(talk.stop_reason(), "end_turn");
  }
}

TEST(DemoAgent, commands_stream_their_output_and_are_killed_at_their_limit) {
  PretendedWorld world;
  Talk talk(world);
  talk.leaves_commands = true;
  talk.open();
  talk.prompt("/fail");
  talk.run_ms(5000);
  const std::int64_t number = 1;
  talk.agent().command_output(number, "half");
  talk.run_ms(1000);
  EXPECT_THAT(talk.updates("tool_call_update").back(), HasSubstr("half"));
  talk.agent().command_output(number, std::string(100'000, 'x'));
  talk.run_ms(demo_command_ms);
  EXPECT_EQ(world.killed, std::vector<std::int64_t>{number});
  talk.agent().command_ended(number, 137);
  talk.run_ms(minutes_ms);
  const std::string last = talk.updates("tool_call_update").back();
  EXPECT_THAT(last, HasSubstr("\"exitCode\":137"));
  EXPECT_LT(last.size(), demo_command_output_bytes + 500);
  EXPECT_EQ(talk.stop_reason(), "end_turn");
}

TEST(DemoAgent, load_replays_the_conversation_and_resume_remembers_it) {
  PretendedWorld world;
  std::string id;
  std::string said;
  {
    Talk talk(world);
    talk.open();
    talk.set("mode", "auto");
    talk.prompt("write a haiku");
    talk.run_ms(minutes_ms);
    id = talk.session;
    said = talk.text();
  }
  {
    Talk talk(world, 2);
    talk.load(id);
    EXPECT_EQ(talk.text("user_message_chunk"), "write a haiku");
    EXPECT_EQ(talk.text(), said);
    EXPECT_EQ(talk.updates("tool_call").size(), 2U);
  }
  Talk talk(world, 3);
  talk.resume(id);
  EXPECT_EQ(talk.text(), "");
  EXPECT_THAT(talk.updates("session_info_update").back(), HasSubstr("write a haiku"));
  const auto* opened = talk.last<acp::SessionOpened>();
  ASSERT_NE(opened, nullptr);
  EXPECT_THAT(opened->result.text, HasSubstr(R"("currentValue":"auto")"));
  talk.prompt("what do you remember?");
  talk.run_ms(minutes_ms);
  EXPECT_THAT(talk.text(), HasSubstr("1. write a haiku"));
}

TEST(DemoAgent, a_killed_turn_is_remembered_up_to_its_last_beat) {
  PretendedWorld world;
  std::string id;
  {
    Talk talk(world);
    talk.open();
    talk.prompt("/long");
    talk.run_ms(20'000);
    id = talk.session;
  }
  Talk talk(world, 2);
  talk.load(id);
  EXPECT_THAT(talk.text(), HasSubstr("5. a slow reader"));
}

TEST(DemoAgent, unknown_sessions_and_methods_are_errors) {
  PretendedWorld world;
  Talk talk(world);
  talk.load("demo-nothing");
  const auto* failed = talk.last<acp::CallFailed>();
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->error.code, -32002);
  talk.agent().feed("no json\n");
  EXPECT_THAT(talk.agent().take_output(), HasSubstr("-32700"));
}

TEST(DemoAgent, usage_and_title_are_reported) {
  PretendedWorld world;
  Talk talk(world);
  talk.open();
  talk.prompt("hello there, this is a prompt of more than forty-eight characters");
  talk.run_ms(minutes_ms);
  EXPECT_EQ(talk.updates("usage_update").size(), 1U);
  EXPECT_THAT(talk.updates("session_info_update").at(0),
              HasSubstr("hello there, this is a prompt of more than forty…"));
}

TEST(DemoWorldOnDisk, files_sessions_and_commands_are_real) {
  std::string folder = (std::filesystem::temp_directory_path() / "demo-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    RealWorld world(folder + "/home");
    world.store_session("demo-1", "{}");
    EXPECT_EQ(world.load_session("demo-1"), "{}");
    EXPECT_EQ(world.load_session("../demo-1"), std::nullopt);
    EXPECT_EQ(world.list_sessions(), std::vector<std::string>{"demo-1"});
    ASSERT_TRUE(world.write_file(folder + "/below/file.txt", "text"));
    EXPECT_EQ(world.read_file(folder + "/below/file.txt"), "text");
    ASSERT_TRUE(world.write_file(folder + "/below/file.txt", "\xff"));
    EXPECT_EQ(world.read_file(folder + "/below/file.txt"), std::nullopt);
    EXPECT_FALSE(world.write_file(folder + "/below/file.txt", "text"));
    EXPECT_FALSE(world.write_file("/proc/no/such/place", "text"));
  }
  std::filesystem::remove_all(folder);
}

// The bug is real: the test fails before the fix and passes after it.
TEST(DemoWorldOnDisk, the_bug_is_found_and_fixed_for_real) {
  std::string folder = (std::filesystem::temp_directory_path() / "demo-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string out;
  {
    RealWorld world(folder + "/home");
    DemoAgent agent(world, 1);
    agent.feed(R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":")" + folder +
               "\"}}\n");
    out = agent.take_output();
    const std::string id = out.substr(out.find("demo-"), 21);
    agent.feed(R"({"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":")" +
               id + R"(","modeId":"auto"}})" + "\n");
    agent.feed(R"({"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":")" + id +
               R"(","prompt":[{"type":"text","text":"find the bug"}]}})" + "\n");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::int64_t now_ms = 0;
    while (out.find("stopReason") == std::string::npos && std::chrono::steady_clock::now() < end) {
      // The agent's clock runs fast, except while commands run in real time.
      const bool is_running = !world.descriptors().empty() || world.has_ends_to_tell();
      agent.tick(is_running ? now_ms : now_ms += 25);
      if (is_running) poll(nullptr, 0, 1);
      world.report(agent);
      out += agent.take_output();
    }
  }
  EXPECT_THAT(out, HasSubstr("end_turn"));
  const std::size_t failed = out.find("FAILED");
  const std::size_t passed = out.find("got:  1 2 3\\nok");
  EXPECT_NE(failed, std::string::npos);
  EXPECT_NE(passed, std::string::npos);
  EXPECT_LT(failed, passed);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perdure::demo
