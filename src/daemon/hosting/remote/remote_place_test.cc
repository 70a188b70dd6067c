// The state that the place of another host reports, with an outpost that answers when the test lets
// it, over connections that the test cuts.
#include "daemon/hosting/remote/remote_place.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/base64.h"
#include "daemon/hosting/step_world_for_test.h"
#include "testing/memory_host.h"

namespace perdure {
namespace {

struct StartEvents final : ProcessEvents {
  void on_output(std::string_view bytes) override { output += bytes; }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit& how) override { exit = how; }
  std::string output;
  std::optional<ProcessExit> exit;
};

class RemotePlaceTest : public ::testing::Test {
 protected:
  static Bootstrap make_bootstrap() {
    return {.session = *SessionId::parse("sess_01ka3qq5rk0000000000000001"),
            .exec = *ExecId::parse("exec_01ka3qq5rk0000000000000002"),
            .gen = 1,
            .secret = "s",
            .owner = "o.1",
            .run_folder = "/run",
            .spool_folder = "/spool",
            .cwd = "/work"};
  }
  std::shared_ptr<OutpostClient> make_client() {
    return std::make_shared<OutpostClient>(
        loop, clock,
        OutpostAccess{.name = "box", .secret = "secret", .dial = [this]() -> DialledLink {
                        wires.push_back(std::make_shared<Wire>());
                        return {std::make_unique<TestLink>(wires.back()), [] { return "cut"; }};
                      }});
  }
  Wire& wire() { return *wires.back(); }
  void welcome() {
    wire().sent.clear();
    wire().events->on_bytes(encode_line(OutpostWelcome{}));
  }
  // The call that was sent last.
  OutpostCall asked() {
    std::string text = wire().sent;
    if (text.ends_with('\n')) text.pop_back();
    return decode_outpost_call(text.substr(text.rfind('\n') + 1)).value_or(OutpostCall{});
  }
  void answer(const std::string& result) {
    const std::uint64_t id = asked().id;
    wire().events->on_bytes(encode_line(OutpostReply{.id = id, .result = {result}}));
    loop.run();
  }
  void cut() {
    wire().events->on_closed();
    loop.run();
    clock.at.since_boot.ms += 60'000;
  }

  StillClock clock;
  StepLoop loop;
  MemoryHost host;
  std::vector<std::shared_ptr<Wire>> wires;
  std::shared_ptr<OutpostClient> client = make_client();
  RemotePlace place{{clock, loop, host, [this] { return client; }}, {}, make_bootstrap()};
  const std::string mark = exec_mark({make_bootstrap().exec, "o.1"});
};

TEST_F(RemotePlaceTest, C19_silence_is_unknown_and_only_the_outposts_word_is_death) {
  clock.at.since_boot.ms = 100'000;
  EXPECT_EQ(place.life({}), ProcessLife::unknown);
  ASSERT_EQ(wires.size(), 1u);
  EXPECT_EQ(decode_hello(wire().sent.substr(0, wire().sent.size() - 1))->secret, "secret");
  welcome();
  EXPECT_EQ(asked().verb, OutpostVerb::life);
  cut();
  EXPECT_EQ(place.life({}), ProcessLife::unknown);
  EXPECT_NE(place.doubt().find("cut"), std::string::npos);
  welcome();
  answer(encode_result(OutpostLife{"alive", "boot"}));
  EXPECT_EQ(place.life({}), ProcessLife::alive);
  EXPECT_TRUE(place.connect("", ""));
  // An old observation counts as unknown.
  clock.at.since_boot.ms += 6'000;
  EXPECT_EQ(place.life({}), ProcessLife::unknown);
}

TEST_F(RemotePlaceTest, C19_a_dead_one_is_not_called_and_not_asked_for_again) {
  clock.at.since_boot.ms = 100'000;
  place.life({});
  welcome();
  answer(encode_result(OutpostLife{"dead", "another boot"}));
  EXPECT_EQ(place.life({}), ProcessLife::dead);
  const auto link = place.connect("", "");
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code(), Code::not_found);
}

TEST_F(RemotePlaceTest, L18_a_start_that_was_never_sent_fails_and_leaves_nothing_to_end) {
  StartEvents events;
  const auto process = place.spawn({}, events);
  ASSERT_TRUE(process);
  (*process)->close_input();
  EXPECT_TRUE(host.folders.contains("/spool"));
  for (int i = 0; i < 3 && !events.exit; ++i) {
    cut();
    loop.run_timers();
  }
  ASSERT_TRUE(events.exit);
  EXPECT_EQ(decode_bootstrap_answer(events.output)->code, "remote_unavailable");
  EXPECT_EQ(place.cause()->code(), Code::remote_unavailable);
  EXPECT_EQ(place.kill_marked(mark), 0u);
}

TEST_F(RemotePlaceTest, C19_a_start_that_was_sent_is_asked_for_again_until_it_is_answered) {
  StartEvents events;
  const auto process = place.spawn({}, events);
  (*process)->close_input();
  welcome();
  EXPECT_EQ(asked().verb, OutpostVerb::start);
  for (int i = 0; i < 5; ++i) {
    cut();
    EXPECT_FALSE(events.exit);
    loop.run_timers();
    welcome();
    EXPECT_EQ(asked().verb, OutpostVerb::start);
  }
  EXPECT_EQ(place.kill_marked(mark), 1u);  // it may exist
  EXPECT_EQ(asked().verb, OutpostVerb::kill);
  answer(encode_result(OutpostLeft{1}));
  EXPECT_EQ(place.kill_marked(mark), 1u);
  cut();
  loop.run_timers();
  welcome();
  answer(encode_bootstrap_answer({.instance = "i", .pid = 5}));
  ASSERT_TRUE(events.exit);
  EXPECT_EQ(decode_bootstrap_answer(events.output)->pid, 5);
}

TEST_F(RemotePlaceTest, K33_the_end_is_proved_and_the_spool_is_here_before_it_is_told) {
  ASSERT_TRUE((*host.make_folder("/spool"))->append("half", "an earlier copy"));
  EXPECT_EQ(place.kill_marked(mark), 1u);
  welcome();
  EXPECT_EQ(asked().mark, mark);
  answer(encode_result(OutpostLeft{0}));
  EXPECT_EQ(place.kill_marked(mark), 1u);  // dead, and its last frames are still there
  EXPECT_EQ(asked().verb, OutpostVerb::list);
  answer(encode_result(OutpostFiles{{{"a", 5}, {"b", 1}}}));
  EXPECT_EQ(asked().name, "a");
  answer(encode_result(OutpostPiece{base64_encode("123")}));
  EXPECT_EQ(asked().offset, 3u);
  answer(encode_result(OutpostPiece{base64_encode("45")}));
  EXPECT_EQ(asked().name, "b");
  EXPECT_EQ(place.kill_marked(mark), 1u);
  answer(encode_result(OutpostPiece{base64_encode("6")}));
  EXPECT_EQ(place.kill_marked(mark), 0u);
  const auto spool = place.open_folder("/spool");
  ASSERT_TRUE(spool);
  EXPECT_EQ(*(*spool)->list(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(*(*spool)->read("a", 0, 100), "12345");
  ASSERT_TRUE(place.remove_folder("/spool"));
  EXPECT_EQ(asked().verb, OutpostVerb::remove);
  EXPECT_FALSE(host.folders.contains("/spool"));
}

TEST_F(RemotePlaceTest, K33_a_copy_that_was_cut_begins_again) {
  host.make_folder("/spool");
  place.kill_marked(mark);
  welcome();
  answer(encode_result(OutpostLeft{0}));
  answer(encode_result(OutpostFiles{{{"a", 4}}}));
  answer(encode_result(OutpostPiece{base64_encode("12")}));
  cut();
  EXPECT_EQ(place.kill_marked(mark), 1u);
  welcome();
  EXPECT_EQ(asked().verb, OutpostVerb::kill);
  answer(encode_result(OutpostLeft{0}));
  answer(encode_result(OutpostFiles{{{"a", 4}}}));
  EXPECT_EQ(asked().offset, 0u);
  answer(encode_result(OutpostPiece{base64_encode("1234")}));
  EXPECT_EQ(place.kill_marked(mark), 0u);
  EXPECT_EQ(*(*place.open_folder("/spool"))->read("a", 0, 100), "1234");
}

TEST_F(RemotePlaceTest, L18_a_refused_secret_is_an_error_with_its_reason_and_a_pause) {
  Result<std::string> told = fail(Code::internal, "none yet");
  client->call({.verb = OutpostVerb::ping}, [&](Result<std::string> got) { told = got; });
  wire().events->on_bytes(encode_line(
      OutpostWelcome{.code = "unauthenticated", .message = "the secret is not this outpost's"}));
  loop.run();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code(), Code::remote_unavailable);
  EXPECT_NE(told.error().message().find("secret"), std::string::npos);
  client->call({.verb = OutpostVerb::ping}, [&](Result<std::string> got) { told = got; });
  loop.run();
  EXPECT_EQ(wires.size(), 1u);  // no immediate repetition
  clock.at.since_boot.ms += 60'000;
  client->call({.verb = OutpostVerb::ping}, [&](Result<std::string> got) { told = got; });
  EXPECT_EQ(wires.size(), 2u);
}

}  // namespace
}  // namespace perdure
