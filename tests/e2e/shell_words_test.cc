// The parser of command lines against real shells: every shell on this machine runs what an allow
// rule considers a simple command as exactly that command.
#include "core/rules/shell_words.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon_process.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class RealShell : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("perdure-shell-words-" + std::to_string(getpid()));
    fs::create_directories(folder_ / "bin");
    fs::create_directories(folder_ / "work");
    // Files that a glob would match.
    for (const char* const name : {"a", "b", "-", "ab"}) std::ofstream(folder_ / "work" / name);
    const fs::path show = folder_ / "bin" / "show";
    std::ofstream(show) << "#!/bin/sh\nfor word in show \"$@\"; do printf '[%s]' \"$word\"; done\n";
    fs::permissions(show, fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string run(const std::string& shell, const std::string& text) const {
    return run_program({shell, "-c", "cd \"$WORK\" || exit 9\n" + text},
                       {"PATH=" + (folder_ / "bin").string() + ":/usr/bin:/bin", "HOME=/nowhere",
                        "WORK=" + (folder_ / "work").string()})
        .output;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_ / "work"), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::string shown(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += "[" + word + "]";
  return text;
}

TEST_F(RealShell, RULE1_what_is_simple_runs_as_exactly_these_words_in_every_shell) {
  std::vector<std::string> shells;
  for (const char* const shell : {"/bin/sh", "/bin/dash", "/bin/bash", "/bin/zsh", "/bin/ksh"}) {
    if (fs::exists(shell)) shells.emplace_back(shell);
  }
  ASSERT_FALSE(shells.empty());
  static constexpr std::string_view letters = "ab=-./:%@+,_'\"'\" \\$`;|&<>(){}*?[]~!#^\n\t";
  std::mt19937_64 dice(19);  // NOLINT: the same texts in every run
  std::size_t tried = 0;
  while (tried < 250) {
    std::string text = "show ";
    for (std::size_t length = dice() % 12; length > 0; --length) {
      text += letters[dice() % (dice() % 3 != 0 ? 17 : letters.size())];
    }
    const auto words = simple_command(text);
    if (!words) continue;
    ++tried;
    for (const std::string& shell : shells) {
      ASSERT_EQ(run(shell, text), shown(*words)) << shell << ": " << text;
    }
  }
  EXPECT_EQ(files(), 4u) << "a redirection wrote a file";
}

}  // namespace
}  // namespace perdure
