// perdure-testagent as a process: behaviour that only a real process has. Every wait is for a
// condition with a deadline; every process that a test starts has ended when the test ends.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/agent_lines.h"
#include "testing/sequence.h"

namespace perdure::testagent {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto deadline = std::chrono::seconds(20);

bool wait_for(const std::function<bool()>& condition) {
  const auto end = Clock::now() + deadline;
  while (!condition()) {
    if (Clock::now() > end) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

class Agent {
 public:
  explicit Agent(const std::string& home, std::vector<std::string> switches = {}) {
    // Orphaned grandchildren become our children, so that none is left over.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::vector<std::string> words = {PERDURE_TESTAGENT, "--home", home};
    for (std::string& one : switches) {
      words.emplace_back("--switch");
      words.push_back(std::move(one));
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int in[2];
    int out[2];
    int err[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    if (posix_spawn(&pid_, words[0].c_str(), &files, nullptr, arguments.data(), environ)) {
      std::abort();
    }
    posix_spawn_file_actions_destroy(&files);
    agents().insert(pid_);
    close(in[0]), close(out[1]), close(err[1]);
    in_ = in[1], out_ = out[0], err_ = err[0];
    for (const int descriptor : {in_, out_, err_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
  ~Agent() {
    if (!status_) kill(pid_, SIGKILL), end();
    for (const int child : children()) kill(child, SIGKILL), waitpid(child, nullptr, 0);
    if (in_ >= 0) close(in_);
    close(out_), close(err_);
    agents().erase(pid_);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  int pid() const { return pid_; }
  void write(const std::string& line) {
    const std::string whole = line + "\n";
    ASSERT_EQ(::write(in_, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  }
  void close_input() { close(in_), in_ = -1; }
  std::string& out() { return read_all(), out_text_; }
  std::string& err() { return read_all(), err_text_; }
  bool out_has(std::string_view text) {
    return wait_for([&] { return out().find(text) != std::string::npos; });
  }
  // Waits for its end; returns the status from waitpid.
  int end() {
    const bool ended = wait_for([&] {
      read_all();
      int status = 0;
      if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
      return status_.has_value();
    });
    EXPECT_TRUE(ended);
    read_all();
    return status_.value_or(-1);
  }
  bool is_running() {
    int status = 0;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return !status_;
  }
  // Calls initialize and session/new; returns the session's id.
  std::string open() {
    write(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})");
    write(
        R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}})");
    EXPECT_TRUE(out_has("available_commands_update"));
    const std::size_t at = out().find("\"sessionId\":\"ta-");
    return at == std::string::npos ? "" : out().substr(at + 13, 19);
  }
  void prompt(const std::string& session, const std::string& text) {
    write(R"({"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":")" + session +
          R"(","prompt":[{"type":"text","text":")" + text + R"("}]}})");
  }
  // Children of the agent, or of this test if the agent has ended.
  std::vector<int> children() const {
    std::vector<int> found;
    for (const int parent : {pid_, getpid()}) {
      const std::string path =
          "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
      std::ifstream file(path);
      for (int child = 0; file >> child;) {
        if (!agents().contains(child)) found.push_back(child);
      }
    }
    return found;
  }

 private:
  // The agents that a test itself started.
  static std::set<int>& agents() {
    static std::set<int> pids;
    return pids;
  }
  static void read_some(int descriptor, std::string& text) {
    char bytes[1 << 16];
    for (ssize_t count = 0; (count = read(descriptor, bytes, sizeof bytes)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
  }
  void read_all() { read_some(out_, out_text_), read_some(err_, err_text_); }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> status_;
  std::string out_text_;
  std::string err_text_;
};

class TestagentProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "testagent-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    home_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(home_); }
  std::string file(const std::string& name) const {
    std::ifstream stream(home_ + "/" + name);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }

  std::string home_;
};

TEST_F(TestagentProcess, a_turn_over_pipes_and_a_clean_end) {
  Agent agent(home_);
  const std::string id = agent.open();
  agent.prompt(id, "say 3; sleep_tool 30; say 1");
  ASSERT_TRUE(agent.out_has("\"stopReason\":\"end_turn\""));
  agent.close_input();
  EXPECT_EQ(agent.end(), 0);
  EXPECT_THAT(file(id + ".json"), HasSubstr("sleep_tool 30"));
}

TEST_F(TestagentProcess, X2_a_killed_agent_comes_back_with_load) {
  std::string id;
  {
    Agent agent(home_);
    id = agent.open();
    agent.prompt(id, "say 2; crash");
    EXPECT_EQ(agent.end(), SIGKILL);
    EXPECT_THAT(agent.out(), HasSubstr("<p1:2>"));
  }
  Agent agent(home_);
  agent.write(R"({"jsonrpc":"2.0","id":9,"method":"session/load","params":{"sessionId":")" + id +
              R"(","cwd":"/","mcpServers":[]}})");
  EXPECT_TRUE(agent.out_has("\"id\":9,\"result\""));
  EXPECT_THAT(agent.out(), HasSubstr("user_message_chunk"));
}

TEST_F(TestagentProcess, P1_crash_at_ends_by_its_signal) {
  Agent killed(home_, {"crash_at=4"});
  killed.prompt(killed.open(), "say 9");
  EXPECT_EQ(killed.end(), SIGKILL);
  EXPECT_EQ(std::ranges::count(killed.out(), '\n'), 4);
  Agent aborted(home_, {"crash_at=1:abort"});
  aborted.write(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  EXPECT_EQ(WTERMSIG(aborted.end()), SIGABRT);
}

TEST_F(TestagentProcess, sigterm_ends_it_unless_it_ignores_it) {
  Agent decent(home_);
  decent.open();
  kill(decent.pid(), SIGTERM);
  EXPECT_EQ(decent.end(), 0);
  Agent stubborn(home_, {"ignores_sigterm", "exit_on_eof=no"});
  const std::string id = stubborn.open();
  kill(stubborn.pid(), SIGTERM);
  stubborn.prompt(id, "say 1");
  EXPECT_TRUE(stubborn.out_has("end_turn"));
  stubborn.close_input();
  EXPECT_TRUE(stubborn.is_running());
  kill(stubborn.pid(), SIGKILL);
  EXPECT_EQ(stubborn.end(), SIGKILL);
}

TEST_F(TestagentProcess, P4_X17_children_outlive_their_parent) {
  {
    Agent agent(home_, {"fork_child=child"});
    const std::string id = agent.open();
    agent.prompt(id, "spawn_child");
    ASSERT_TRUE(agent.out_has("end_turn"));
    ASSERT_TRUE(wait_for([&] { return agent.children().size() == 2; }));
    const std::vector<int> children = agent.children();
    EXPECT_EQ(std::ranges::count_if(children, [](int pid) { return getsid(pid) == pid; }), 1);
    kill(agent.pid(), SIGKILL);
    agent.end();
    // Both are our children now and alive; the agent's lock was released nevertheless.
    EXPECT_EQ(agent.children(), children);
    Agent next(home_);
    next.write(R"({"jsonrpc":"2.0","id":9,"method":"session/load","params":{"sessionId":")" + id +
               R"(","cwd":"/","mcpServers":[]}})");
    EXPECT_TRUE(next.out_has("\"id\":9,\"result\""));
  }
  EXPECT_EQ(file("violations"), "");
}

TEST_F(TestagentProcess, X17_reexec_leaves_the_real_agent_when_only_the_launcher_dies) {
  Agent agent(home_, {"fork_child=reexec"});
  const std::string id = agent.open();
  ASSERT_EQ(agent.children().size(), 1U);
  kill(agent.pid(), SIGKILL);
  EXPECT_EQ(agent.end(), SIGKILL);
  agent.prompt(id, "say 1");
  EXPECT_TRUE(agent.out_has("end_turn"));
}

TEST_F(TestagentProcess, P8_stdout_noise_and_a_last_line_without_its_end) {
  Agent agent(home_, {"stdout_noise=banner,ansi,crlf,no_final_newline"});
  agent.open();
  agent.close_input();
  EXPECT_EQ(agent.end(), 0);
  EXPECT_TRUE(agent.out().starts_with("Welcome"));
  EXPECT_THAT(agent.out(), HasSubstr("}\r\n"));
  EXPECT_TRUE(agent.out().ends_with("}}}"));
}

TEST_F(TestagentProcess, floods_stderr_while_it_answers) {
  Agent agent(home_, {"floods_stderr=5000000"});
  agent.open();
  EXPECT_TRUE(wait_for([&] { return agent.err().size() == 5'000'000; }));
}

TEST_F(TestagentProcess, never_reads_stdin_lets_the_pipe_fill_up) {
  Agent agent(home_, {"never_reads_stdin=2"});
  agent.open();
  const std::string line(4096, 'x');
  const int descriptor =
      open(("/proc/" + std::to_string(agent.pid()) + "/fd/0").c_str(), O_WRONLY | O_NONBLOCK);
  ASSERT_GE(descriptor, 0);
  EXPECT_TRUE(wait_for([&] { return ::write(descriptor, line.data(), line.size()) < 0; }));
  close(descriptor);
  EXPECT_TRUE(agent.is_running());
}

TEST_F(TestagentProcess, P7_a_flood_waits_for_its_reader_and_can_be_cancelled) {
  Agent agent(home_);
  const std::string id = agent.open();
  agent.prompt(id, "flood 1000000000");
  ASSERT_TRUE(agent.out_has("<p1:3>"));
  agent.write(R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":")" + id +
              R"("}})");
  EXPECT_TRUE(agent.out_has("cancelled"));
  EXPECT_LT(agent.out().size(), 500'000'000U);
}

TEST_F(TestagentProcess, PROC1_two_processes_of_one_session) {
  Agent first(home_);
  const std::string id = first.open();
  first.prompt(id, "say 1");
  ASSERT_TRUE(first.out_has("end_turn"));
  Agent second(home_);
  second.write(R"({"jsonrpc":"2.0","id":9,"method":"session/load","params":{"sessionId":")" + id +
               R"(","cwd":"/","mcpServers":[]}})");
  EXPECT_EQ(WEXITSTATUS(second.end()), 70);
  EXPECT_THAT(file("violations"), HasSubstr("PROC1 two processes at once for " + id));
}

TEST_F(TestagentProcess, nonsense_on_the_command_line_is_a_usage_error) {
  Agent agent(home_, {"fly"});
  EXPECT_EQ(WEXITSTATUS(agent.end()), 64);
  EXPECT_THAT(agent.err(), HasSubstr("there is no switch 'fly'"));
}

}  // namespace
}  // namespace perdure::testagent
