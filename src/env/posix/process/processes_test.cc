// Children as the supervisor uses them: how they start, what they read and write, how they end.
#include "env/posix/process/processes.h"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "env/posix/fixture_for_test.h"
#include "env/posix/process/posix_process.h"
#include "env/posix/process/proc.h"

namespace perdure {

std::string posix_test::child_program() { return ENV_POSIX_CHILD; }

namespace {

using posix_test::open_descriptors;
using posix_test::ProcessTest;
using posix_test::Recorder;
using posix_test::Scratch;

class ChildProcess : public ProcessTest {
 protected:
  Code refused(const SpawnSpec& spec) {
    const auto process = processes_->spawn(spec, events_);
    EXPECT_FALSE(process);
    return process ? Code::internal : process.error().code();
  }
};

TEST_F(ChildProcess, output_then_its_end_then_the_exit) {
  const auto process = spawn({"talk", "out", "err", "7"});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, "out");
  EXPECT_EQ(events_.error_output, "err");
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 7}));
  EXPECT_EQ(events_.order.back(), "exit");
  const auto at = [&](const char* what) { return std::ranges::find(events_.order, what); };
  EXPECT_LT(at("output"), at("output_end"));
  EXPECT_LT(at("error_output"), at("exit"));
}

TEST_F(ChildProcess, P1_death_by_a_signal_is_told_as_such) {
  const auto process = spawn({"die", std::to_string(SIGABRT)});
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.signal = SIGABRT}));
}

TEST_F(ChildProcess, X31_the_child_gets_exactly_what_it_is_given) {
  setenv("PERDURE_TEST_SECRET", "leak", 1);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> leaky(std::fopen("/dev/null", "r"),
                                                              std::fclose);
  SpawnSpec spec = child({"tell"});
  spec.environment = {"ONE=1", "TWO=zwei"};
  spec.cwd = "/usr";
  signal(SIGUSR1, SIG_IGN);
  const auto process = spawn(spec);
  ASSERT_TRUE(until_exit());
  signal(SIGUSR1, SIG_DFL);
  unsetenv("PERDURE_TEST_SECRET");
  EXPECT_EQ(events_.output,
            "env ONE=1\nenv TWO=zwei\ncwd /usr\nsession 1\ngroup 1\numask 18\n"
            "fd 0\nfd 1\nfd 2\n");
}

TEST_F(ChildProcess, the_program_is_looked_up_in_the_path_it_is_given) {
  const Scratch scratch;
  mkdir(scratch.path("bin").c_str(), 0700);
  std::filesystem::create_symlink(posix_test::child_program(), scratch.path("bin/tool"));
  SpawnSpec spec{.command = {"tool", "talk", "found", "", "0"}, .cwd = scratch.path()};
  EXPECT_EQ(refused(spec), Code::not_found);
  spec.environment = {"PATH=/no/such:" + scratch.path("bin")};
  const auto absolute = spawn(spec);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, "found");
  events_ = {};
  spec.environment = {"PATH=/no/such:bin"};  // relative to the child's folder
  const auto relative = spawn(spec);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, "found");
  events_ = {};
  spec.command[0] = "bin/tool";
  const auto given = spawn(spec);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, "found");
}

TEST_F(ChildProcess, what_keeps_a_child_from_being_born_is_told_exactly) {
  const Scratch scratch;
  const std::size_t descriptors = open_descriptors();
  SpawnSpec spec = child({"echo"});
  spec.cwd = "/no/such/folder";
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec.cwd = "/proc/self/stat";
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec.cwd = "relative";
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec = child({"echo"});
  spec.command[0] = "no-such-program";
  EXPECT_EQ(refused(spec), Code::not_found);
  spec.command[0] = "/no/such/program";
  EXPECT_EQ(refused(spec), Code::not_found);
  spec.command[0] = "/etc/passwd";
  EXPECT_EQ(refused(spec), Code::denied);
  std::ofstream(scratch.path("text")) << "no program\n";
  chmod(scratch.path("text").c_str(), 0700);
  spec.command[0] = scratch.path("text");
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec.command = {};
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec = child({std::string("a\0b", 3)});
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec = child({"echo"});
  spec.environment = {"NO_VALUE"};
  EXPECT_EQ(refused(spec), Code::invalid_argument);
  spec = child({"echo", std::string(1 << 20, 'x')});
  EXPECT_EQ(refused(spec), Code::limit_reached);  // X31: too long for arguments
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_TRUE(events_.order.empty());
}

TEST_F(ChildProcess, input_is_echoed_until_it_is_closed) {
  const auto process = spawn({"echo"});
  std::string sent;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(1000, static_cast<char>('a' + i % 26));
    process->write(piece);
    sent += piece;
  }
  process->close_input();
  process->write("dropped");
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, sent);
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 0}));
  EXPECT_EQ(process->unwritten_bytes(), 0U);
  process->write("dropped too");
  EXPECT_EQ(process->unwritten_bytes(), 0U);
}

TEST_F(ChildProcess, input_that_nobody_reads_is_counted) {
  const auto process = spawn({"idle"});
  ASSERT_TRUE(until_output("ready"));
  const std::string block(1 << 20, 'x');
  process->write(block);
  process->write(block);
  const std::size_t unwritten = process->unwritten_bytes();
  EXPECT_LT(unwritten, 2 * block.size());  // the pipe took some
  EXPECT_GT(unwritten, block.size());
  for (int i = 0; i < 5; ++i) loop_->pump();
  EXPECT_EQ(process->unwritten_bytes(), unwritten);
  process->signal(SIGKILL);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(process->unwritten_bytes(), 0U);
}

TEST_F(ChildProcess, writing_to_a_child_that_has_closed_its_input_ends_nobody) {
  const auto process = spawn({"talk", "", "", "0"});
  std::string block(1 << 20, 'x');
  process->write(block);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(process->unwritten_bytes(), 0U);
}

// The child's 100 MB pass through one buffer; while output is paused the child blocks.
TEST_F(ChildProcess, P7_a_flood_meets_backpressure_and_flat_memory) {
  constexpr std::size_t flood_bytes = 100'000'000;
  struct Counter final : ProcessEvents {
    void on_output(std::string_view bytes) override { count += bytes.size(); }
    void on_error_output(std::string_view) override {}
    void on_output_end() override {}
    void on_exit(const ProcessExit& how) override { exit = how; }
    std::size_t count = 0;
    std::optional<ProcessExit> exit;
  } counter;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  auto process = processes_->spawn(child({"flood", std::to_string(flood_bytes)}), counter);
  ASSERT_TRUE(process);
  for (std::size_t pauses = 1; pauses <= 10; ++pauses) {
    ASSERT_TRUE(until([&] { return counter.count >= pauses * 5'000'000; }));
    (*process)->pause_output();
    const std::size_t paused_at = counter.count;
    for (int i = 0; i < 3; ++i) loop_->pump_for_ms(1);
    EXPECT_EQ(counter.count, paused_at);
    (*process)->resume_output();
  }
  ASSERT_TRUE(until([&] { return counter.exit.has_value(); }));
  EXPECT_EQ(counter.count, flood_bytes);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 4096) << "KiB more than before";
}

TEST_F(ChildProcess, the_exit_waits_for_output_that_is_paused) {
  const auto process = spawn({"talk", "late", "", "0"});
  process->pause_output();
  const auto ended = [&] { return read_proc_stat(process->pid()).value().ended(); };
  ASSERT_TRUE(until(ended));
  // Longer than the wait for pipes held by others: the caller may pause for any time.
  bool later = false;
  loop_->after_ms(2 * output_drain_ms, [&] { later = true; });
  ASSERT_TRUE(until([&] { return later; }));
  EXPECT_FALSE(events_.exit);
  EXPECT_EQ(events_.output, "");
  process->resume_output();
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.output, "late");
  EXPECT_EQ(events_.order, (std::vector<std::string>{"output", "output_end", "exit"}));
}

TEST_F(ChildProcess, a_grandchild_that_holds_the_pipes_delays_the_exit_a_little) {
  for (const std::string how : {"quiet", "loud"}) {
    events_ = {};
    const auto process = spawn({"hold", how});
    ASSERT_TRUE(until_exit()) << how;
    EXPECT_TRUE(events_.output.starts_with("mine")) << how;
    EXPECT_EQ(*events_.exit, (ProcessExit{.code = 3}));
    EXPECT_EQ(events_.order, (std::vector<std::string>{"output", "output_end", "exit"}));
  }
}

TEST_F(ChildProcess, P4_signals_go_to_the_whole_group_also_after_its_leader) {
  const auto process = spawn({"orphan"});
  ASSERT_TRUE(until_exit());
  const std::int64_t grandchild = events_.number();
  const auto ended = [&] {
    const auto stat = read_proc_stat(grandchild);
    return !stat || stat->ended();
  };
  EXPECT_FALSE(ended());
  process->signal(SIGTERM);
  EXPECT_TRUE(until(ended));
}

TEST_F(ChildProcess, P4_destroying_a_process_kills_its_group_and_leaves_no_zombie) {
  auto process = spawn({"stubborn"});
  ASSERT_TRUE(until_output("ready"));
  const std::int64_t pid = process->pid();
  process->signal(SIGTERM);
  process.reset();
  EXPECT_TRUE(until([&] { return !read_proc_stat(pid); }));
  EXPECT_FALSE(events_.exit);
}

TEST_F(ChildProcess, a_process_may_be_destroyed_by_its_own_event) {
  auto process = spawn({"flood", "1000000"});
  const std::int64_t pid = process->pid();
  events_.then = [&] { process.reset(); };
  EXPECT_TRUE(until([&] { return !read_proc_stat(pid); }));
  EXPECT_EQ(events_.order, (std::vector<std::string>{"output"}));
}

TEST_F(ChildProcess, P1_an_out_of_memory_kill_is_guessed_from_the_counter) {
  const Scratch scratch;
  const auto count = [&](int kills) {
    std::ofstream(scratch.path("events")) << "oom 9\noom_kill " << kills << "\n";
  };
  processes_ = PosixProcesses::create(*loop_, {.oom_counter = OomCounter(scratch.path("events"))});
  const auto killed = [&](int kills_after, auto kill_it) {
    count(3);
    events_ = {};
    const auto process = spawn({"idle"});
    EXPECT_TRUE(until_output("ready"));
    count(kills_after);
    kill_it(*process);
    EXPECT_TRUE(until_exit());
    EXPECT_EQ(events_.exit->signal, SIGKILL);
    return events_.exit->oom;
  };
  const auto stranger = [](Process& it) { kill(static_cast<pid_t>(it.pid()), SIGKILL); };
  const auto ourselves = [](Process& it) { it.signal(SIGKILL); };
  EXPECT_EQ(killed(4, stranger), OomEvidence::group);
  EXPECT_EQ(killed(3, stranger), OomEvidence::none);
  EXPECT_EQ(killed(4, ourselves), OomEvidence::none);
  // If only the machine has a counter, the evidence is as weak.
  processes_ = PosixProcesses::create(
      *loop_, {.oom_counter = OomCounter(scratch.path("events"), OomCounter::Scope::machine)});
  EXPECT_EQ(killed(4, stranger), OomEvidence::machine);
}

// A process that survived an out-of-memory kill for long was not its victim.
TEST_F(ChildProcess, P1_an_old_out_of_memory_kill_is_no_evidence) {
  const Scratch scratch;
  const auto count = [&](int kills) {
    std::ofstream(scratch.path("events")) << "oom_kill " << kills << "\n";
  };
  count(3);
  processes_ = PosixProcesses::create(*loop_, {.oom_counter = OomCounter(scratch.path("events"))});
  const auto process = spawn({"echo"});
  count(4);
  // It continues to write for longer than the interval between two readings.
  const std::int64_t end_ms = boottime_ms() + 2'500;
  ASSERT_TRUE(until([&] {
    process->write(".");
    return boottime_ms() >= end_ms;
  }));
  kill(static_cast<pid_t>(process->pid()), SIGKILL);
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.exit->oom, OomEvidence::none);
}

// The kernel's real OOM killer, in a memory group of the v1 hierarchy.
TEST_F(ChildProcess, P1_the_kernel_s_own_out_of_memory_kill_is_found) {
  const std::string group = own_cgroups().memory_v1 + "/perdure_test_" + std::to_string(getpid());
  if (own_cgroups().memory_v1.empty() || mkdir(group.c_str(), 0700) != 0) {
    GTEST_SKIP() << "no memory group of version 1 that we may write to";
  }
  const auto put = [&](const char* file, const std::string& text) {
    std::ofstream out(group + "/" + file);
    out << text << std::flush;
    return out.good();
  };
  const bool limited = put("memory.limit_in_bytes", "33554432");
  processes_ =
      PosixProcesses::create(*loop_, {.oom_counter = OomCounter(group + "/memory.oom_control")});
  auto process = spawn({"eat"});
  EXPECT_TRUE(until_output("ready"));
  const bool moved = put("cgroup.procs", std::to_string(process->pid()));
  if (limited && moved) {
    process->write("go");
    EXPECT_TRUE(until_exit());
    EXPECT_EQ(events_.exit->signal, SIGKILL);
    EXPECT_EQ(events_.exit->oom, OomEvidence::group);
  }
  const std::int64_t pid = process->pid();
  process.reset();
  EXPECT_TRUE(until([&] { return !read_proc_stat(pid); }));
  EXPECT_TRUE(until([&] { return rmdir(group.c_str()) == 0; }));
  if (!limited || !moved) GTEST_SKIP() << "the group takes no limit or no member";
}

TEST_F(ChildProcess, a_thousand_spawns_leave_nothing_behind) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    events_ = {};
    const auto process = spawn({"talk", "x", "y", "0"});
    ASSERT_TRUE(until_exit());
  }
  ASSERT_TRUE(until([&] { return open_descriptors() == before; }));
  for (const ProcStat& process : all_processes()) EXPECT_NE(process.parent, getpid());
}

TEST_F(ChildProcess, PTY_a_terminal_echoes_and_tells_its_size) {
  SpawnSpec spec = child({"terminal"});
  spec.terminal = TerminalSize{.columns = 100, .rows = 30};
  const auto process = spawn(spec);
  ASSERT_TRUE(until_output("size 100x30\r\n"));
  EXPECT_TRUE(events_.output.starts_with("tty 1 foreground 1\r\n"));
  process->write("typed");
  ASSERT_TRUE(until_output("typed"));  // the terminal's own echo
  process->resize({.columns = 42, .rows = 7});
  ASSERT_TRUE(until_output("size 42x7\r\n"));
  process->close_input();  // no effect with a terminal
  process->write("\n\x04");
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(*events_.exit, (ProcessExit{.code = 0}));
  EXPECT_EQ(events_.order, (std::vector<std::string>{"output", "output_end", "exit"}));
}

TEST_F(ChildProcess, PTY_a_terminal_s_child_is_interrupted_by_a_key) {
  SpawnSpec spec = child({"idle"});
  spec.terminal = TerminalSize{};
  const auto process = spawn(spec);
  ASSERT_TRUE(until_output("ready"));
  process->write("\x03");
  ASSERT_TRUE(until_exit());
  EXPECT_EQ(events_.exit->signal, SIGINT);
}

}  // namespace
}  // namespace perdure
