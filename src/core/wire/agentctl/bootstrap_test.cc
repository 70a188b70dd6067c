// The message that starts an agentctl and its answer: both decode to what was encoded, and an
// agentctl that does not understand the whole message does not start.
#include "core/wire/agentctl/bootstrap.h"

#include <string>

#include <gtest/gtest.h>

#include "testing/random_fields.h"

namespace perdure {
namespace {

// Compared as text: the structs have no operator==, and only their field lists matter.
Bootstrap any_bootstrap(std::uint64_t seed, RandomFields::Fill fill) {
  RandomFields random(seed, fill);
  auto out = random.make<Bootstrap>();
  out.version = bootstrap_version;
  out.session = random.make<SessionId>();
  out.exec = random.make<ExecId>();
  out.gen = 1 + random.below(9);
  for (std::string* text : {&out.secret, &out.run_folder, &out.spool_folder, &out.cwd}) {
    *text = random.make<std::string>();
  }
  out.spool_bytes = 1 + random.below(1UL << 40);
  return out;
}

Bootstrap plain_bootstrap() {
  Bootstrap out;
  out.session = SessionId(Ulid{1, 1});
  out.exec = ExecId(Ulid{1, 2});
  out.gen = 3;
  out.secret = "s3cret";
  out.run_folder = "/run/p";
  out.spool_folder = "/var/p/spool";
  out.cwd = "/w/project";
  out.agent.command = {"agent", "--acp"};
  return out;
}

Error error_of(std::string_view text) {
  const auto decoded = decode_bootstrap(text);
  EXPECT_FALSE(decoded.has_value()) << text;
  return decoded ? Error(Code::internal, "decoded") : decoded.error();
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(WireBootstrap, reads_back) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto fill = seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some;
    const std::string text = encode_bootstrap(any_bootstrap(seed, fill));
    const auto decoded = decode_bootstrap(text);
    ASSERT_TRUE(decoded.has_value()) << text << decoded.error().message();
    ASSERT_EQ(encode_bootstrap(*decoded), text);
    ASSERT_EQ(text.find('\n'), std::string::npos);

    auto answer = RandomFields(seed, fill).make<BootstrapAnswer>();
    answer.version = bootstrap_version;
    const std::string answer_text = encode_bootstrap_answer(answer);
    const auto decoded_answer = decode_bootstrap_answer(answer_text);
    ASSERT_TRUE(decoded_answer.has_value()) << decoded_answer.error().message();
    ASSERT_EQ(encode_bootstrap_answer(*decoded_answer), answer_text);
  }
}

TEST(WireBootstrap, looks_like_this) {
  EXPECT_EQ(
      encode_bootstrap(plain_bootstrap()),
      R"({"v":1,"session_id":"sess_0000000000000g000000000001",)"
      R"("exec_id":"exec_0000000000000g000000000002","gen":3,"secret":"s3cret",)"
      R"("run_folder":"/run/p","spool_folder":"/var/p/spool","cwd":"/w/project",)"
      R"("survive":true,"spool_bytes":268435456,"orphan_ms":60000,"abandoned_ms":604800000,)"
      R"("idle_ms":600000,"agent":{"command":["agent","--acp"],"protocol_version":1,"times":)"
      R"({"initialize_ms":60000,"open_quiet_ms":90000,"load_settle_ms":300,)"
      R"("cancel_grace_ms":10000,"term_grace_ms":3000,"stop_grace_ms":2000,"stall_ms":600000,)"
      R"("backoff_ms":1000}}})");
  BootstrapAnswer answer{.instance = "i1", .url = "unix:/run/p/x.sock", .pid = 12};
  answer.pid_started = 345;
  answer.host_boot = "b";
  EXPECT_EQ(encode_bootstrap_answer(answer),
            R"({"v":1,"instance":"i1","agentctl_url":"unix:/run/p/x.sock","pid":12,)"
            R"("pid_started":345,"host_boot":"b"})");
}

TEST(WireBootstrap, what_is_left_out_has_its_default) {
  const std::string text =
      R"({"v":1,"session_id":"sess_0000000000000g000000000001",)"
      R"("exec_id":"exec_0000000000000g000000000002","gen":3,"secret":"s3cret",)"
      R"("run_folder":"/run/p","spool_folder":"/var/p/spool","cwd":"/w/project",)"
      R"("agent":{"command":["agent","--acp"]}})";
  const auto decoded = decode_bootstrap(text);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ(encode_bootstrap(*decoded), encode_bootstrap(plain_bootstrap()));
}

TEST(WireBootstrap, X32_refuses_another_version) {
  const std::string good = encode_bootstrap(plain_bootstrap());
  for (const std::string_view version : {"0", "2", "-1", "9223372036854775807"}) {
    EXPECT_EQ(error_of(with(good, "\"v\":1", "\"v\":" + std::string(version))).code(),
              Code::format_too_new);
  }
  EXPECT_EQ(decode_bootstrap_answer(R"({"v":2})").error().code(), Code::format_too_new);
}

// A later version may have moved or retyped anything: the version is checked before all else.
TEST(WireBootstrap, X32_another_version_is_named_whatever_else_is_in_it) {
  EXPECT_EQ(error_of(R"({"v":2,"gen":"three"})").code(), Code::format_too_new);
  EXPECT_EQ(decode_bootstrap_answer(R"({"v":2,"pid":"x"})").error().code(), Code::format_too_new);
}

TEST(WireBootstrap, a_missing_version_is_no_version) {
  EXPECT_EQ(error_of(with(encode_bootstrap(plain_bootstrap()), "\"v\":1,", "")).code(),
            Code::invalid_argument);
  EXPECT_EQ(decode_bootstrap_answer("{}").error().code(), Code::invalid_argument);
}

TEST(WireBootstrap, refuses_rules_that_it_does_not_know) {
  const std::string good = encode_bootstrap(plain_bootstrap());
  EXPECT_EQ(error_of(with(good, "\"gen\":3", "\"gen\":3,\"sandbox\":true")).code(),
            Code::format_too_new);
  const Error nested = error_of(with(good, "\"stall_ms\":", "\"nap_ms\":1,\"stall_ms\":"));
  EXPECT_EQ(nested.code(), Code::format_too_new);
  EXPECT_TRUE(nested.message().contains("nap_ms")) << nested.message();
  // The answer comes from an agentctl that may be newer than its daemon.
  EXPECT_TRUE(decode_bootstrap_answer(R"({"v":1,"instance":"i","mood":"good"})").has_value());
}

TEST(WireBootstrap, the_secret_is_not_in_an_error) {
  const std::string good = encode_bootstrap(plain_bootstrap());
  for (const std::string& text :
       {with(good, "\"secret\"", "\"secrets\""), with(good, "\"gen\":3", "\"gen\":\"s3cret\""),
        with(good, "\"v\":1", "\"v\":7"), good.substr(0, good.size() / 2)}) {
    EXPECT_FALSE(error_of(text).message().contains("s3cret")) << error_of(text).message();
  }
}

TEST(WireBootstrap, refuses_one_that_lacks_what_it_needs) {
  const auto code_without = [](auto take_out) {
    Bootstrap bootstrap = plain_bootstrap();
    take_out(bootstrap);
    return error_of(encode_bootstrap(bootstrap)).code();
  };
  EXPECT_EQ(code_without([](Bootstrap& b) { b.session = {}; }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.exec = {}; }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.gen = 0; }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.secret.clear(); }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.run_folder.clear(); }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.spool_folder.clear(); }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.cwd.clear(); }), Code::invalid_argument);
  EXPECT_EQ(code_without([](Bootstrap& b) { b.spool_bytes = 0; }), Code::invalid_argument);
}

TEST(WireBootstrap, garbage_is_an_error) {
  const std::string good = encode_bootstrap(plain_bootstrap());
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_EQ(error_of(std::string_view(good).substr(0, size)).code(), Code::invalid_argument);
  }
  for (const std::string_view garbage : {"[]", "null", "nonsense", "\xff", "{\"v\":1}{}"}) {
    EXPECT_EQ(error_of(garbage).code(), Code::invalid_argument) << garbage;
    EXPECT_FALSE(decode_bootstrap_answer(garbage).has_value()) << garbage;
  }
}

}  // namespace
}  // namespace perdure
