// White-box test for agentctl: it is killed, or stopped for a while, exactly at each of its
// failpoints (base/failpoint.h). Afterwards every frame was read exactly once and in order, no
// process is left, and the session's next execution works.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "daemon/hosting/spool_reader.h"
#include "driver.h"
#include "env/posix/files/folder.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

std::string test_name(const testing::TestParamInfo<std::string_view>& point) {
  std::string name(point.param);
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
}

// Living processes with this text in their environment.
std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.find(mark) == std::string::npos) continue;
    found.push_back(static_cast<pid_t>(std::atoi(entry.path().filename().c_str())));
  }
  return found;
}

bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t behind_name = text.rfind(") ");
  return behind_name != std::string::npos && text.substr(behind_name + 2, 1) == "T";
}

// Hits to skip before the one that counts, so that a turn is under way.
std::string passes(std::string_view point) {
  if (point.starts_with("agentctl.")) return "";
  return point.starts_with("command.") ? "2*off->" : "10*off->";
}

class AgentctlFailpointLong : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "agentctl-point-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    prepare_folder(folder_);
  }
  void TearDown() override {
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/agent/violations"));
    // Left by a failed test.
    for (const std::uint64_t number : {1UL, 2UL}) {
      const std::string exec = make_bootstrap(setup(number)).exec.text();
      for (const pid_t pid : processes_with("PERDURE_EXEC=" + exec)) kill(pid, SIGKILL);
    }
    std::filesystem::remove_all(folder_);
  }

  DriverSetup setup(std::uint64_t number, const std::string& points = {}) const {
    DriverSetup made{.folder = folder_,
                     .agentctl = PERDURE_AGENTCTL,
                     .number = number,
                     .agent_command = {PERDURE_TESTAGENT, "--home", folder_ + "/agent"}};
    if (points.empty()) return made;
    made.adjust_setting = [points](LocalSetting& setting) {
      setting.environment.push_back("FAILPOINT=" + points);
    };
    return made;
  }
  // The usual start and one turn; each step starts as soon as the previous one is reported.
  static void work(Driver& driver) {
    driver.on_each = [&driver](const Frame& frame) {
      const std::string_view kind = frame_kind(frame);
      if (kind == "executor.ready") driver.command(StartAgent{});
      if (kind == "agent.started") driver.command(OpenSession{});
      if (kind == "session.opened") driver.prompt("paced 100 5; tool 1; say 3");
    };
    driver.start();
  }
  static void expect_read_once(const Driver& driver) {
    for (std::size_t i = 0; i < driver.frames.size(); ++i) {
      ASSERT_EQ(driver.frames[i].number, i + 1);
    }
    const auto turns = testagent::read_sequence(driver.text());
    EXPECT_TRUE(turns) << turns.error().message();
  }
  // The spool's last entry is the reader's last frame.
  static void expect_spool_read(const Driver& driver) {
    const auto folder = PosixFolder::open(driver.bootstrap().spool_folder);
    if (!folder) return;  // it was never created
    const FrameNo last = driver.frames.empty() ? 0 : driver.frames.back().number;
    auto spool = SpoolReader::create(**folder, last);
    ASSERT_TRUE(spool) << spool.error().message();
    const auto more = spool->next();
    EXPECT_TRUE(more && !*more);
  }

  std::string folder_;
};

TEST_P(AgentctlFailpointLong, PROC3_PROC4_PROC5_PROC6_death_at_a_marked_place) {
  const std::string point(GetParam());
  Driver driver(setup(1, point + "=" + passes(point) + "1*kill"));
  work(driver);
  ASSERT_TRUE(driver.until_gone()) << "the point was not met: " << driver.frames.size();
  EXPECT_EQ(driver.count("run.finished"), 0U) << "it died on its way";
  expect_read_once(driver);
  expect_spool_read(driver);
  EXPECT_TRUE(processes_with("PERDURE_EXEC=" + driver.bootstrap().exec.text()).empty());

  Driver next(setup(2));
  next.start();
  ASSERT_TRUE(next.open_session());
  ASSERT_TRUE(next.run("say 2"));
  next.stop();
  ASSERT_TRUE(next.until_gone());
}

TEST_P(AgentctlFailpointLong, C19_PROC5_a_pause_at_a_marked_place_loses_nothing) {
  const std::string point(GetParam());
  Driver driver(setup(1, point + "=" + passes(point) + "1*stop"));
  work(driver);
  const std::string mark = "PERDURE_EXEC=" + driver.bootstrap().exec.text();
  pid_t stopped = 0;
  ASSERT_TRUE(driver.until([&] {
    for (const pid_t pid : processes_with(mark)) stopped = is_stopped(pid) ? pid : stopped;
    return stopped != 0;
  })) << "the point was not met";
  driver.loop->pump_for_ms(300);  // silence must not be taken for death
  EXPECT_FALSE(driver.gone);
  ASSERT_EQ(kill(stopped, SIGCONT), 0);
  ASSERT_TRUE(driver.until_frame("run.finished"));
  expect_read_once(driver);
  EXPECT_EQ(driver.detaches, 0U);
  driver.stop();
  ASSERT_TRUE(driver.until_gone());
}

INSTANTIATE_TEST_SUITE_P(Points, AgentctlFailpointLong,
                         testing::ValuesIn(agentctl_failpoint_names()), test_name);

}  // namespace
}  // namespace perdure
