// See fixture.h. Looks at /proc only for processes that carry the mark of the test's executions.
#include "fixture.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/process/proc.h"

namespace perdure {

void Agentctl::SetUp() {
  std::string name = testing::TempDir() + "agentctl-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  prepare_folder(folder_);
}

void Agentctl::TearDown() {
  if (driver_) stop(*driver_);
  driver_.reset();
  EXPECT_FALSE(std::filesystem::exists(home("violations"))) << read_whole(home("violations"));
  std::filesystem::remove_all(folder_);
}

DriverSetup Agentctl::setup(const std::vector<std::string>& switches) {
  DriverSetup setup{.folder = folder_, .agentctl = PERDURE_AGENTCTL};
  setup.agent_command = {PERDURE_TESTAGENT, "--home", folder_ + "/agent"};
  for (const std::string& one : switches) {
    setup.agent_command.emplace_back("--switch");
    setup.agent_command.push_back(one);
  }
  return setup;
}

Driver& Agentctl::begin(DriverSetup setup) {
  executions_ = setup.number;
  driver_ = std::make_unique<Driver>(std::move(setup));
  driver_->start();
  return *driver_;
}

Driver& Agentctl::begin_next(const std::vector<std::string>& switches, const Adjust& adjust) {
  DriverSetup next = setup(switches);
  next.number = executions_ + 1;
  next.adjust = adjust;
  return begin(std::move(next));
}

bool Agentctl::start_agent(Driver& driver) {
  if (!driver.until_frame("executor.ready")) return false;
  driver.command(StartAgent{});
  return driver.until_frame("agent.started", driver.count("agent.started") + 1);
}

bool Agentctl::open(Driver& driver, OpenSession command) {
  const std::size_t opened = driver.count("session.opened");
  const std::size_t failed = driver.count("session.open_failed");
  driver.command(std::move(command));
  driver.until([&] {
    return driver.count("session.opened") > opened || driver.count("session.open_failed") > failed;
  });
  return driver.count("session.opened") > opened;
}

void Agentctl::stop(Driver& driver) {
  if (driver.gone) return;
  driver.acks = true;
  if (!driver.frames.empty()) driver.execution().ack(driver.frames.back().number);
  driver.stop();
  EXPECT_TRUE(driver.until_gone()) << "it does not stop";
  EXPECT_TRUE(exec_processes(driver).empty());
}

std::string Agentctl::lived(const std::vector<std::string>& prompts) {
  Driver& driver = begin_next();
  EXPECT_TRUE(driver.open_session());
  for (const std::string& prompt : prompts) EXPECT_TRUE(driver.run(prompt));
  const auto* opened = driver.last<FrameSessionOpened>();
  const std::string id = opened ? opened->agent_session_id : "";
  stop(driver);
  return id;
}

std::string Agentctl::call(Driver& driver, std::string_view method, const std::string& params) {
  const std::size_t before = driver.replies.size();
  const std::uint64_t number = driver.execution().call(method, params);
  if (!driver.until([&] { return driver.replies.size() > before; })) return "error: no reply";
  EXPECT_EQ(driver.replies.back().first, number);
  const Result<std::string>& result = driver.replies.back().second;
  return result ? *result : "error: " + std::string(code_name(result.error().code()));
}

void Agentctl::kill_agentctl() const { kill(agentctl_pid(), SIGKILL); }

void Agentctl::record(DriverSetup& setup) const {
  std::vector<std::string> command = {
      "/bin/sh", "-c", "tee -a \"$0.told\" | \"$@\" | tee -a \"$0.said\"", folder_ + "/record"};
  command.insert(command.end(), setup.agent_command.begin(), setup.agent_command.end());
  setup.agent_command = std::move(command);
}

std::vector<std::string> Agentctl::told(std::string_view text) const {
  return lines_with(folder_ + "/record.told", text);
}

std::vector<std::string> Agentctl::said(std::string_view text) const {
  return lines_with(folder_ + "/record.said", text);
}

std::vector<std::string> lines_with(const std::string& path, std::string_view text) {
  std::istringstream lines(read_whole(path));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<pid_t> marked_processes(const std::string& mark) {
  std::vector<pid_t> found;
  for (const ProcStat& process : all_processes()) {
    if (process.ended() || !environment_has(process, mark)) continue;
    found.push_back(static_cast<pid_t>(process.pid));
  }
  return found;
}

std::vector<pid_t> agent_processes(const Driver& driver) {
  return marked_processes("PERDURE_AGENT=" + driver.bootstrap().exec.text());
}

std::vector<pid_t> exec_processes(const Driver& driver) {
  return marked_processes("PERDURE_EXEC=" + driver.bootstrap().exec.text());
}

std::uint64_t status_kib(pid_t pid, std::string_view name) {
  std::istringstream lines(read_whole("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(name) + ":")) continue;
    return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10);
  }
  return 0;
}

std::uint64_t folder_bytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;  // a segment may be acked and deleted at the same time
    const std::uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

Ran run_agentctl(const std::string& folder, const std::string& verb, const std::string& input) {
  const std::string file = folder + "/stdin";
  std::ofstream(file, std::ios::binary) << input;
  const std::string line = std::string(PERDURE_AGENTCTL) + " " + verb + " < " + file + " 2>&1";
  Ran ran;
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (!pipe) return ran;
  char bytes[4096];
  while (const std::size_t got = std::fread(bytes, 1, sizeof bytes, pipe)) {
    ran.output.append(bytes, got);
  }
  const int status = pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace perdure
