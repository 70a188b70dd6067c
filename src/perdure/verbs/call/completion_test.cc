// Completions, and whether the shells accept the scripts and man accepts the page.
#include "perdure/verbs/call/completion.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perdure/verbs/call/help.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

std::vector<std::string> offered(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const Candidate& candidate : complete_words(all_verbs(), words).candidates) {
    out.push_back(candidate.word);
  }
  return out;
}

TEST(Completion, verbs_options_and_places) {
  EXPECT_EQ(offered({"att"}), std::vector<std::string>{"attach"});
  EXPECT_EQ(offered({"session", "att"}), std::vector<std::string>{"attach"});
  EXPECT_EQ(offered({"token", ""}), (std::vector<std::string>{"create", "ls", "revoke"}));
  EXPECT_EQ(offered({"send", "x", "--st"}), std::vector<std::string>{"--steer"});
  EXPECT_EQ(offered({"completion", ""}), (std::vector<std::string>{"bash", "zsh", "fish"}));
  EXPECT_EQ(offered({"help", "resu"}), std::vector<std::string>{"resume"});
  EXPECT_TRUE(offered({"__"}).empty());
  EXPECT_TRUE(offered({"nonsense", "x", ""}).empty());
  EXPECT_FALSE(offered({""}).empty());
  EXPECT_FALSE(offered({}).empty());
}

TEST(Completion, what_only_the_daemon_knows) {
  const auto more = [](const std::vector<std::string>& words) {
    return complete_words(all_verbs(), words).more;
  };
  EXPECT_EQ(more({"attach", ""}), Completes::session);
  EXPECT_EQ(more({"send", "-w", ""}), Completes::session);
  EXPECT_EQ(more({"send", "x", ""}), Completes::nothing);
  EXPECT_EQ(more({"run", ""}), Completes::agent);
  EXPECT_EQ(more({"resume", "x", "--with", ""}), Completes::agent);
  EXPECT_EQ(more({"token", "revoke", ""}), Completes::token);
  EXPECT_EQ(more({"approve", ""}), Completes::permission);
  EXPECT_EQ(more({"new", "--title", ""}), Completes::nothing);
  EXPECT_EQ(more({"rename", "--", "-x", ""}), Completes::nothing);
}

class Script : public testing::Test {
 protected:
  // Runs the command with a file that holds the text as its last argument; returns the exit code.
  static int check(const std::string& command, const std::string& text) {
    std::string name = testing::TempDir() + "perdure-script-XXXXXX";
    const int fd = ::mkstemp(name.data());
    if (fd < 0) return -1;
    ::close(fd);
    std::ofstream(name) << text;
    const int status = std::system((command + " " + name).c_str());
    std::filesystem::remove(name);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static bool has(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
  }
};

TEST_F(Script, bash_takes_the_completion) {
  EXPECT_EQ(check("bash -n", completion_script("bash")), 0);
  EXPECT_NE(check("bash -n 2>/dev/null", "if ("), 0) << "the check sees nothing";
}

TEST_F(Script, bash_completes_with_it) {
  const std::string test = completion_script("bash") + R"(
perdure() { [[ "$*" == "__complete -- send par" ]] && printf 'parser\tabout\nother\t\n'; }
COMP_WORDS=(perdure send par)
COMP_CWORD=2
_perdure
[[ "${COMPREPLY[*]}" == parser ]]
)";
  EXPECT_EQ(check("bash", test), 0);
}

TEST_F(Script, zsh_takes_the_completion) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(check("zsh -n", completion_script("zsh")), 0);
}

TEST_F(Script, fish_takes_the_completion) {
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  EXPECT_EQ(check("fish -n", completion_script("fish")), 0);
}

TEST_F(Script, man_takes_the_page_without_a_warning) {
  if (!has("man") || !has("groff")) GTEST_SKIP() << "man or groff is not installed";
  const std::string page = man_page(all_verbs(), "1.0.0-rc.1");
  for (const Verb& verb : all_verbs()) {
    if (verb.is_hidden) continue;
    EXPECT_NE(page.find(".SS \"perdure " + std::string(verb.name)), std::string::npos);
  }
  const std::string command =
      "f() { w=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z \"$1\" 2>&1 >/dev/null); "
      "printf %s \"$w\" >&2; [ -z \"$w\" ]; }; f";
  EXPECT_EQ(check(command, page), 0);
  EXPECT_NE(check("exec 2>/dev/null; " + command, page + ".unknown_macro_x\n.ft NOSUCHFONT\n"), 0)
      << "the check sees nothing";
}

}  // namespace
}  // namespace perdure::cli
