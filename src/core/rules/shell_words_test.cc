// Command lines: which are simple, which commands a text contains, and that the two agree.
#include "core/rules/shell_words.h"

#include <random>

#include <gmock/gmock.h>

namespace perdure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Optional;

TEST(ShellWords, RULE1_a_simple_command_is_its_words) {
  EXPECT_THAT(simple_command("npm test"), Optional(ElementsAre("npm", "test")));
  EXPECT_THAT(simple_command("  npm   test "), Optional(ElementsAre("npm", "test")));
  EXPECT_THAT(simple_command("git commit -m 'two words; and $HOME'"),
              Optional(ElementsAre("git", "commit", "-m", "two words; and $HOME")));
  EXPECT_THAT(simple_command("pytest -k \"a or b\" --x=1 ./tests/a_test.py"),
              Optional(ElementsAre("pytest", "-k", "a or b", "--x=1", "./tests/a_test.py")));
  EXPECT_THAT(simple_command("tool --name='a b' ''"),
              Optional(ElementsAre("tool", "--name=a b", "")));
}

TEST(ShellWords, RULE1_text_that_a_shell_may_run_as_anything_else_is_not_simple) {
  for (const char* const text : {"",
                                 " ",
                                 "npm test; rm -rf /",
                                 "npm test && rm x",
                                 "npm test || rm x",
                                 "npm test | sh",
                                 "npm test & rm x",
                                 "npm test &",
                                 "npm test\nrm x",
                                 "npm test\r\nrm x",
                                 "npm test\trm",
                                 "npm test > /etc/passwd",
                                 "npm test 2>x",
                                 "npm test < x",
                                 "npm test $(rm x)",
                                 "npm test `rm x`",
                                 "npm test \"$(rm x)\"",
                                 "npm test \"`rm x`\"",
                                 "npm test $HOME",
                                 "npm test ${HOME}",
                                 "npm test \"$HOME\"",
                                 "npm test ~/x",
                                 "npm test *",
                                 "npm test a?",
                                 "npm test [a]",
                                 "npm test {a,b}",
                                 "npm test <(rm x)",
                                 "(npm test)",
                                 "{ npm test; }",
                                 "! npm test",
                                 "time npm test",
                                 "if npm test",
                                 "A=b npm test",
                                 "LD_PRELOAD=x npm test",
                                 "a[0]=b npm test",
                                 "=npm test",
                                 "npm =test",
                                 "npm test #x",
                                 "npm test \\; rm",
                                 "npm te\\st",
                                 "npm 'te\\'st",
                                 "npm 'a''b'",
                                 "npm 'test",
                                 "npm \"test",
                                 "np\"m\" test",
                                 "'npm' test",
                                 "npm !!",
                                 "npm \"!!\"",
                                 "npm %1",
                                 "npm t\xc3\xa9st",
                                 "npm t\xe2\x80\xae",
                                 "npm\x7f",
                                 "- npm test",
                                 "-x npm",
                                 ". ./x",
                                 "export A=b",
                                 "npm a^b"}) {
    EXPECT_EQ(simple_command(text), std::nullopt) << text;
  }
  EXPECT_EQ(simple_command(std::string("npm\0test", 8)), std::nullopt);
  EXPECT_EQ(simple_command("a " + std::string(command_text_bytes_max, 'b')), std::nullopt);
}

TEST(ShellWords, RULE1_a_list_of_words_reads_alike_in_a_shell) {
  EXPECT_THAT(simple_words({"npm", "test"}), Optional(ElementsAre("npm", "test")));
  for (const Words& words : {Words{}, Words{"npm", ""}, Words{"npm", "a b"}, Words{"npm", "$X"},
                             Words{"npm", "a;b"}, Words{"npm", "'a'"}, Words{"npm", "a\nb"}}) {
    EXPECT_EQ(simple_words(words), std::nullopt);
  }
}

TEST(ShellWords, RULE2_every_command_that_a_text_may_run_is_found) {
  const Words bad{"rm", "-rf", "/"};
  for (const char* const text : {"rm -rf /",
                                 "npm test; rm -rf /",
                                 "npm test;rm -rf /",
                                 "npm test && rm -rf / || true",
                                 "npm test\nrm -rf /",
                                 "cat x | rm -rf /",
                                 "x & rm -rf /",
                                 "echo $(rm -rf /)",
                                 "echo `rm -rf /`",
                                 "echo \"a $(rm -rf /)\"",
                                 "echo \"a `rm -rf /`\"",
                                 "(rm -rf /)",
                                 "{ rm -rf /; }",
                                 "if true; then rm -rf /; fi",
                                 "while rm -rf /; do true; done",
                                 "for x in a; do rm -rf /; done",
                                 "! rm -rf /",
                                 "A=b C=d rm -rf /",
                                 ">x rm -rf /",
                                 "2>/dev/null rm -rf /",
                                 "rm 2>&1 -rf /",
                                 "r\\m -rf /",
                                 "'rm' -r\"f\" /",
                                 "r'm' -rf \\\n /",
                                 "cat <(rm -rf /)",
                                 "sudo rm -rf /",
                                 "sudo -u root -- rm -rf /",
                                 "env A=b rm -rf /",
                                 "xargs -n 1 rm -rf /",
                                 "timeout 5 rm -rf /",
                                 "sh -c 'rm -rf /'",
                                 "bash -lc \"cd x && rm -rf /\"",
                                 "eval 'rm -rf /'",
                                 "eval rm -rf /",
                                 "/usr/bin/env sh -c 'rm -rf /'",
                                 "f() { rm -rf /; }; f"}) {
    const auto found = commands_within(text);
    EXPECT_TRUE(std::ranges::any_of(found, [&](const Words& words) {
      return has_program_prefix(words, bad);
    })) << text;
  }
  EXPECT_THAT(commands_within("git commit -m 'rm -rf /'"), Not(Contains(bad)))
      << "a message is no command";
  EXPECT_TRUE(has_program_prefix({"/bin/rm", "-rf"}, {"rm"}));
  EXPECT_FALSE(has_program_prefix({"rm"}, {"rm", "-rf"}));
}

TEST(ShellWords, RULE2_a_hostile_text_is_read_in_bounded_time) {
  std::string nested;
  while (nested.size() < 60'000) nested += "\"$(";
  EXPECT_LE(commands_within(nested).size(), 10'000u);
  std::string wrapped = "sudo";
  while (wrapped.size() < 60'000) wrapped += " sudo";
  EXPECT_LE(commands_within(wrapped).size(), 10'000u);
}

TEST(ShellWords, RULE1_RULE2_words_of_a_shell_hide_nothing_that_is_simple) {
  const std::string text = "o duenv A=b do sh";
  ASSERT_TRUE(simple_command(text));
  EXPECT_THAT(commands_within(text), Contains(*simple_command(text)));
}

// For any characters: a simple command has no special character outside its quotes, and the parser
// for deny rules finds the same words.
TEST(ShellWords, RULE1_RULE2_what_is_simple_is_found_with_the_same_words) {
  static constexpr std::string_view letters = "ab=-./:%'\"'\" \\$`;|&<>(){}*?[]~!#\n";
  std::mt19937_64 dice(7);  // NOLINT: the same texts in every run
  std::size_t simple = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string text = "a ";
    for (std::size_t length = dice() % 9; length > 0; --length) {
      text += letters[dice() % (dice() % 2 == 0 ? 14 : letters.size())];
    }
    const auto words = simple_command(text);
    if (!words) continue;
    ++simple;
    ASSERT_THAT(commands_within(text), Contains(*words)) << text;
    char quote = 0;
    for (const char c : text) {
      if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      } else if (quote == 0) {
        ASSERT_FALSE(std::string_view("\\$`;|&<>(){}*?[]~!#\n").contains(c)) << text;
      }
    }
    ASSERT_EQ(quote, 0) << text;
  }
  EXPECT_GT(simple, 1000u);
}

}  // namespace
}  // namespace perdure
