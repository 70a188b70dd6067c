// Snapshots: the state is restored completely or not at all.
#include "core/wire/journal/snapshot.h"

#include <gtest/gtest.h>

#include "testing/random_fields.h"

namespace perdure {
namespace {

TEST(Snapshot, gives_back_the_state) {
  EXPECT_EQ(decode_snapshot(encode_snapshot(State{})), State{});
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    const State state = RandomFields(seed, fill).make<State>();
    const auto decoded = decode_snapshot(encode_snapshot(state));
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    ASSERT_EQ(*decoded, state);
  }
}

// The plan lists them by other names: provider is the agent, last_seq the head, recovery the last
// boot and the end of the last run.
TEST(Snapshot, O2_O6_holds_what_a_fast_start_needs) {
  State state;
  state.head = 41;
  state.id = SessionId(Ulid{1, 2});
  state.title = "parser";
  state.agent.name = "claude";
  state.workspace.cwd = "/w";
  state.created = {1000};
  state.updated = {2000};
  state.last_boot = BootId(Ulid{1, 3});
  state.run = perdure::Run{.id = RunId(Ulid{1, 4}), .boot = BootId(Ulid{1, 3}), .started = {1500}};
  state.last_run = EndedRun{.id = RunId(Ulid{1, 5}),
                            .end = RunEnd::interrupted,
                            .interrupted = InterruptReason::process_restart,
                            .ended = {1400}};
  const WaitTokenId token(Ulid{1, 6});
  state.waits[token] = Wait{.token = token,
                            .run = state.run->id,
                            .deadline = Deadline{.wall = {9000}, .granted_ms = 1},
                            .since = {1600},
                            .since_seq = 40};
  const std::string bytes = encode_snapshot(state);
  for (const char* const part :
       {"\"head\":41", "\"session_id\":", "\"title\":\"parser\"", "\"claude\"", "\"cwd\":\"/w\"",
        "\"created\":", "\"updated\":", "\"run_id\":", "\"boot_id\":", "\"started\":", "\"ended\":",
        "\"wait_kind\":", "\"since_seq\":40", "\"token_id\":", "\"deadline\":", "\"last_boot\":",
        "\"interrupted\":\"process_restart\""}) {
    EXPECT_NE(bytes.find(part), std::string::npos) << part << " in " << bytes;
  }
  EXPECT_EQ(decode_snapshot(bytes), state);
}

TEST(Snapshot, finds_every_flipped_bit_and_every_cut) {
  std::string bytes = encode_snapshot(RandomFields(1).make<State>());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto flip = [&] { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)); };
    flip();
    ASSERT_FALSE(decode_snapshot(bytes).has_value());
    flip();
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_snapshot(bytes.substr(0, size)).has_value());
  }
}

TEST(Snapshot, J6_refuses_another_version_and_garbage) {
  std::string bytes = encode_snapshot(State{});
  const std::string version = " " + std::to_string(snapshot_version) + " ";
  bytes.replace(bytes.find(version), version.size(), " 999 ");
  EXPECT_EQ(decode_snapshot(bytes).error().code(), Code::format_too_new);
  for (const std::string_view garbage :
       {"", "\n", "{}", "perdure-snapshot ", "perdure-snapshot 2\n{}"}) {
    EXPECT_FALSE(decode_snapshot(garbage).has_value()) << garbage;
  }
}

}  // namespace
}  // namespace perdure
