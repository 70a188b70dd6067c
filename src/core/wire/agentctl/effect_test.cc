// Effects in the outbox and replies under idempotency keys: both decode to what was encoded, and an
// effect that is not fully understood is rejected.
#include "core/wire/agentctl/effect.h"

#include <gtest/gtest.h>

#include "core/wire/agentctl/reply.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

TEST(WireEffect, every_kind_and_every_command_reads_back) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    for (std::size_t kind = 0; kind < Effect::size; ++kind) {
      const auto effect = RandomFields(seed, fill).make_alternative<Effect>(kind);
      const auto decoded = decode_effect(encode_effect(effect));
      ASSERT_TRUE(decoded.has_value()) << encode_effect(effect) << decoded.error().message();
      ASSERT_EQ(*decoded, effect);
    }
    for (std::size_t kind = 0; kind < CommandBody::size; ++kind) {
      Effect effect =
          SendCommand{{}, 0, 0, RandomFields(seed, fill).make_alternative<CommandBody>(kind)};
      ASSERT_EQ(decode_effect(encode_effect(effect)), effect) << encode_effect(effect);
    }
  }
}

TEST(WireEffect, looks_like_this) {
  EXPECT_EQ(encode_effect(SendCommand{ExecId(Ulid{1, 1}), 2, 3, CancelPrompt{RunId(Ulid{1, 2})}}),
            R"({"v":1,"kind":"send_command","exec_id":"exec_0000000000000g000000000001","gen":2,)"
            R"("number":3,)"
            R"("command":"cancel_prompt","body":{"run_id":"run_0000000000000g000000000002"}})");
  EXPECT_EQ(encode_effect(Notify{}), R"({"v":1,"kind":"notify","what":"finished"})");
}

TEST(WireEffect, J6_refuses_what_it_does_not_wholly_understand) {
  const auto code = [](std::string_view payload) {
    const auto decoded = decode_effect(payload);
    EXPECT_FALSE(decoded.has_value()) << payload;
    return decoded ? Code::internal : decoded.error().code();
  };
  EXPECT_EQ(code(R"({"v":2,"kind":"notify"})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"launch"})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"notify","loudly":true})"), Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"send_command","command":"dance","body":{}})"),
            Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"send_command","command":"start_agent","body":{"x":1}})"),
            Code::format_too_new);
  EXPECT_EQ(code(R"({"v":1,"kind":"send_command","command":"start_agent"})"),
            Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":1,"kind":"send_command","command":"start_agent","body":[]})"),
            Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":1,"kind":"notify","what":"never"})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"v":1})"), Code::invalid_argument);
  EXPECT_EQ(code(R"({"kind":"notify"})"), Code::invalid_argument);
  EXPECT_EQ(code("[]"), Code::invalid_argument);
  EXPECT_EQ(code(""), Code::invalid_argument);
}

TEST(WireReply, reads_back) {
  Reply reply;
  EXPECT_EQ(encode_reply(reply), "{}");
  EXPECT_EQ(decode_reply("{}"), reply);
  RandomFields random(1);
  reply = {.seq = 17,
           .run = random.make<RunId>(),
           .message = random.make<MessageId>(),
           .queue_position = 0,
           .placed = "queued",
           .already_running = true,
           .nothing_to_do = true,
           .resume_pending = true,
           .outcome = PermissionOutcome::selected,
           .option_id = "yes",
           .decided_by = "uid:1000"};
  EXPECT_EQ(decode_reply(encode_reply(reply)), reply) << encode_reply(reply);
  EXPECT_EQ(decode_reply(R"({"seq":3,"later":[]})")->seq, 3U);
  EXPECT_EQ(decode_reply(R"({"seq":"3"})").error().message(),
            "seq: expected a whole number that is not negative");
}

}  // namespace
}  // namespace perdure
