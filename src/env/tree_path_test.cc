// Paths below a root: any input gives a clean path, and names of any bytes survive conversion to
// text and back.
#include "env/tree_path.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"

namespace perdure {
namespace {

TEST(TreePath, drops_what_says_nothing) {
  EXPECT_EQ(TreePath::parse("a//b/./c/")->bytes(), "a/b/c");
  EXPECT_TRUE(TreePath::parse("")->is_root());
  EXPECT_TRUE(TreePath::parse("./.")->is_root());
  EXPECT_EQ(TreePath::parse("..a/b..")->bytes(), "..a/b..");
}

TEST(TreePath, refuses_ways_up_and_absolute_paths) {
  for (const std::string text : {"/etc/passwd", "/", "..", "a/..", "a/../b", "../a", "./../a"}) {
    const auto path = TreePath::parse(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().code(), Code::invalid_argument) << text;
  }
  EXPECT_FALSE(TreePath::parse(std::string("a\0b", 3)));
  EXPECT_FALSE(TreePath::parse(std::string(256, 'a')));
  EXPECT_TRUE(TreePath::parse(std::string(255, 'a')));
  std::string deep;
  for (int i = 0; i < 2100; ++i) deep += "a/";
  EXPECT_FALSE(TreePath::parse(deep));
}

TEST(TreePath, an_escape_cannot_smuggle_a_slash_or_a_dot) {
  for (const std::string text :
       {"a\\x2fb", "\\x2e\\x2e", "a\\", "a\\x", "a\\x8", "a\\n", "a\\xFF"}) {
    EXPECT_FALSE(TreePath::parse(text)) << text;
  }
}

TEST(TreePath, odd_names_have_readable_texts) {
  EXPECT_EQ(escape_name("caf\xc3\xa9 \xe2\x82\xac"), "caf\xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(escape_name("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(escape_name("a\\b"), "a\\\\b");
  EXPECT_EQ(escape_name("\xe2\x82"), "\\xe2\\x82");
}

RC_GTEST_PROP(TreePath, any_bytes_come_back, (const std::string& bytes)) {
  const std::string text = escape_name(bytes);
  RC_ASSERT(is_utf8(text));
  RC_ASSERT(unescape_name(text).value() == bytes);
}

RC_GTEST_PROP(TreePath, what_is_taken_is_clean, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "..", ".", "", "/", "b.c", "\xff", "..."));
  std::string text;
  for (const auto& part : parts) text += part + "/";
  const auto path = TreePath::from_bytes(text);
  if (!path) return;
  RC_ASSERT(TreePath::from_bytes(path->bytes())->bytes() == path->bytes());
  RC_ASSERT(!path->bytes().starts_with('/') && !path->bytes().ends_with('/'));
  RC_ASSERT(path->bytes().find("//") == std::string::npos);
  for (const TreePath& step : path->ancestors_and_self()) {
    RC_ASSERT(step.name() != ".." && step.name() != "." && !step.name().empty());
  }
}

TEST(TreePath, parent_child_and_ancestors_agree) {
  const TreePath path = *TreePath::parse("a/b/c");
  EXPECT_EQ(path.name(), "c");
  EXPECT_EQ(path.parent().bytes(), "a/b");
  EXPECT_EQ(path.parent().child("c"), path);
  EXPECT_EQ(path.ancestors_and_self().size(), 3U);
  EXPECT_TRUE(TreePath().parent().is_root());
}

}  // namespace
}  // namespace perdure
