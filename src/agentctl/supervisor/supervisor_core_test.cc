// Tests the agentctl protocol packet by packet: access, commands, the frame window, a full disk,
// and when agentctl exits on its own. The test writes the peer's packets by hand from the wire
// format.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentctl/supervisor/fake_link_for_test.h"
#include "agentctl/supervisor/fake_world_for_test.h"
#include "agentctl/supervisor/supervisor.h"
#include "base/limits.h"
#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/effect.h"
#include "testing/store/memory_folder.h"

namespace perdure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One connection to the agentctl, and everything received over it.
class TestPeer final : private LinkEvents {
 public:
  TestPeer(FakeLoop& loop, Supervisor& supervisor) : loop_(loop) {
    FakeWire::Ends ends = std::make_shared<FakeWire>(loop)->ends();
    link_ = std::move(ends.near);
    link_->set_events(*this);
    supervisor.on_link(std::move(ends.far));
  }

  template <class T>
  void send(const T& packet) {
    std::string bytes;
    append_packet(bytes, packet);
    send_bytes(std::move(bytes));
  }
  void send(const SendCommand& command) {
    std::string bytes;
    append_packet(bytes, PacketType::command, encode_effect(command));
    send_bytes(std::move(bytes));
  }
  void send_bytes(std::string bytes) {
    link_->send(std::move(bytes));
    loop_.run();
  }

  std::vector<FrameNo> frames;
  std::vector<std::string> kinds;  // the frame itself, for each number
  std::vector<std::uint64_t> acted;
  std::optional<AttachedPacket> attached;
  std::string refused;  // the code
  std::optional<HealthPacket> health;
  bool closed = false;

 private:
  void on_bytes(std::string_view bytes) override {
    reader_.feed(bytes);
    for (;;) {
      const auto packet = reader_.next();
      if (!packet || !*packet) return;
      take(**packet);
    }
  }
  void take(const Packet& packet) {
    switch (packet.type) {
      case PacketType::frame: {
        const NumberedFrame frame = decode_frame_packet(packet.body).value();
        frames.push_back(frame.number);
        kinds.emplace_back(frame.frame);
        break;
      }
      case PacketType::attached: attached = decode_attached(packet.body).value(); break;
      case PacketType::refused: refused = decode_refused(packet.body).value().code; break;
      case PacketType::acted: acted.push_back(decode_acted(packet.body).value().number); break;
      case PacketType::health: health = decode_health(packet.body).value(); break;
      default: break;
    }
  }
  void on_drained() override {}
  void on_closed() override { closed = true; }

  FakeLoop& loop_;
  std::unique_ptr<Link> link_;
  PacketReader reader_;
};

class SupervisorCoreTest : public ::testing::Test {
 protected:
  void begin() {
    bootstrap_.session = ids_.next<SessionId>();
    bootstrap_.exec = ids_.next<ExecId>();
    bootstrap_.gen = 1;
    bootstrap_.secret = "secret";
    bootstrap_.cwd = "/ws";
    bootstrap_.agent.command = {"agent"};
    supervisor_ =
        std::make_unique<Supervisor>(SupervisorPorts{clock_, loop_, processes_, folder_},
                                     bootstrap_, SupervisorIdentity{.instance = "i", .pid = 7},
                                     [this](std::string reason) { ended_ = std::move(reason); });
    supervisor_->begin();
    loop_.run();
  }
  std::unique_ptr<TestPeer> call() { return std::make_unique<TestPeer>(loop_, *supervisor_); }
  std::unique_ptr<TestPeer> attach(AttachPacket packet) {
    auto peer = call();
    packet.secret = "secret";
    peer->send(packet);
    return peer;
  }
  SendCommand command(std::uint64_t number, CommandBody body = StartAgent{}) const {
    return {.exec = bootstrap_.exec, .gen = 1, .number = number, .body = std::move(body)};
  }
  void say(const std::string& line) {
    processes_.children.back()->events->on_output(line + "\n");
    loop_.run();
  }
  // Starts the agent and opens a session with commands 1 and 2.
  void open(TestPeer& peer) {
    peer.send(command(1));
    say(R"({"jsonrpc":"2.0","id":)" + last_id() + R"(,"result":{"protocolVersion":1}})");
    peer.send(command(2, OpenSession{.method = OpenMethod::fresh}));
    say(R"({"jsonrpc":"2.0","id":)" + last_id() + R"(,"result":{"sessionId":"s1"}})");
  }
  std::string last_id() const {
    const std::string& input = processes_.children.back()->input;
    const std::size_t at = input.rfind(R"("id":)") + 5;
    return input.substr(at, input.find(',', at) - at);
  }
  void chunk(const std::string& text) {
    say(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{)"
        R"("sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" +
        text + R"("}}}})");
  }

  FakeLoop loop_;
  FakeClock clock_{loop_};
  FakeProcesses processes_;
  MemoryFolder folder_;
  IdSource ids_{{1'780'000'000'000}, 7};
  Bootstrap bootstrap_;
  std::optional<std::string> ended_;
  std::unique_ptr<Supervisor> supervisor_;
};

TEST_F(SupervisorCoreTest, a_command_number_acts_once_and_a_gap_is_no_matter) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 100});
  peer->send(command(5));
  EXPECT_EQ(processes_.children.size(), 1U);
  peer->send(command(5));
  peer->send(command(3));
  EXPECT_THAT(processes_.children[0]->signals, IsEmpty());
  peer->send(command(9));  // starting again ends the running agent
  EXPECT_EQ(processes_.children[0]->signals.size(), 1U);
  EXPECT_THAT(peer->acted, ElementsAre(5, 5, 5, 9));
  const auto next = attach({.epoch = 2, .after = 1, .window = 100});
  EXPECT_EQ(next->attached.value().acted, 9U);
}

TEST_F(SupervisorCoreTest, a_command_for_another_execution_ends_the_link_and_does_nothing) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 100});
  SendCommand stray = command(1);
  stray.gen = 2;
  peer->send(stray);
  EXPECT_EQ(peer->refused, "invalid_argument");
  EXPECT_TRUE(peer->closed);
  EXPECT_THAT(processes_.children, IsEmpty());
}

TEST_F(SupervisorCoreTest, the_highest_epoch_owns_it) {
  begin();
  const auto first = attach({.epoch = 5, .window = 100});
  const auto lower = attach({.epoch = 4, .window = 100});
  EXPECT_EQ(lower->refused, "stale_owner");
  EXPECT_TRUE(lower->closed);
  EXPECT_FALSE(first->closed);
  const auto higher = attach({.epoch = 6, .window = 100});
  EXPECT_TRUE(higher->attached.has_value());
  EXPECT_EQ(first->refused, "stale_owner");
  EXPECT_TRUE(first->closed);
  first->send(command(1));
  EXPECT_THAT(processes_.children, IsEmpty());
}

TEST_F(SupervisorCoreTest, nobody_gets_in_without_the_secret) {
  begin();
  for (const char* const secret : {"", "secre", "secret2", "Secret"}) {
    const auto attacher = call();
    attacher->send(AttachPacket{.secret = secret, .epoch = 99, .window = 1});
    EXPECT_EQ(attacher->refused, "denied") << secret;
    EXPECT_THAT(attacher->frames, IsEmpty());
    const auto prober = call();
    prober->send(ProbePacket{.secret = secret});
    EXPECT_EQ(prober->refused, "denied") << secret;
    EXPECT_FALSE(prober->health.has_value());
  }
  const auto commander = call();
  commander->send(command(1));
  EXPECT_EQ(commander->refused, "denied");
  EXPECT_THAT(processes_.children, IsEmpty());
  EXPECT_TRUE(attach({.epoch = 1, .window = 1})->attached.has_value());
}

TEST_F(SupervisorCoreTest, G8_never_more_frames_under_way_than_the_window) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 3});
  open(*peer);
  for (int i = 0; i < 20; ++i) chunk("word");
  EXPECT_THAT(peer->frames, ElementsAre(1, 2, 3));
  peer->send(AckPacket{2});
  EXPECT_THAT(peer->frames, ElementsAre(1, 2, 3, 4, 5));
  while (peer->frames.back() < 23) peer->send(AckPacket{peer->frames.back()});
  EXPECT_EQ(peer->frames.size(), 23U);
  peer->send(AckPacket{24});
  EXPECT_EQ(peer->refused, "invalid_argument");
}

TEST_F(SupervisorCoreTest, a_window_without_end_is_one_that_never_closes) {
  begin();
  attach({.epoch = 1, .window = 1});
  const auto peer = attach({.epoch = 2, .after = 1, .window = UINT64_MAX});
  peer->send(command(1, SendPrompt{.run = ids_.next<RunId>()}));
  EXPECT_THAT(peer->frames, ElementsAre(2));
}

TEST_F(SupervisorCoreTest, G8_too_many_links_are_closed_and_silent_ones_make_room) {
  begin();
  std::vector<std::unique_ptr<TestPeer>> silent;
  for (std::size_t i = 0; i < links_max; ++i) silent.push_back(call());
  const auto one_more = attach({.epoch = 1, .window = 1});
  EXPECT_TRUE(one_more->closed);
  EXPECT_FALSE(one_more->attached.has_value());
  loop_.advance_ms(10'000);
  for (const auto& peer : silent) EXPECT_TRUE(peer->closed);
  EXPECT_TRUE(attach({.epoch = 1, .window = 1})->attached.has_value());
}

TEST_F(SupervisorCoreTest, garbage_ends_the_link_it_came_over_and_nothing_else) {
  begin();
  const auto owner = attach({.epoch = 1, .window = 10});
  for (const std::string& garbage :
       {std::string(64, '\xff'), std::string("GET / HTTP/1.1\r\n\r\n"), std::string(64, '\0')}) {
    const auto peer = call();
    peer->send_bytes(garbage);
    loop_.advance_ms(10'000);  // a length that never arrives counts as silence
    EXPECT_TRUE(peer->closed);
    EXPECT_FALSE(peer->attached.has_value());
  }
  EXPECT_FALSE(owner->closed);
  owner->send(command(1));
  EXPECT_EQ(processes_.children.size(), 1U);
}

TEST_F(SupervisorCoreTest, DISK2_without_room_the_agent_waits_and_nothing_is_lost) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 100});
  open(*peer);
  const std::size_t before = peer->frames.size();
  folder_.fill_disk();
  chunk("one");
  EXPECT_TRUE(processes_.children[0]->is_paused);
  EXPECT_EQ(peer->frames.size(), before);
  loop_.advance_ms(5'000);
  EXPECT_TRUE(processes_.children[0]->is_paused);
  folder_.make_room();
  loop_.advance_ms(1'000);
  EXPECT_FALSE(processes_.children[0]->is_paused);
  chunk("two");
  ASSERT_EQ(peer->frames.size(), before + 2);
  EXPECT_THAT(peer->kinds[before], HasSubstr("one"));
  EXPECT_THAT(peer->kinds[before + 1], HasSubstr("two"));
}

TEST_F(SupervisorCoreTest, a_full_spool_stops_the_agent_until_acks_make_room) {
  bootstrap_.spool_bytes = 16UL << 10;
  begin();
  const auto peer = attach({.epoch = 1, .window = 1000});
  open(*peer);
  const std::string text(1000, 'x');
  std::size_t said = 0;
  for (; said < 100 && !processes_.children[0]->is_paused; ++said) chunk(text);
  EXPECT_LT(said, 20U);
  EXPECT_LE(folder_.bytes(), 20UL << 10);
  folder_.refuse_next_change();  // the segment stays although everything is acked
  peer->send(AckPacket{peer->frames.back()});
  EXPECT_TRUE(processes_.children[0]->is_paused);
  loop_.advance_ms(10'000);
  EXPECT_FALSE(processes_.children[0]->is_paused);
}

TEST_F(SupervisorCoreTest, G8_a_frame_that_is_too_long_says_what_is_missing) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 100});
  open(*peer);
  chunk(std::string(frame_bytes_max / 2 + 1000, 'x'));
  const std::string& frame = peer->kinds.back();
  EXPECT_LE(frame.size(), frame_bytes_max);
  EXPECT_THAT(frame.substr(0, 200), HasSubstr("message.agent"));
  EXPECT_NE(frame.find(R"("perdure":"too_long")"), std::string::npos);
  chunk("short");
  EXPECT_THAT(peer->kinds.back(), HasSubstr("short"));
}

TEST_F(SupervisorCoreTest, it_leaves_when_nobody_ever_comes) {
  begin();
  loop_.advance_ms(59'000);
  EXPECT_FALSE(ended_.has_value());
  loop_.advance_ms(11'000);
  EXPECT_EQ(ended_, "nobody attached");
}

TEST_F(SupervisorCoreTest, it_leaves_when_it_is_idle_and_alone) {
  begin();
  attach({.epoch = 1, .window = 1}).reset();
  loop_.advance_ms(590'000);
  EXPECT_FALSE(ended_.has_value());
  loop_.advance_ms(20'000);
  EXPECT_EQ(ended_, "idle");
}

TEST_F(SupervisorCoreTest, with_an_agent_it_stays_until_it_is_abandoned) {
  begin();
  auto peer = attach({.epoch = 1, .window = 100});
  open(*peer);
  peer.reset();
  loop_.advance_ms(6L * 86'400'000);
  EXPECT_FALSE(ended_.has_value());
  EXPECT_EQ(processes_.alive(), 1U);
  loop_.advance_ms(86'400'000 + 20'000);
  EXPECT_TRUE(processes_.children[0]->input_closed);
  processes_.finish(0, "");
  loop_.advance_ms(5'000);
  EXPECT_EQ(ended_, "abandoned");
}

TEST_F(SupervisorCoreTest, C9_one_that_shall_not_survive_ends_with_its_daemon) {
  bootstrap_.survive = false;
  begin();
  auto peer = attach({.epoch = 1, .window = 100});
  peer.reset();
  loop_.advance_ms(2'000);
  EXPECT_EQ(ended_, "the daemon left");
}

TEST_F(SupervisorCoreTest, a_stop_waits_for_the_owner_to_take_the_last_frames_but_not_for_long) {
  begin();
  const auto peer = attach({.epoch = 1, .window = 100});
  peer->send(StopPacket{"asked"});
  loop_.advance_ms(1'000);
  EXPECT_FALSE(ended_.has_value());
  peer->send(AckPacket{peer->frames.back()});
  EXPECT_EQ(ended_, "asked");
}

}  // namespace
}  // namespace perdure
