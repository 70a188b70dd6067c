// The state that a container's place reports, with an engine that answers when the test lets it.
#include "daemon/hosting/container/container_place.h"

#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "base/json/json_view.h"
#include "daemon/hosting/container/container_launch.h"
#include "daemon/hosting/step_world_for_test.h"
#include "testing/memory_host.h"

namespace perdure {
namespace {

struct NoProcesses final : Processes {
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec&, ProcessEvents&) override {
    return fail(Code::internal, "not on the host");
  }
  std::size_t kill_marked(const std::string&) override { return ++kills, left; }
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }
  std::size_t left = 0;
  int kills = 0;
};

struct FakeEngine final : ContainerEngine {
  void describe(OnEngine<EngineAbilities> done) override { describes.push_back(std::move(done)); }
  void find_image(const std::string&, OnEngine<>) override {}
  void create(const ContainerOrder& order, OnEngine<std::string> done) override {
    ordered.push_back(order);
    creates.push_back(std::move(done));
  }
  void start(const std::string&, OnEngine<> done) override { starts.push_back(std::move(done)); }
  void look(const std::string&, OnEngine<ContainerSight> done) override {
    looks.push_back(std::move(done));
  }
  void remove(const std::string& name, OnEngine<> done) override {
    removed.push_back(name);
    removes.push_back(std::move(done));
  }
  void list(const std::string& label, OnEngine<std::vector<ListedContainer>> done) override {
    labels.push_back(label);
    lists.push_back(std::move(done));
  }
  // Answers the oldest request of a kind.
  template <class T>
  static void answer(std::deque<OnEngine<T>>& asked, Result<T> with) {
    ASSERT_FALSE(asked.empty());
    OnEngine<T> done = std::move(asked.front());
    asked.pop_front();
    done(std::move(with));
  }
  std::deque<OnEngine<EngineAbilities>> describes;
  std::deque<OnEngine<std::string>> creates;
  std::deque<OnEngine<>> starts;
  std::deque<OnEngine<ContainerSight>> looks;
  std::deque<OnEngine<>> removes;
  std::deque<OnEngine<std::vector<ListedContainer>>> lists;
  std::vector<ContainerOrder> ordered;
  std::vector<std::string> removed;
  std::vector<std::string> labels;
};

struct Heard final : ProcessEvents {
  void on_output(std::string_view bytes) override { output += bytes; }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit&) override { has_exited = true; }
  std::string output;
  bool has_exited = false;
};

class Place : public ::testing::Test {
 protected:
  static Bootstrap a_bootstrap() {
    return {.session = *SessionId::parse("sess_01ka3qq5rk0000000000000001"),
            .exec = *ExecId::parse("exec_01ka3qq5rk0000000000000002"),
            .gen = 1,
            .secret = "s",
            .owner = "fd.2",
            .run_folder = "/data/run/containers/s",
            .spool_folder = "/data/spool/e",
            .cwd = "/work"};
  }
  std::unique_ptr<Process> launch() {
    auto process = *place.spawn({}, heard);
    process->close_input();
    return process;
  }
  std::string mark() const { return exec_mark({bootstrap.exec, bootstrap.owner}); }
  void pass(std::int64_t ms) { clock.at.since_boot.ms += ms; }
  static std::unexpected<Error> down() { return fail(Code::engine_unavailable, "it is down"); }

  StillClock clock;
  StepLoop loop;
  NoProcesses processes;
  MemoryHost host;
  FakeEngine engine;
  Bootstrap bootstrap = a_bootstrap();
  ContainerPlace place{{clock, loop, processes, host, engine},
                       {.image = "x", .agentctl = "/bin/agentctl", .user = "7:7", .limits = {}},
                       a_bootstrap()};
  Heard heard;
};

TEST_F(Place, L16_a_start_makes_a_container_and_gives_the_answer_of_its_agentctl) {
  const auto process = launch();
  EXPECT_TRUE(host.folders.empty());  // nothing is created while the engine may be down
  FakeEngine::answer<EngineAbilities>(engine.describes, EngineAbilities{});
  ASSERT_EQ(engine.ordered.size(), 1u);
  EXPECT_EQ(engine.ordered[0].name, "perdure-" + bootstrap.exec.text() + "-fd.2");
  EXPECT_EQ(engine.ordered[0].user, "7:7");
  EXPECT_EQ(engine.ordered[0].labels.at("perdure.session"), bootstrap.session.text());
  FakeEngine::answer<std::string>(engine.creates, "c1");
  const std::string file = bootstrap.exec.text() + ".json";
  const auto run = *host.open_folder(bootstrap.run_folder);
  const auto inside = decode_bootstrap(*run->read(file, 0, 1 << 20));
  ASSERT_TRUE(inside) << inside.error().message();
  EXPECT_EQ(inside->run_folder, "/perdure/run");
  EXPECT_EQ(inside->container_id, "c1");
  EXPECT_EQ(inside->url, "unix:/data/run/containers/s/" + bootstrap.exec.text() + ".sock");
  FakeEngine::answer<void>(engine.starts, {});
  EXPECT_FALSE(heard.has_exited);
  ASSERT_TRUE(run->append(file + ".answer", R"({"v":1,"instance":"i","pid":1})"));
  loop.run_timers();
  EXPECT_TRUE(heard.has_exited);
  EXPECT_EQ(heard.output, R"({"v":1,"instance":"i","pid":1})");
  EXPECT_FALSE(place.cause());
}

TEST_F(Place, L16_an_engine_that_is_down_refuses_the_start_and_is_not_needed_to_know_that) {
  const auto process = launch();
  FakeEngine::answer<EngineAbilities>(engine.describes, down());
  EXPECT_TRUE(heard.has_exited);
  ASSERT_TRUE(place.cause());
  EXPECT_EQ(place.cause()->code(), Code::engine_unavailable);
  EXPECT_EQ(place.kill_marked(mark()), 0u);
  EXPECT_TRUE(engine.removes.empty());
}

TEST_F(Place, C19_L16_a_container_that_may_be_there_is_gone_only_when_its_engine_says_so) {
  const auto process = launch();
  FakeEngine::answer<EngineAbilities>(engine.describes, EngineAbilities{});
  FakeEngine::answer<std::string>(engine.creates, down());  // whether it was created is unknown
  EXPECT_TRUE(heard.has_exited);
  EXPECT_EQ(place.kill_marked(mark()), 1u);
  EXPECT_EQ(place.kill_marked(mark()), 1u);
  ASSERT_EQ(engine.removes.size(), 1u);  // one request at a time
  FakeEngine::answer<void>(engine.removes, down());
  EXPECT_EQ(place.doubt(), "it is down");
  EXPECT_EQ(place.kill_marked(mark()), 1u);
  EXPECT_TRUE(engine.removes.empty());  // no immediate repetition
  pass(5'000);
  EXPECT_EQ(place.kill_marked(mark()), 1u);
  FakeEngine::answer<void>(engine.removes, {});
  processes.left = 2;  // remains that the host sees
  EXPECT_EQ(place.kill_marked(mark()), 2u);
  processes.left = 0;
  EXPECT_EQ(place.kill_marked(mark()), 0u);
}

TEST_F(Place, C19_L16_life_is_unknown_until_the_engine_tells_and_again_when_it_stops_to) {
  const ProcessIdentity anybody{.pid = 1};
  EXPECT_EQ(place.life(anybody), ProcessLife::unknown);
  EXPECT_EQ(place.life(anybody), ProcessLife::unknown);
  ASSERT_EQ(engine.looks.size(), 1u);
  FakeEngine::answer<ContainerSight>(engine.looks, ContainerSight{.life = ContainerLife::running});
  EXPECT_EQ(place.life(anybody), ProcessLife::alive);
  pass(10'000);
  EXPECT_EQ(place.life(anybody), ProcessLife::unknown);
  FakeEngine::answer<ContainerSight>(engine.looks, down());
  EXPECT_EQ(place.life(anybody), ProcessLife::unknown);
  EXPECT_EQ(place.doubt(), "it is down");
  pass(10'000);
  (void)place.life(anybody);
  FakeEngine::answer<ContainerSight>(engine.looks, ContainerSight{.life = ContainerLife::paused});
  EXPECT_EQ(place.life(anybody), ProcessLife::unknown);
  EXPECT_NE(place.doubt().find("paused"), std::string::npos);
  pass(10'000);
  (void)place.life(anybody);
  FakeEngine::answer<ContainerSight>(engine.looks, fail(Code::not_found, "none"));
  EXPECT_EQ(place.life(anybody), ProcessLife::dead);
  EXPECT_EQ(place.cause()->code(), Code::container_missing);
}

TEST_F(Place, L16_ends_have_their_causes) {
  struct Case {
    ContainerSight sight;
    std::optional<Code> code;
  };
  const ContainerSight ended{.life = ContainerLife::ended};
  ContainerSight killed = ended;
  killed.exit_code = 137;
  ContainerSight starved = killed;
  starved.out_of_memory = true;
  for (const Case& each : {Case{ended, {}}, Case{killed, Code::container_failed},
                           Case{starved, Code::limit_reached}}) {
    ContainerPlace one{{clock, loop, processes, host, engine}, {}, a_bootstrap()};
    (void)one.life({});
    FakeEngine::answer<ContainerSight>(engine.looks, each.sight);
    EXPECT_EQ(one.life({}), ProcessLife::dead);
    EXPECT_EQ(one.cause().has_value(), each.code.has_value());
    if (each.code) EXPECT_EQ(one.cause()->code(), *each.code);
  }
}

TEST_F(Place, L16_limits_that_the_engine_cannot_keep_are_refused_before_anything_is_made) {
  ContainerPlace limited{{clock, loop, processes, host, engine},
                         {.image = "x", .limits = {.memory_bytes = 1, .processes = 1}},
                         a_bootstrap()};
  const auto process = *limited.spawn({}, heard);
  process->close_input();
  FakeEngine::answer<EngineAbilities>(engine.describes, EngineAbilities{.limits_processes = true});
  EXPECT_TRUE(engine.ordered.empty());
  ASSERT_TRUE(limited.cause());
  EXPECT_EQ(limited.cause()->code(), Code::limits_unsupported);
  EXPECT_NE(limited.cause()->message().find("memory_bytes"), std::string::npos);
  EXPECT_TRUE(host.folders.empty());
}

TEST_F(Place, K33_a_start_that_an_earlier_daemon_began_is_taken_up) {
  const auto process = launch();
  FakeEngine::answer<EngineAbilities>(engine.describes, EngineAbilities{});
  FakeEngine::answer<std::string>(engine.creates, fail(Code::conflict, "there is one"));
  FakeEngine::answer<ContainerSight>(engine.looks,
                                     ContainerSight{.id = "c7", .life = ContainerLife::created});
  ASSERT_EQ(engine.starts.size(), 1u);
  const auto run = *host.open_folder(bootstrap.run_folder);
  EXPECT_TRUE(run->size(bootstrap.exec.text() + ".json"));
}

TEST_F(Place, PROC3_of_a_sessions_containers_only_those_of_this_data_folder_are_removed) {
  EXPECT_EQ(place.kill_marked(session_mark(bootstrap)), 1u);
  const auto listed = [](const char* id, const char* owner) {
    return ListedContainer{id, "running", {{container_label_owner, owner}}};
  };
  FakeEngine::answer<std::vector<ListedContainer>>(
      engine.lists, std::vector{listed("theirs", "fd.9"), listed("ours", "fd.2")});
  EXPECT_EQ(engine.removed, std::vector<std::string>{"ours"});
  FakeEngine::answer<void>(engine.removes, {});
  FakeEngine::answer<std::vector<ListedContainer>>(engine.lists,
                                                   std::vector{listed("theirs", "fd.9")});
  EXPECT_EQ(place.kill_marked(session_mark(bootstrap)), 0u);
  EXPECT_EQ(engine.removed.size(), 1u);
}

TEST_F(Place, L16_what_is_left_on_the_disk_goes_with_the_spool) {
  (void)host.make_folder(bootstrap.run_folder);
  (void)host.make_folder(bootstrap.spool_folder);
  EXPECT_TRUE(place.remove_file(bootstrap.run_folder, "none.sock"));
  EXPECT_TRUE(place.remove_folder(bootstrap.spool_folder));
  EXPECT_TRUE(host.folders.empty());
  EXPECT_TRUE(place.remove_file("/nowhere", "none.sock"));
}

}  // namespace
}  // namespace perdure
