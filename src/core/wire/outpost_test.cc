// The outpost's lines: encoding and decoding, limits, and valid owners.
#include "core/wire/outpost.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(OutpostWire, L5_a_call_comes_back_as_it_was) {
  OutpostCall call{.id = 7,
                   .verb = OutpostVerb::read,
                   .exec = *ExecId::parse("exec_01ka3qq5rk0000000000000001"),
                   .owner = "fe.12",
                   .name = "segment",
                   .offset = 1UL << 40,
                   .branch = ""};
  const std::string line = encode_line(call);
  ASSERT_TRUE(line.ends_with('\n'));
  const Result<OutpostCall> back =
      decode_outpost_call(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->id, 7u);
  EXPECT_EQ(back->verb, OutpostVerb::read);
  EXPECT_EQ(back->exec, call.exec);
  EXPECT_EQ(back->offset, 1UL << 40);
  EXPECT_EQ(back->branch, "");
  EXPECT_FALSE(decode_outpost_call("{\"verb\":\"reboot\"}"));
}

TEST(OutpostWire, L5_another_version_is_refused_by_name) {
  const Result<OutpostHello> hello = decode_hello(R"({"v":2,"secret":"x"})");
  ASSERT_FALSE(hello);
  EXPECT_EQ(hello.error().code(), Code::format_too_new);
  EXPECT_FALSE(decode_hello("GET / HTTP/1.1"));
}

TEST(OutpostWire, L5_lines_are_cut_anywhere_and_bounded) {
  OutpostLines lines(8);
  lines.add("on");
  ASSERT_TRUE(lines.next());
  EXPECT_FALSE(*lines.next());
  lines.add("e\ntwo\nrest");
  EXPECT_EQ(**lines.next(), "one");
  EXPECT_EQ(**lines.next(), "two");
  EXPECT_FALSE(*lines.next());
  EXPECT_EQ(lines.take_rest(), "rest");
  lines.add("123456789");
  const auto too_long = lines.next();
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code(), Code::limit_reached);
}

TEST(OutpostWire, L5_an_owner_is_the_name_of_a_folder_and_never_a_way_out) {
  EXPECT_TRUE(is_owner("fe01.1a2b"));
  for (const char* const bad : {"", ".", "..", "a/b", "../x", ".hidden"}) {
    EXPECT_FALSE(is_owner(bad)) << bad;
  }
}

}  // namespace
}  // namespace perdure
