// Commands between two daemons: every kind decodes to what was encoded, and commands that are not
// fully understood are rejected.
#include "core/wire/agentctl/command.h"

#include <gtest/gtest.h>

#include "testing/random_fields.h"

namespace perdure {
namespace {

template <class Body>
void expect_round_trip(RandomFields& random) {
  const Body body = random.make<Body>();
  const Result<std::string> text = encode_command(body);
  ASSERT_TRUE(text) << text.error().message();
  const Result<InputBody> decoded = decode_command(*text);
  ASSERT_TRUE(decoded) << *text << decoded.error().message();
  const Body* const again = get_if<Body>(&*decoded);
  ASSERT_TRUE(again) << *text;
  EXPECT_EQ(*again, body) << *text;
}

template <class... Bodies>
void expect_all_round_trip(Kinds<Bodies...>, RandomFields random) {
  (expect_round_trip<Bodies>(random), ...);
}

TEST(WireCommand, every_kind_reads_back) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    expect_all_round_trip(ClientCommands{}, RandomFields(seed, fill));
  }
}

TEST(WireCommand, looks_like_this) {
  EXPECT_EQ(encode_command(SubmitPrompt{.prompt = {.text = "go"}, .key = "uid:1 k"}),
            R"({"v":1,"kind":"prompt","prompt":{"content":"go"},"when":"auto","key":"uid:1 k"})");
  EXPECT_EQ(encode_command(ArchiveSession{}), R"({"v":1,"kind":"archive"})");
  EXPECT_EQ(encode_command(StartWorkspace{.workspace_exists = false}),
            R"({"v":1,"kind":"start_workspace","workspace_exists":false})");
}

TEST(WireCommand, a_task_that_is_taken_away_is_told_from_one_that_stays) {
  for (const std::optional<TaskId> task : {std::optional<TaskId>(), std::optional(TaskId())}) {
    const Result<std::string> text = encode_command(ConfigureSession{{.task = task}});
    ASSERT_TRUE(text);
    const Result<InputBody> decoded = decode_command(*text);
    ASSERT_TRUE(decoded) << *text << decoded.error().message();
    EXPECT_EQ(get_if<ConfigureSession>(&*decoded)->what.task, task) << *text;
  }
}

TEST(WireCommand, only_clients_commands_go_to_another_daemon) {
  for (const InputBody& input : {InputBody(CreateSession{}), InputBody(Frame{}),
                                 InputBody(DaemonBooted{}), InputBody(ExecutorGone{})}) {
    const Result<std::string> text = encode_command(input);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code(), Code::invalid_argument);
  }
}

TEST(WireCommand, J6_refuses_what_it_does_not_wholly_understand) {
  const auto code = [](std::string_view text) {
    const Result<InputBody> decoded = decode_command(text);
    EXPECT_FALSE(decoded.has_value()) << text;
    return decoded ? Code::internal : decoded.error().code();
  };
  EXPECT_EQ(code(R"({"v":2,"kind":"archive"})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"launch"})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"executor.ready"})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"cancel","gently":true})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"prompt","prompt":{"voice":1}})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"cancel","force":"yes"})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":1,"kind":"remove_queued","message_id":"run_1"})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":1})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"kind":"archive"})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":0,"kind":"archive"})"), Code::invalid_argument);
  EXPECT_EQ(code("[]"), Code::invalid_argument);
  EXPECT_EQ(code(""), Code::invalid_argument);
}

}  // namespace
}  // namespace perdure
