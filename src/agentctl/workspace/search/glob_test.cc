// Name patterns, as a table; and one for which a backtracking matcher would hang.
#include "agentctl/workspace/search/glob.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace perdure {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view path;
  bool matches;
};

TEST(Glob, matches_as_people_expect) {
  const Case cases[] = {
      {"*.cc", "a.cc", true},
      {"*.cc", "src/deep/a.cc", true},
      {"*.cc", "a.cch", false},
      {"?.cc", "ab.cc", false},
      {"src/*.cc", "src/a.cc", true},
      {"src/*.cc", "src/x/a.cc", false},
      {"src/**", "src/x/a.cc", true},
      {"src/**/a.cc", "src/a.cc", true},
      {"src/**/a.cc", "src/x/y/a.cc", true},
      {"src/**/a.cc", "src/xa.cc", false},
      {"**/a", "a", true},
      {"**/a", "b/a", true},
      {"**/a", "ba", false},
      {"/a", "a", true},
      {"/a", "b/a", false},
      {"[a-c]x", "bx", true},
      {"[!a-c]x", "bx", false},
      {"[!a-c]x", "dx", true},
      {"[]]x", "]x", true},
      {"[x", "[x", true},
      {"a\\*b", "a*b", true},
      {"a\\*b", "axb", false},
      {"", "", true},
      {"*", "", true},
      {"?", "/", false},
      {"a**b", "axxb", true},
  };
  for (const auto& [pattern, path, matches] : cases) {
    EXPECT_EQ(glob_matches(pattern, path, LetterCase::exact), matches) << pattern << " " << path;
  }
  EXPECT_TRUE(glob_matches("ReadMe*", "README.md", LetterCase::ignored));
  EXPECT_TRUE(glob_matches("[a-z]*", "README", LetterCase::ignored));
  EXPECT_FALSE(glob_matches("ReadMe*", "README.md", LetterCase::exact));
}

TEST(Glob, many_stars_take_no_exponential_time) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(2000, 'a'), LetterCase::exact));
}

}  // namespace
}  // namespace perdure
