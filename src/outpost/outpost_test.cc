// An outpost with links, processes and folders that the test holds: which callers are accepted, the
// effects of their calls, and the limits.
#include "outpost/outpost.h"

#include <deque>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/wire/agentctl/bootstrap.h"
#include "testing/memory_host.h"

namespace perdure {
namespace {

struct StepLoop final : Loop {
  void post(Task task) override { tasks.push_back(std::move(task)); }
  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    timers.emplace(++last, std::pair(delay_ms, std::move(task)));
    return last;
  }
  void cancel(TimerId timer) override { timers.erase(timer); }
  void run() {
    while (!tasks.empty()) {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      task();
    }
  }
  void run_timers() {
    for (auto& entry : std::exchange(timers, {})) entry.second.second();
    run();
  }
  std::deque<Task> tasks;
  std::map<TimerId, std::pair<std::int64_t, Task>> timers;
  TimerId last = 0;
};

// The test's view of a link that the outpost holds.
struct Peer {
  LinkEvents* events = nullptr;
  std::string received;
  bool closed = false;
  bool paused = false;
  std::size_t unsent = 0;
};

class TestLink final : public Link {
 public:
  explicit TestLink(std::shared_ptr<Peer> peer) : peer_(std::move(peer)) {}
  ~TestLink() override { peer_->closed = true; }
  void set_events(LinkEvents& events) override { peer_->events = &events; }
  void send(std::string bytes) override { peer_->received += bytes; }
  std::size_t unsent_bytes() const override { return peer_->unsent; }
  void pause() override { peer_->paused = true; }
  void resume() override { peer_->paused = false; }

 private:
  std::shared_ptr<Peer> peer_;
};

struct TestProcesses final : Processes {
  struct Started final : Process {
    explicit Started(TestProcesses& owner) : owner(owner) {}
    std::int64_t pid() const override { return 1; }
    void write(std::string_view bytes) override { owner.input += bytes; }
    std::size_t unwritten_bytes() const override { return 0; }
    void close_input() override {}
    void pause_output() override {}
    void resume_output() override {}
    void signal(int) override {}
    void resize(TerminalSize) override {}
    TestProcesses& owner;
  };
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& told) override {
    specs.push_back(spec);
    events = &told;
    return std::make_unique<Started>(*this);
  }
  std::size_t kill_marked(const std::string& mark) override { return killed.push_back(mark), left; }
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }
  std::vector<SpawnSpec> specs;
  ProcessEvents* events = nullptr;
  std::string input;
  std::vector<std::string> killed;
  std::size_t left = 0;
};

struct TestHost final : MemoryHost {
  ProcessLife life(const ProcessIdentity& process) override { return asked = process, present; }
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override {
    if (!listening.contains(folder + "/" + name)) return MemoryHost::connect(folder, name);
    agentctl = std::make_shared<Peer>();
    return std::make_unique<TestLink>(agentctl);
  }
  std::set<std::string> listening;
  std::shared_ptr<Peer> agentctl;
  ProcessLife present = ProcessLife::alive;
  ProcessIdentity asked;
};

struct TestFiles final : Files {
  bool folder_exists(const std::string& path) override { return path == "/there"; }
};

constexpr const char* exec_text = "exec_01ka3qq5rk0000000000000001";
constexpr const char* session_text = "sess_01ka3qq5rk0000000000000002";

class OutpostTest : public ::testing::Test {
 protected:
  std::shared_ptr<Peer> call_in(const std::string& source = "10.0.0.1") {
    auto peer = std::make_shared<Peer>();
    outpost.on_link(std::make_unique<TestLink>(peer), source);
    return peer;
  }
  std::shared_ptr<Peer> friend_in() {
    auto peer = call_in();
    peer->events->on_bytes(encode_line(OutpostHello{.secret = "secret"}));
    EXPECT_NE(peer->received.find("\"build\":\"test\""), std::string::npos) << peer->received;
    peer->received.clear();
    return peer;
  }
  OutpostReply ask(OutpostCall call) {
    const auto peer = friend_in();
    peer->events->on_bytes(encode_line(call));
    loop.run();
    return decode_outpost_reply(peer->received).value_or(OutpostReply{});
  }
  OutpostCall about(OutpostVerb verb) const {
    return {.id = 3, .verb = verb, .exec = *ExecId::parse(exec_text), .owner = "o.1"};
  }

  StepLoop loop;
  TestProcesses processes;
  TestHost host;
  TestFiles files;
  Outpost outpost{{loop, processes, host, files, {}},
                  {.folder = "/post",
                   .hide = {.folder = "/post", .identity = "p.1", .also = {}, .also_identity = {}},
                   .secret = sha256("secret"),
                   .agentctl_command = {"/bin/agentctl"},
                   .environment = {{"PATH", "/there/bin"}, {"LANG", "C"}},
                   .build = "test",
                   .host_boot = "boot"}};
};

TEST_F(OutpostTest, L18_nobody_is_heard_before_the_secret_and_a_wrong_one_is_the_end) {
  const auto peer = call_in();
  peer->events->on_bytes(
      encode_line(OutpostHello{.secret = "guess"}) +
      encode_line(OutpostCall{.id = 1, .verb = OutpostVerb::kill, .mark = "PERDURE_EXEC_MARK=x"}));
  EXPECT_NE(peer->received.find("unauthenticated"), std::string::npos) << peer->received;
  EXPECT_TRUE(processes.killed.empty());
  loop.run_timers();
  EXPECT_TRUE(peer->closed);
  EXPECT_EQ(outpost.connections(), 0u);
}

TEST_F(OutpostTest, L18_strangers_are_few_short_and_soon_gone) {
  const auto talker = call_in();
  talker->events->on_bytes(std::string(outpost_hello_bytes_max + 1, 'x'));
  loop.run();
  EXPECT_TRUE(talker->closed);
  std::vector<std::shared_ptr<Peer>> silent;
  const auto source_of_ith = [](std::size_t i) { return "10.0.1." + std::to_string(i); };
  for (std::size_t i = 0; i < outpost_strangers_max; ++i) {
    silent.push_back(call_in(source_of_ith(i)));
  }
  EXPECT_FALSE(silent.front()->closed);
  EXPECT_FALSE(call_in("10.0.2.1")->closed) << "the newcomer is not the one that goes";
  EXPECT_TRUE(silent[0]->closed) << "the oldest goes";
  EXPECT_FALSE(silent[1]->closed);
  EXPECT_EQ(outpost.connections(), outpost_strangers_max);
  loop.run_timers();  // the time for the first line
  EXPECT_TRUE(silent.back()->closed);
  EXPECT_EQ(outpost.connections(), 0u);
  EXPECT_FALSE(call_in()->closed);
}

TEST_F(OutpostTest, L18_a_flood_of_strangers_leaves_room_for_the_daemon) {
  const auto other = call_in("10.0.0.9");
  const auto known = friend_in();
  std::vector<std::shared_ptr<Peer>> flood;
  for (std::size_t i = 0; i < 3 * outpost_strangers_max; ++i) {
    flood.push_back(call_in("10.0.0.66"));
    loop.run();
  }
  EXPECT_FALSE(other->closed) << "a flood from one address drives out nobody of another";
  EXPECT_FALSE(known->closed) << "who has shown the secret is no stranger";
  EXPECT_EQ(std::ranges::count_if(flood, [](const auto& peer) { return !peer->closed; }),
            static_cast<std::ptrdiff_t>(outpost_strangers_per_source_max));
  // A stranger that is already closing when it is disconnected must not affect others.
  flood[flood.size() - outpost_strangers_per_source_max]->events->on_closed();
  const auto newcomer = call_in("10.0.0.66");
  loop.run();
  EXPECT_FALSE(newcomer->closed);
  newcomer->events->on_bytes(encode_line(OutpostHello{.secret = "secret"}));
  EXPECT_NE(newcomer->received.find("\"build\":\"test\""), std::string::npos);
}

TEST_F(OutpostTest, L5_a_start_has_the_folders_and_the_environment_of_this_host) {
  Bootstrap bootstrap{
      .session = *SessionId::parse(session_text),
      .exec = *ExecId::parse(exec_text),
      .gen = 1,
      .secret = "s",
      .owner = "o.1",
      .run_folder = "/daemon/run",
      .spool_folder = "/daemon/spool",
      .cwd = "/there",
      .hide = {.folder = "/daemon", .identity = "d.1", .also = {}, .also_identity = {}}};
  bootstrap.agent.environment = {{"LANG", "de"}};
  const auto peer = friend_in();
  peer->events->on_bytes(encode_line(OutpostCall{
      .id = 9, .verb = OutpostVerb::start, .bootstrap = {encode_bootstrap(bootstrap)}}));
  ASSERT_EQ(processes.specs.size(), 1u);
  EXPECT_EQ(processes.specs[0].command, (std::vector<std::string>{"/bin/agentctl", "start"}));
  const Result<Bootstrap> given = decode_bootstrap(processes.input);
  ASSERT_TRUE(given) << given.error().message();
  EXPECT_EQ(given->run_folder, "/post/run/agentctl/o.1");
  EXPECT_EQ(given->spool_folder, std::string("/post/spool/o.1/") + exec_text);
  EXPECT_EQ(given->hide.folder, "/post");
  EXPECT_EQ(given->hide.identity, "p.1");
  EXPECT_EQ(given->agent.environment.at("PATH"), "/there/bin");
  EXPECT_EQ(given->agent.environment.at("LANG"), "de");
  processes.events->on_output(
      encode_bootstrap_answer({.instance = "i", .pid = 42, .pid_started = 7, .host_boot = "b"}));
  processes.events->on_exit({.code = 0});
  loop.run();
  const Result<OutpostReply> reply = decode_outpost_reply(peer->received);
  ASSERT_TRUE(reply) << peer->received;
  EXPECT_EQ(reply->id, 9u);
  EXPECT_EQ(decode_bootstrap_answer(reply->result.text)->pid, 42);
  // A file records the process, so a later outpost knows it, too.
  EXPECT_EQ(decode_life(ask(about(OutpostVerb::life)).result.text)->life, "alive");
  EXPECT_EQ(host.asked, (ProcessIdentity{42, 7, "b"}));
  host.present = ProcessLife::dead;
  EXPECT_EQ(decode_life(ask(about(OutpostVerb::life)).result.text)->life, "dead");
  host.present = ProcessLife::unknown;
  EXPECT_EQ(decode_life(ask(about(OutpostVerb::life)).result.text)->life, "unknown");
}

TEST_F(OutpostTest, L5_only_marks_of_executions_and_sessions_are_killed) {
  OutpostCall call = about(OutpostVerb::kill);
  call.mark = "HOME=/root";
  EXPECT_EQ(ask(call).code, "invalid_argument");
  EXPECT_TRUE(processes.killed.empty());
  call.mark = "PERDURE_EXEC_MARK=x@o";
  processes.left = 2;
  EXPECT_EQ(decode_left(ask(call).result.text)->left, 2u);
}

TEST_F(OutpostTest, K33_the_spool_of_the_dead_is_given_out_in_pieces) {
  const std::string spool = std::string("/post/spool/o.1/") + exec_text;
  ASSERT_TRUE((*host.make_folder(spool))->append("a", "0123456789"));
  const Result<OutpostFiles> listed = decode_files(ask(about(OutpostVerb::list)).result.text);
  ASSERT_EQ(listed->files.size(), 1u);
  EXPECT_EQ(listed->files[0].bytes, 10u);
  OutpostCall call = about(OutpostVerb::read);
  call.name = "a";
  call.offset = 8;
  EXPECT_EQ(decode_piece(ask(call).result.text)->base64, "ODk=");
  call.owner = "../o.1";
  EXPECT_EQ(ask(call).code, "invalid_argument");
  EXPECT_EQ(ask(about(OutpostVerb::remove)).code, "");
  EXPECT_FALSE(host.folders.contains(spool));
}

TEST_F(OutpostTest, L5_a_tunnel_passes_bytes_both_ways_and_stops_the_faster_side) {
  OutpostHello hello{.secret = "secret", .exec = *ExecId::parse(exec_text), .owner = "o.1"};
  const auto nobody = call_in();
  nobody->events->on_bytes(encode_line(hello));
  EXPECT_NE(nobody->received.find("not_found"), std::string::npos) << nobody->received;
  host.listening.insert(std::string("/post/run/agentctl/o.1/") + exec_text + ".sock");
  const auto peer = call_in();
  peer->events->on_bytes(encode_line(hello) + "first");
  EXPECT_EQ(host.agentctl->received, "first");
  peer->received.clear();
  host.agentctl->events->on_bytes("back");
  EXPECT_EQ(peer->received, "back");
  host.agentctl->unsent = outpost_unsent_bytes_max + 1;
  peer->events->on_bytes("more");
  EXPECT_TRUE(peer->paused);
  host.agentctl->events->on_drained();
  EXPECT_FALSE(peer->paused);
  peer->events->on_closed();
  const auto agentctl = host.agentctl;
  loop.run();
  EXPECT_TRUE(agentctl->closed);
}

TEST_F(OutpostTest, L5_a_workspace_is_a_folder_that_is_there_or_one_of_its_own) {
  OutpostCall call{.id = 1,
                   .verb = OutpostVerb::workspace,
                   .session = *SessionId::parse(session_text),
                   .cwd = "/there"};
  EXPECT_EQ(decode_workspace(ask(call).result.text)->cwd, "/there");
  call.cwd = "/gone";
  EXPECT_EQ(ask(call).code, "workspace_missing");
  call.cwd = "";
  EXPECT_EQ(decode_workspace(ask(call).result.text)->cwd,
            std::string("/post/workspaces/session_") + session_text);
}

}  // namespace
}  // namespace perdure
