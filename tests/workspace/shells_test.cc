// Shells on real terminals: several at once, read from an offset, bounded, and ended when closed.
#include <signal.h>

#include "base/bytes/base64.h"
#include "base/limits.h"
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;

class WorkspaceShells : public WorkspaceFixture {
 protected:
  std::string open(std::string_view params) { return at(done("shell.open", params), "shell"); }
  std::string read_part(const std::string& shell, std::uint64_t offset) {
    return done("shell.read", R"({"shell":")" + shell + R"(","as":"base64","offset":)" +
                                  std::to_string(offset) + "}");
  }
  // Everything from an offset, in as many reads as needed; advances the offset.
  std::string read(const std::string& shell, std::uint64_t& offset) {
    std::string out;
    while (true) {
      const std::string part = read_part(shell, offset);
      const std::string bytes = base64_decode(at(part, "base64")).value();
      out += bytes;
      offset = std::stoull(at(part, "next_offset"));
      if (bytes.empty()) return out;
    }
  }
  bool wait_for(const std::string& shell, std::string_view text) {
    return run_until([&] {
      std::uint64_t offset = std::stoull(at(read_part(shell, 0), "offset"));
      return read(shell, offset).find(text) != std::string::npos;
    });
  }
  bool wait_for_exit(const std::string& shell) {
    return run_until([&] { return at(read_part(shell, 0), "exit") != "null"; });
  }
  void type(const std::string& shell, std::string_view text) {
    JsonWriter params;
    params.begin_object().key("shell").string(shell).key("text").string(text).end_object();
    done("shell.input", params.text());
  }
};

TEST_F(WorkspaceShells, L20_a_shell_runs_in_the_workspace_on_a_terminal) {
  fs::create_directories(root_ / "sub");
  const std::string shell =
      open(R"({"cwd":"sub","columns":101,"rows":33,"environment":["X=y=z"]})");
  type(shell, "pwd; stty size; echo \"$X $TERM\"; tty\n");
  EXPECT_TRUE(wait_for(shell, (root_ / "sub").string()));
  EXPECT_TRUE(wait_for(shell, "33 101"));
  EXPECT_TRUE(wait_for(shell, "y=z xterm-256color"));
  EXPECT_TRUE(wait_for(shell, "/dev/pts/"));
  done("shell.resize", R"({"shell":")" + shell + R"(","columns":44,"rows":22})");
  type(shell, "stty size\n");
  EXPECT_TRUE(wait_for(shell, "22 44"));
}

TEST_F(WorkspaceShells, several_live_side_by_side_and_are_listed) {
  const std::string one = open("{}");
  const std::string two = open(R"({"command":["/bin/sh","-c","echo ready; cat"]})");
  EXPECT_NE(one, two);
  EXPECT_TRUE(wait_for(two, "ready"));
  const std::string list = done("shell.list");
  EXPECT_EQ(at(list, "shells.0.shell"), one);
  EXPECT_EQ(at(list, "shells.1.command.1"), "-c");
  done("shell.close", R"({"shell":")" + one + "\"}");
  EXPECT_EQ(at(done("shell.list"), "shells.1"), "no element 1");
  EXPECT_EQ(refused("shell.read", R"({"shell":")" + one + "\"}").code(), Code::not_found);
}

TEST_F(WorkspaceShells, whoever_comes_back_reads_exactly_the_rest) {
  const std::string shell =
      open(R"({"command":["/bin/sh","-c","stty raw; i=0; while [ $i -lt 3000 ]; )"
           R"(do echo line $i; i=$((i+1)); done"]})");
  std::string all;
  std::uint64_t offset = 0;
  // Many short reads while it writes.
  EXPECT_TRUE(run_until([&] {
    all += read(shell, offset);
    return at(read_part(shell, offset), "exit") != "null";
  }));
  all += read(shell, offset);
  std::uint64_t from_start = 0;
  EXPECT_EQ(all, read(shell, from_start));
  EXPECT_NE(all.find("line 0\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("line 2999\n"));
  EXPECT_EQ(refused("shell.read", R"({"shell":")" + shell + R"(","offset":99999999})").code(),
            Code::invalid_argument);
}

TEST_F(WorkspaceShells, P7_endless_output_overwrites_the_oldest_and_says_how_much) {
  const std::string shell = open(
      R"({"command":["/bin/sh","-c","stty raw; yes 0123456789 | head -c 3000000; printf END"]})");
  ASSERT_TRUE(wait_for_exit(shell));
  const std::string part = read_part(shell, 10);
  const std::uint64_t offset = std::stoull(at(part, "offset"));
  EXPECT_EQ(std::stoull(at(part, "output_end")) - offset, shell_scrollback_bytes_max);
  EXPECT_EQ(std::stoull(at(part, "lost_bytes")), offset - 10);
  std::uint64_t at_offset = offset;
  const std::string kept = read(shell, at_offset);
  EXPECT_EQ(kept.size(), shell_scrollback_bytes_max);
  EXPECT_TRUE(kept.ends_with("END"));
}

TEST_F(WorkspaceShells, the_exit_is_kept_until_closed) {
  const std::string code = open(R"({"command":["/bin/sh","-c","exit 7"]})");
  const std::string signal = open(R"({"command":["/bin/sh","-c","kill -9 $$"]})");
  ASSERT_TRUE(wait_for_exit(code) && wait_for_exit(signal));
  EXPECT_EQ(at(read_part(code, 0), "exit.code"), "7");
  EXPECT_EQ(at(done("shell.list"), "shells.1.exit.signal"), "9");
  EXPECT_EQ(refused("shell.input", R"({"shell":")" + code + R"(","text":"x"})").code(),
            Code::conflict);
}

TEST_F(WorkspaceShells, closing_ends_the_whole_group) {
  const std::string shell =
      open(R"({"command":["/bin/sh","-c","sleep 1000 & echo pid $!; wait"]})");
  ASSERT_TRUE(wait_for(shell, "pid "));
  std::uint64_t offset = 0;
  ASSERT_TRUE(run_until([&] {
    offset = 0;
    return read(shell, offset).find('\n') != std::string::npos;
  }));
  offset = 0;
  const int pid = std::stoi(read(shell, offset).substr(4));
  ASSERT_EQ(::kill(pid, 0), 0);
  done("shell.close", R"({"shell":")" + shell + "\"}");
  // Gone, or a zombie that its new parent has not reaped yet.
  EXPECT_TRUE(run_until([&] {
    const std::string stat = get("/proc/" + std::to_string(pid) + "/stat");
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  }));
}

TEST_F(WorkspaceShells, news_are_told_once_until_read) {
  int told = 0;
  workspace_->set_on_shell_news([&](ShellId) { ++told; });
  const std::string shell =
      open(R"({"command":["/bin/sh","-c","echo a; read x; echo b; read x"]})");
  ASSERT_TRUE(run_until([&] { return told == 1; }));
  type(shell, "\n");
  ASSERT_TRUE(wait_for(shell, "b"));
  EXPECT_LE(told, 3);
  const int before = told;
  std::uint64_t offset = 0;
  read(shell, offset);
  type(shell, "\n");
  ASSERT_TRUE(run_until([&] { return told > before; }));
}

TEST_F(WorkspaceShells, bad_calls_open_nothing) {
  fs::create_symlink("/", root_ / "out");
  EXPECT_EQ(refused("shell.open", R"({"cwd":"out"})").code(), Code::conflict);
  EXPECT_EQ(refused("shell.open", R"({"cwd":"none"})").code(), Code::not_found);
  EXPECT_EQ(refused("shell.open", R"({"cwd":"../x"})").code(), Code::invalid_argument);
  EXPECT_EQ(refused("shell.open", R"({"columns":0})").code(), Code::invalid_argument);
  EXPECT_EQ(refused("shell.open", R"({"environment":["=x"]})").code(), Code::invalid_argument);
  EXPECT_EQ(refused("shell.open", R"({"command":["/no/such/program"]})").code(), Code::not_found);
  EXPECT_EQ(refused("shell.read", R"({"shell":"sh_x"})").code(), Code::invalid_argument);
  EXPECT_EQ(at(done("shell.list"), "shells"), "[]");
  for (std::size_t i = 0; i < shells_max; ++i) open(R"({"command":["/bin/cat"]})");
  EXPECT_EQ(refused("shell.open", "{}").code(), Code::limit_reached);
}

TEST_F(WorkspaceShells, input_that_is_not_read_is_bounded) {
  const std::string shell =
      open(R"({"command":["/bin/sh","-c","stty raw -echo; echo up; sleep 1000"]})");
  ASSERT_TRUE(wait_for(shell, "up"));
  const std::string block =
      R"({"shell":")" + shell + R"(","text":")" + std::string(300'000, 'x') + "\"}";
  Result<std::string> last = std::string();
  for (int i = 0; i < 10 && last; ++i) last = call("shell.input", block);
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code(), Code::limit_reached);
}

}  // namespace
}  // namespace perdure::test
