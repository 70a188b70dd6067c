// Starts real processes: in place of the daemon, a script that counts its starts.
#include "client/autostart.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure::client {
namespace {

class Autostart : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "perdure-start-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // A daemon that records its start in a file and then counts as running.
  StartRequest daemon(const std::string& commands) const {
    StartRequest request;
    request.data_folder = folder + "/state";
    request.program = "/bin/sh";
    request.arguments = {"-c", commands, folder};
    request.ready_ms = 20'000;
    return request;
  }
  bool is_there() const { return std::filesystem::exists(folder + "/there"); }
  std::size_t starts() const {
    std::ifstream in(folder + "/starts");
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }

  std::string folder;
};

// $0 is the folder: the word after -c's commands.
constexpr const char* good = R"(echo "$PERDURE_HOME" >> "$0/starts"; sleep 0.2; touch "$0/there")";

TEST_F(Autostart, one_that_is_there_is_not_started) {
  std::ofstream(folder + "/there") << "";
  const auto outcome = ensure_daemon(daemon(good), [&] { return is_there(); });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, StartOutcome::was_there);
  EXPECT_EQ(starts(), 0U);
}

TEST_F(Autostart, starts_it_with_the_data_folder_and_makes_the_folder_private) {
  const auto outcome = ensure_daemon(daemon(good), [&] { return is_there(); });
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message();
  EXPECT_EQ(*outcome, StartOutcome::started);
  std::ifstream in(folder + "/starts");
  std::string home;
  std::getline(in, home);
  EXPECT_EQ(home, folder + "/state");
  struct stat state{};
  ASSERT_EQ(::stat((folder + "/state").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0700U);
}

TEST_F(Autostart, D4_many_at_the_same_time_start_one) {
  std::vector<Result<StartOutcome>> outcomes(8, StartOutcome::was_there);
  {
    std::vector<std::jthread> threads;
    for (auto& outcome : outcomes) {
      threads.emplace_back(
          [&] { outcome = ensure_daemon(daemon(good), [&] { return is_there(); }); });
    }
  }
  std::size_t started = 0;
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message();
    started += *outcome == StartOutcome::started ? 1 : 0;
  }
  EXPECT_EQ(started, 1U);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(Autostart, one_that_does_not_start_says_why) {
  const auto outcome =
      ensure_daemon(daemon(R"(echo "port is taken" >&2; exit 1)"), [&] { return is_there(); });
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code(), Code::unavailable);
  EXPECT_NE(outcome.error().message().find("port is taken"), std::string::npos);
}

TEST_F(Autostart, a_starter_that_hangs_is_not_waited_for) {
  StartRequest request = daemon("exec sleep 3");
  request.ready_ms = 100;
  const auto outcome = ensure_daemon(request, [&] { return is_there(); });
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code(), Code::unavailable);
}

}  // namespace
}  // namespace perdure::client
