// Frames as bytes: every kind decodes to what was encoded, a newer agentctl's output is kept whole,
// and bytes that are not a frame only cause an error.
#include "core/wire/agentctl/frame.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

const RunId run{Ulid{1, 2}};

Frame decode(std::string_view bytes) {
  auto decoded = decode_frame(bytes);
  EXPECT_TRUE(decoded.has_value()) << bytes << "\n" << (decoded ? "" : decoded.error().message());
  return decoded ? *decoded : Frame{};
}

Error error_of(std::string_view bytes) {
  const auto decoded = decode_frame(bytes);
  EXPECT_FALSE(decoded.has_value()) << bytes;
  return decoded ? Error(Code::internal, "decoded") : decoded.error();
}

// The names of a body's fields, in order.
template <class Body>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Body body{};
  visit_fields(body, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

template <class Visit, class... Bodies>
void for_each_kind(Kinds<Bodies...>, Visit visit) {
  (visit.template operator()<Bodies>(), ...);
}

TEST(WireFrame, every_kind_reads_back_as_it_was_written) {
  for (std::size_t kind = 0; kind < FrameBody::size; ++kind) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
      RandomFields random(seed, fill);
      const RunId of_run = seed % 3 == 0 ? RunId{} : random.make<RunId>();
      const FrameBody body = random.make_alternative<FrameBody>(kind);
      const std::string bytes = encode_frame(of_run, body);
      const Frame frame = decode(bytes);
      ASSERT_EQ(frame.run, of_run) << bytes;
      ASSERT_EQ(frame.body, body) << bytes;
      ASSERT_EQ(encode_frame(frame.run, frame.body), bytes);
      ASSERT_EQ(bytes.find('\n'), std::string::npos);
    }
  }
}

TEST(WireFrame, the_number_and_the_execution_are_not_in_it) {
  const Frame frame = decode(R"({"v":1,"kind":"plan","exec_id":"x","gen":7,"number":9})");
  EXPECT_EQ(frame.number, 0U);
  EXPECT_EQ(frame.gen, 0U);
  EXPECT_TRUE(frame.exec.is_null());
}

TEST(WireFrame, no_kind_has_a_field_of_the_heading_and_each_has_its_own_name) {
  std::set<std::string_view> kinds;
  for_each_kind(FrameKinds{}, [&]<class Body>() {
    EXPECT_TRUE(kinds.insert(Body::kind_text).second) << Body::kind_text;
    std::set<std::string> names{"v", "kind", "run_id"};
    for (const std::string& name : field_names<Body>()) {
      EXPECT_TRUE(names.insert(name).second) << Body::kind_text << " " << name;
    }
  });
  EXPECT_EQ(kinds.size(), FrameBody::size);
}

TEST(WireFrame, looks_like_this) {
  EXPECT_EQ(encode_frame(run, MessageAgent{"m1", "Hello\n", {R"({"sessionUpdate":"x"})"}}),
            R"({"v":1,"kind":"message.agent","run_id":"run_0000000000000g000000000002",)"
            R"("agent_message_id":"m1","text":"Hello\n","update":{"sessionUpdate":"x"}})");
  EXPECT_EQ(encode_frame({}, AgentUpdate{}), R"({"v":1,"kind":"agent.update"})");
  EXPECT_EQ(encode_frame({}, FrameExecutorReady{{.url = "unix:/s", .instance = "i", .pid = 7}}),
            R"({"v":1,"kind":"executor.ready","agentctl_url":"unix:/s","instance":"i","pid":7,)"
            R"("supports_workspace_only":true})");
  EXPECT_EQ(encode_frame(run, FrameRunFinished{run, "end_turn"}),
            R"({"v":1,"kind":"run.finished","run_id":"run_0000000000000g000000000002",)"
            R"("of_run":"run_0000000000000g000000000002","stop_reason":"end_turn"})");
  EXPECT_EQ(encode_frame(run, FrameSteerTaken{MessageId(Ulid{1, 2})}),
            R"({"v":1,"kind":"steer.taken","run_id":"run_0000000000000g000000000002",)"
            R"("message_id":"msg_0000000000000g000000000002"})");
  EXPECT_EQ(encode_frame({}, FrameAgentExited{{.exit_code = 0, .why = "exited"}}),
            R"({"v":1,"kind":"agent.exited","exit_code":0,"why":"exited"})");
}

TEST(WireFrame, the_token_of_a_question_never_leaves_the_daemon) {
  FramePermission asked{.request = "request-1"};
  const std::string bytes = encode_frame(run, asked);
  asked.token = WaitTokenId(Ulid{3, 4});
  asked.secret_hash.bytes[0] = 1;
  EXPECT_EQ(encode_frame(run, asked), bytes);
}

// Fills every field to its limit with the content that grows most when escaped.
template <class T>
void fill(T& value, std::size_t bytes) {
  if constexpr (std::same_as<T, std::string>) {
    value.assign(bytes, '\x01');
  } else if constexpr (std::same_as<T, RawJson>) {
    value.text = '"' + std::string(bytes, 'x') + '"';
  } else if constexpr (is_sequence<T>) {
    value.resize(60);
    for (auto& element : value) fill(element, bytes / 50);
  } else if constexpr (FieldStruct<T>) {
    visit_fields(value, [&](std::string_view, auto& field) { fill(field, bytes); });
  }
}

TEST(WireFrame, X22_a_frame_of_any_kind_is_made_to_fit) {
  constexpr std::size_t bytes_max = 16UL << 10;
  for (const std::size_t bytes : {10UL, 500UL, 15'000UL, 100'000UL}) {
    for (std::size_t kind = 0; kind < FrameBody::size; ++kind) {
      FrameBody body = RandomFields(7).make_alternative<FrameBody>(kind);
      visit([&](auto& one) { fill(one, bytes); }, body);
      const std::string whole = encode_frame(run, body);
      const std::string frame = encode_bounded_frame(run, body, bytes_max);
      ASSERT_LE(frame.size(), bytes_max) << kind;
      if (whole.size() <= bytes_max) ASSERT_EQ(frame, whole);
      const Frame decoded = decode(frame);
      ASSERT_EQ(decoded.run, run);
      ASSERT_EQ(decoded.body.index(), body.index());
    }
  }
}

TEST(WireFrame, X22_what_is_left_out_first_is_the_agents_own_update) {
  constexpr std::size_t bytes_max = 64UL << 10;
  const std::string text(50'000, 't');
  const RawJson update{'"' + std::string(20'000, 'u') + '"'};
  const Frame frame = decode(encode_bounded_frame(run, MessageAgent{"m", text, update}, bytes_max));
  const auto& message = get<MessageAgent>(frame.body);
  EXPECT_EQ(message.text, text);
  EXPECT_EQ(message.message, "m");
  EXPECT_EQ(message.update.text, R"({"perdure":"too_long","bytes":20002})");
  FramePermission asked{.request = "r", .options = {{"yes", "Yes, do it", "allow_once"}}};
  asked.update = {'"' + std::string(2 * bytes_max, 'u') + '"'};
  const Frame question = decode(encode_bounded_frame(run, asked, bytes_max));
  EXPECT_EQ(get<FramePermission>(question.body).options, asked.options);
  // Then texts, never inside a character.
  std::string accents;
  while (accents.size() < 2 * bytes_max) accents += "é";
  const Frame cut = decode(encode_bounded_frame(run, Plan{accents, {}}, bytes_max));
  EXPECT_EQ(get<Plan>(cut.body).text, accents.substr(0, 1024));
}

// An agent's message may have the maximum depth: a frame that holds it must still be readable.
TEST(WireFrame, P8_a_frame_of_any_depth_can_be_read) {
  for (std::size_t depth = 1; depth <= json_depth_max + 2; ++depth) {
    const RawJson update{std::string(depth, '[') + std::string(depth, ']')};
    const Frame frame = decode(encode_bounded_frame(run, AgentUpdate{update}));
    const RawJson& kept = get<AgentUpdate>(frame.body).update;
    if (depth < json_depth_max) {
      EXPECT_EQ(kept, update);
    } else {
      EXPECT_EQ(kept.text, R"({"perdure":"too_deep","json":")" + update.text + R"("})");
    }
  }
  // Many brackets need not be deep.
  RawJson wide{"[1"};
  for (std::size_t i = 0; i < 2 * json_depth_max; ++i) wide.text += ",[]";
  wide.text += "]";
  const Frame frame = decode(encode_bounded_frame(run, AgentUpdate{wide}));
  EXPECT_EQ(get<AgentUpdate>(frame.body).update, wide);
}

TEST(WireFrame, X25_an_unknown_kind_is_kept_whole) {
  const std::string bytes =
      R"({"v":1,"kind":"agent.dreamt","run_id":"run_0000000000000g000000000002",)"
      R"("of":[1, 2.50],"a\u0062":{"deep":null}})";
  const Frame frame = decode(bytes);
  EXPECT_EQ(frame.run, run);
  EXPECT_EQ(get<AgentUpdate>(frame.body).update.text, bytes);
  // The journalled form can be read again.
  const Frame again = decode(encode_frame(frame.run, frame.body));
  EXPECT_EQ(get<AgentUpdate>(again.body).update.text, bytes);
  // Surrounding white space is not part of it: a nested value has none.
  EXPECT_EQ(get<AgentUpdate>(decode("\t " + bytes + "\r\n ").body).update.text, bytes);
}

// An unknown frame becomes a member of a known one: it must fit there as well.
TEST(WireFrame, X25_an_unknown_kind_of_any_depth_can_be_written_again) {
  for (std::size_t depth = json_depth_max - 3; depth < json_depth_max; ++depth) {
    const std::string bytes = R"({"v":1,"kind":"agent.dreamt","x":)" + std::string(depth, '[') +
                              std::string(depth, ']') + "}";
    const Frame frame = decode(bytes);
    const auto again = decode_frame(encode_frame(frame.run, frame.body));
    ASSERT_TRUE(again.has_value()) << depth << again.error().message();
    EXPECT_EQ(again->body, frame.body);
    EXPECT_TRUE(get<AgentUpdate>(again->body).update.text.contains("agent.dreamt"));
  }
}

TEST(WireFrame, unknown_members_are_passed_over_at_any_depth) {
  const Frame frame =
      decode(R"({"later":{"x":1},"v":1,"kind":"permission.asked","request":"r","options":)"
             R"([{"option_id":"a","colour":"red","kind":"allow_once"}],"mood":"good"})");
  const auto& asked = get<FramePermission>(frame.body);
  EXPECT_EQ(asked.request, "r");
  EXPECT_EQ(asked.options, (std::vector<PermissionOption>{{"a", "", "allow_once"}}));
}

TEST(WireFrame, X32_refuses_a_later_version) {
  EXPECT_EQ(error_of(R"({"v":2,"kind":"plan"})").code(), Code::format_too_new);
  EXPECT_EQ(error_of(R"({"v":2,"kind":"agent.dreamt"})").code(), Code::format_too_new);
  EXPECT_EQ(error_of(R"({"v":9223372036854775807})").code(), Code::format_too_new);
}

TEST(WireFrame, says_what_is_wrong_with_garbage) {
  const auto message = [](std::string_view bytes) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.code(), Code::invalid_argument) << bytes;
    return error.message();
  };
  EXPECT_EQ(message("[]"), "expected an object");
  EXPECT_EQ(message("{}"), "v: expected a frame version");
  EXPECT_EQ(message(R"({"v":0,"kind":"plan"})"), "v: expected a frame version");
  EXPECT_EQ(message(R"({"v":-1,"kind":"plan"})"), "v: expected a frame version");
  EXPECT_EQ(message(R"({"v":"1","kind":"plan"})"), "v: expected a frame version");
  EXPECT_EQ(message(R"({"v":1})"), "kind: expected a string");
  EXPECT_EQ(message(R"({"v":1,"kind":null})"), "kind: expected a string");
  EXPECT_EQ(message(R"({"v":1,"kind":"plan","kind":"plan"})"), "kind: it is there twice");
  EXPECT_EQ(message(R"({"v":1,"kind":"plan","text":7})"), "text: expected a string");
  EXPECT_EQ(message(R"({"v":1,"kind":"session.opened","method":"by_magic"})"),
            "method: 'by_magic' is not known");
  EXPECT_EQ(message(R"({"v":1,"kind":"usage","used":"many"})"), "used: expected a whole number");
  EXPECT_TRUE(message(R"({"v":1,"kind":"plan","run_id":"exec_1"})").starts_with("run_id: "));
  for (const std::string_view garbage : {"", " ", "{", "nonsense", "\xff\xfe", "1", "null",
                                         "{\"v\":1,}", "{\"v\":1,\"kind\":\"plan\"} x"}) {
    message(garbage);
  }
}

TEST(WireFrame, a_cut_frame_is_no_frame) {
  for (std::size_t kind = 0; kind < FrameBody::size; ++kind) {
    const std::string bytes = encode_frame(run, RandomFields(3).make_alternative<FrameBody>(kind));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_FALSE(decode_frame(std::string_view(bytes).substr(0, size)).has_value()) << size;
    }
  }
}

RC_GTEST_PROP(WireFrameProperty, flipped_bytes_never_crash_and_read_back, ()) {
  const auto kind = *rc::gen::inRange<std::size_t>(0, FrameBody::size);
  std::string bytes =
      encode_frame(run, RandomFields(*rc::gen::arbitrary<std::uint64_t>(), RandomFields::Fill::some)
                            .make_alternative<FrameBody>(kind));
  for (auto flips = *rc::gen::inRange(1, 4); flips > 0; --flips) {
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  const auto frame = decode_frame(bytes);
  if (!frame) return;
  const std::string written = encode_frame(frame->run, frame->body);
  const auto again = decode_frame(written);
  RC_ASSERT(again.has_value());
  RC_ASSERT(encode_frame(again->run, again->body) == written);
}

}  // namespace
}  // namespace perdure
