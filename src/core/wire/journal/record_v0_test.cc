// Format 0, the records of the recovery plan: they are read, with ids that are the same in every
// record, and the originals of changed members are kept.
#include "core/wire/journal/record_v0.h"

#include <string>

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr std::string_view waiting =
    R"({"seq":146,"ts":"2026-02-21T10:01:25Z","kind":"run.waiting","run_id":"run_9f5",)"
    R"("wait_kind":"tool_result","resume_token_id":"rt_5f0"})";
constexpr std::string_view interrupted =
    R"({"seq":147,"ts":"2026-02-21T10:02:02Z","kind":"run.interrupted","run_id":"run_9f5",)"
    R"("reason":"process_exit"})";

DecodedRecord decode(std::string_view bytes) {
  auto decoded = decode_record(bytes);
  EXPECT_TRUE(decoded.has_value()) << bytes << (decoded ? "" : decoded.error().message());
  return decoded ? *decoded : DecodedRecord{};
}

template <class Body>
Body body_of(std::string_view bytes) {
  const DecodedRecord decoded = decode(bytes);
  const auto* body = get_if<Body>(&decoded.record.event.body);
  EXPECT_NE(body, nullptr) << bytes;
  return body ? *body : Body{};
}

TEST(RecordV0, O33_O37_S10_reads_the_golden_record) {
  const DecodedRecord decoded = decode(waiting);
  EXPECT_EQ(decoded.version, 0);
  EXPECT_EQ(decoded.prev, Hash{});
  EXPECT_EQ(decoded.record.seq, 146U);
  EXPECT_EQ(format_timestamp(decoded.record.event.at), "2026-02-21T10:01:25.000Z");
  EXPECT_EQ(decoded.record.event.origin.run, RunId(foreign_ulid("run_9f5")));
  const RunWaiting body = body_of<RunWaiting>(waiting);
  EXPECT_EQ(body.wait, WaitKind::input);
  EXPECT_EQ(body.token, WaitTokenId(foreign_ulid("rt_5f0")));
  EXPECT_FALSE(body.deadline.has_value());
  EXPECT_EQ(decoded.extra.text,
            R"({"v0":{"run_id":"run_9f5","wait_kind":"tool_result","resume_token_id":"rt_5f0"}})");
}

TEST(RecordV0, O37_gives_one_run_one_id_in_all_its_records) {
  EXPECT_EQ(decode(waiting).record.event.origin.run, decode(interrupted).record.event.origin.run);
  EXPECT_NE(foreign_ulid("run_9f5"), foreign_ulid("run_9f6"));
  EXPECT_EQ(foreign_ulid("run_9f5").text(), foreign_ulid("run_9f5").text());
  EXPECT_TRUE(foreign_ulid("run_9f5").text().starts_with("0000000000"));
}

TEST(RecordV0, keeps_an_id_that_is_already_ours) {
  const RunId run(Ulid{5, 6});
  const std::string bytes =
      R"({"seq":1,"ts":"2026-02-21T10:01:25Z","kind":"run.completed","run_id":")" + run.text() +
      "\"}";
  EXPECT_EQ(decode(bytes).record.event.origin.run, run);
  EXPECT_TRUE(decode(bytes).extra.text.empty());
}

TEST(RecordV0, turns_plain_times_into_deadlines_that_are_never_longer_than_granted) {
  const RunWaiting body = body_of<RunWaiting>(
      R"({"seq":1,"ts":"2026-02-21T10:01:00Z","kind":"run.waiting","run_id":"r",)"
      R"("wait_kind":"permission","resume_token_id":"t","deadline_at":"2026-02-21T10:11:00Z"})");
  EXPECT_EQ(body.wait, WaitKind::permission);
  ASSERT_TRUE(body.deadline.has_value());
  EXPECT_EQ(body.deadline->granted_ms, 600'000);
  EXPECT_EQ(format_timestamp(body.deadline->wall), "2026-02-21T10:11:00.000Z");
  EXPECT_EQ(body.deadline->host_boot, "");
}

TEST(RecordV0, maps_what_it_can_and_keeps_the_rest) {
  EXPECT_EQ(body_of<RunInterrupted>(
                R"({"seq":1,"ts":"2026-02-21T10:01:00Z","kind":"run.interrupted","run_id":"r",)"
                R"("reason":"power_cut"})")
                .reason,
            InterruptReason::process_exit);
  const MessageUser user = body_of<MessageUser>(
      R"({"seq":1,"ts":"2026-02-21T10:01:00.123456Z","kind":"message.user","message_id":"m",)"
      R"("content":[{"type":"text"}]})");
  EXPECT_EQ(user.prompt.blocks.text, R"([{"type":"text"}])");
  EXPECT_EQ(user.prompt.text, "");
  EXPECT_EQ(body_of<TokenMinted>(
                R"({"seq":1,"ts":"2026-02-21T10:01:00Z","kind":"token.minted","token_id":"t",)"
                R"("secret_hash":"argon2:x","wait_kind":"permission","expires_at":null})")
                .secret_hash,
            Hash{});
  const UnknownEvent unknown = body_of<UnknownEvent>(
      R"({"seq":1,"ts":"2026-02-21T10:01:00Z","kind":"x.y","message_id":"m","n":1.0})");
  EXPECT_EQ(unknown.members.text, R"({"message_id":"m","n":1.0})");
}

TEST(RecordV0, refuses_what_is_no_record) {
  const auto refused = [](std::string_view bytes) {
    const auto decoded = decode_record(bytes);
    EXPECT_FALSE(decoded.has_value()) << bytes;
    return decoded ? std::string() : decoded.error().message();
  };
  EXPECT_EQ(refused(R"({"ts":"2026-02-21T10:01:00Z","kind":"plan"})"), "seq: it is missing");
  EXPECT_EQ(refused(R"({"seq":1,"kind":"plan"})"), "ts: it is missing");
  EXPECT_EQ(refused(R"({"seq":1,"ts":"2026-02-21T10:01:00Z"})"), "kind: it is missing");
  EXPECT_EQ(refused(R"({"seq":-1,"ts":"2026-02-21T10:01:00Z","kind":"plan"})"),
            "seq: expected a whole number that is not negative");
  refused(R"({"seq":1,"ts":"yesterday","kind":"plan"})");
  refused(R"({"seq":1,"ts":"2026-02-21T10:01:00.Z","kind":"plan"})");
  refused(R"({"seq":1,"ts":17,"kind":"plan"})");
  refused(R"({"seq":1,"ts":"2026-02-21T10:01:00Z","kind":"run.waiting","deadline_at":"soon"})");
}

TEST(RecordV0, X22_chain_takes_gaps_in_format_0_and_goes_on_in_format_1) {
  ChainVerifier verifier;
  ASSERT_TRUE(verifier.add(waiting).has_value());
  EXPECT_FALSE(verifier.add(waiting).has_value());
  ASSERT_TRUE(verifier.add(interrupted).has_value());
  EXPECT_EQ(verifier.hash(), record_hash(interrupted));
  const Event event{Timestamp{1}, {}, StatusDerived{"idle"}};
  EXPECT_FALSE(verifier.add(encode_record(148, Hash{}, event)).has_value());
  EXPECT_FALSE(verifier.add(encode_record(149, verifier.hash(), event)).has_value());
  ASSERT_TRUE(verifier.add(encode_record(148, verifier.hash(), event)).has_value());
  EXPECT_FALSE(
      verifier.add(R"({"seq":149,"ts":"2026-02-21T10:02:02Z","kind":"plan"})").has_value());
}

TEST(RecordV0, a_tombstone_of_format_0_keeps_the_chain) {
  const std::string tombstone = *encode_tombstone(interrupted);
  ChainVerifier verifier;
  ASSERT_TRUE(verifier.add(waiting).has_value());
  ASSERT_TRUE(verifier.add(tombstone).has_value()) << tombstone;
  EXPECT_EQ(verifier.hash(), record_hash(interrupted));
}

TEST(RecordV0, is_served_in_the_present_format) {
  const SessionId session(Ulid{1, 2});
  const auto served = encode_served(session, waiting);
  ASSERT_TRUE(served.has_value()) << served.error().message();
  EXPECT_TRUE(
      served->starts_with(R"({"id":")" + session.text() + R"(/146","type":"system","v":1,)"));
  EXPECT_TRUE(served->contains(R"("v0":{"run_id":"run_9f5")"));
}

}  // namespace
}  // namespace perdure
