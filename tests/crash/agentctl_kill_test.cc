// SIGKILL in the middle of turns: to the reader, and to the agentctl itself. Afterwards every frame
// was read exactly once, in order, and no process is left (PROC4, PROC5, PROC6). Number of kills:
// PERDURE_READER_KILLS and PERDURE_AGENTCTL_KILLS.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/hosting/spool_reader.h"
#include "driver.h"
#include "env/posix/files/folder.h"
#include "testing/sequence.h"

extern char** environ;

namespace perdure {
namespace {

int wanted(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

// Living processes with this text in their environment.
int processes_with(const std::string& mark) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    found += text.find(mark) != std::string::npos ? 1 : 0;
  }
  return found;
}

class AgentctlKillLong : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "agentctl-kill-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    prepare_folder(folder_);
  }
  void TearDown() override {
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/agent/violations"));
    std::filesystem::remove_all(folder_);
  }

  DriverSetup setup(std::uint64_t number) {
    return {.folder = folder_,
            .agentctl = PERDURE_AGENTCTL,
            .number = number,
            .agent_command = {PERDURE_TESTAGENT, "--home", folder_ + "/agent"}};
  }

  // Whether the reader exits on its own within this time.
  static bool ends_within(pid_t reader, std::int64_t us) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, reader, 0));
    pollfd ended{.fd = pidfd, .events = POLLIN};
    const timespec wait{.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
    const bool has_ended = ppoll(&ended, 1, &wait, nullptr) > 0;
    close(pidfd);
    return has_ended;
  }
  bool journal_has_begun() const {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(folder_ + "/journal", none);
    return !none && bytes > 0;
  }

  pid_t start_reader(int epoch) {
    std::vector<std::string> words = {PERDURE_READER,
                                      folder_,
                                      std::to_string(epoch),
                                      PERDURE_AGENTCTL,
                                      "chunks 300 64; permission 1; tool 1; say 3",
                                      PERDURE_TESTAGENT,
                                      "--home",
                                      folder_ + "/agent"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    return pid;
  }

  std::string folder_;
  std::mt19937_64 dice_{20261115};
};

TEST_F(AgentctlKillLong, PROC5_killed_readers_lose_and_repeat_nothing) {
  const int kills = wanted("PERDURE_READER_KILLS", 100);
  int epoch = 0;
  for (int killed = 0; killed < kills;) {
    const pid_t reader = start_reader(++epoch);
    // The first reader starts the agentctl; it may be killed once it knows that.
    for (int left = 60'000; epoch == 1 && !journal_has_begun(); --left) {
      ASSERT_GT(left, 0) << "no frame in a minute";
      ASSERT_FALSE(ends_within(reader, 1'000));
    }
    ASSERT_FALSE(ends_within(reader, static_cast<std::int64_t>(dice_() % 40'000)));
    ASSERT_EQ(kill(reader, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    ASSERT_TRUE(WIFSIGNALED(status)) << "a reader ended by itself: " << WEXITSTATUS(status);
    ++killed;
  }
  std::ofstream(folder_ + "/finish") << "now";
  const pid_t reader = start_reader(++epoch);
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);

  DriverSetup last = setup(1);
  last.journal = folder_ + "/journal";
  Driver driver(last);
  for (std::size_t i = 0; i < driver.frames.size(); ++i) {
    ASSERT_EQ(driver.frames[i].number, i + 1);
  }
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  for (const auto& [number, turn] : *turns) EXPECT_TRUE(turn.ended) << number;
  EXPECT_EQ(driver.count("permission.asked"), turns->size());  // one question, one answer
  EXPECT_EQ(driver.count("run.finished"), turns->size());
  std::printf("%d readers killed, %zu frames, %zu turns\n", kills, driver.frames.size(),
              turns->size());
  driver.execution().attach(static_cast<std::uint64_t>(epoch) + 1, driver.frames.back().number);
  driver.stop();
  ASSERT_TRUE(driver.until_gone());
  EXPECT_EQ(processes_with("PERDURE_EXEC=" + driver.bootstrap().exec.text()), 0);
}

TEST_F(AgentctlKillLong, PROC4_a_killed_agentctl_leaves_its_frames_and_no_process) {
  const int kills = wanted("PERDURE_AGENTCTL_KILLS", 20);
  std::size_t frames = 0;
  std::size_t from_spool = 0;
  for (int number = 1; number <= kills; ++number) {
    Driver driver(setup(static_cast<std::uint64_t>(number)));
    driver.start();
    ASSERT_TRUE(driver.open_session());
    driver.prompt("spawn_child setsid; spawn_child child; chunks 1000000 64");
    ASSERT_TRUE(driver.until_frame("message.agent", 1 + dice_() % 2'000));
    const std::size_t seen = driver.frames.size();
    ASSERT_EQ(kill(static_cast<pid_t>(driver.attaches.back().pid), SIGKILL), 0);
    ASSERT_TRUE(driver.until_gone());
    from_spool += driver.frames.size() - seen;
    frames += driver.frames.size();
    for (std::size_t i = 0; i < driver.frames.size(); ++i) {
      ASSERT_EQ(driver.frames[i].number, i + 1);
    }
    const auto turns = testagent::read_sequence(driver.text());
    ASSERT_TRUE(turns) << turns.error().message();
    // The last entry left in the spool is the reader's last frame.
    const auto folder = PosixFolder::open(driver.bootstrap().spool_folder).value();
    auto spool = SpoolReader::create(*folder, driver.frames.back().number).value();
    const auto more = spool.next();
    ASSERT_TRUE(more && !*more);
    EXPECT_EQ(processes_with("PERDURE_EXEC=" + driver.bootstrap().exec.text()), 0);
    ASSERT_TRUE(driver.execution().remove());
    EXPECT_FALSE(std::filesystem::exists(driver.bootstrap().spool_folder));
  }
  std::printf("%d agentctls killed, %zu frames, %zu of them after the kill\n", kills, frames,
              from_spool);
}

}  // namespace
}  // namespace perdure
