// The workspace beside the agent: requests of an agent to its client, and shells that outlive the
// daemon that opened them.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fixture.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

class WorkspaceLink : public Agentctl {
 protected:
  // The value after `"name":` in an object, up to the next delimiter.
  static std::string member(const std::string& json, const std::string& name) {
    const std::size_t at = json.find("\"" + name + "\":");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 3;
    return json.substr(begin, json.find_first_of(",}", begin) - begin);
  }
  // Reads from the offset until the text appears.
  std::string read_until(Driver& driver, const std::string& offset, const std::string& text) {
    std::string got;
    driver.until([&] {
      got = call(driver, "shell.read", R"({"shell":"sh_1","offset":)" + offset + "}");
      return got.find(text) != std::string::npos;
    });
    return got;
  }
};

TEST_F(WorkspaceLink, files_and_terminals_are_refused_unless_the_launch_offers_them) {
  std::ofstream(work("hello.txt")) << "hello\n";
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const std::string path = "{\"path\":\"" + work("hello.txt") + "\"}";
  ASSERT_TRUE(driver.run("call fs/read_text_file " + path));
  ASSERT_TRUE(driver.run("call terminal/create {\"command\":\"true\"}"));
  EXPECT_THAT(driver.text(), Not(HasSubstr("hello\\n")));
  EXPECT_THAT(driver.text(), HasSubstr("<p1:1>error"));
  EXPECT_THAT(driver.text(), HasSubstr("<p2:1>error"));
  EXPECT_THAT(driver.text(), HasSubstr("-32601"));
}

TEST_F(WorkspaceLink, files_and_terminals_are_served_where_the_launch_offers_them) {
  std::ofstream(work("hello.txt")) << "hello\n";
  DriverSetup with = setup();
  with.adjust = [](Bootstrap& bootstrap) {
    bootstrap.agent.fs = true;
    bootstrap.agent.terminal = true;
  };
  record(with);
  Driver& driver = begin(std::move(with));
  ASSERT_TRUE(driver.open_session());
  ASSERT_EQ(told(R"("readTextFile":true)").size(), 1U) << "offered in initialize";
  ASSERT_TRUE(driver.run("call fs/read_text_file {\"path\":\"" + work("hello.txt") + "\"}"));
  EXPECT_THAT(driver.text(), HasSubstr(R"({"content":"hello\n"})"));
  ASSERT_TRUE(driver.run("call fs/write_text_file {\"path\":\"" + work("new.txt") +
                         "\",\"content\":\"made\"}"));
  EXPECT_EQ(read_whole(work("new.txt")), "made");
  ASSERT_TRUE(driver.run("call fs/read_text_file {\"path\":\"/etc/hostname\"}"));
  EXPECT_THAT(driver.text(), HasSubstr("<p3:1>error")) << "outside of the workspace";
  ASSERT_TRUE(driver.run(R"(call terminal/create {"command":"echo","args":["from a terminal"]})"));
  const std::string id = member(driver.text(), "terminalId");
  ASSERT_NE(id, "");
  ASSERT_TRUE(driver.run("call terminal/wait_for_exit {\"terminalId\":" + id + "}"));
  ASSERT_TRUE(driver.run("call terminal/output {\"terminalId\":" + id + "}"));
  EXPECT_THAT(driver.text(), HasSubstr("from a terminal"));
  EXPECT_THAT(driver.text(), HasSubstr("\"exitCode\":0"));
}

TEST_F(WorkspaceLink, L24_a_shell_outlives_the_daemon_and_is_read_on_from_an_offset) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  ASSERT_EQ(call(driver, "shell.open", R"({"command":["/bin/sh"]})"), R"({"shell":"sh_1"})");
  ASSERT_EQ(call(driver, "shell.input", R"({"shell":"sh_1","text":"echo one$((1+1))\n"})"), "{}");
  ASSERT_TRUE(driver.until([&] { return !driver.shell_news.empty(); }));
  EXPECT_EQ(driver.shell_news.front(), "sh_1");
  const std::string got = read_until(driver, "0", "one2");
  ASSERT_THAT(got, HasSubstr("one2"));
  const std::string offset = member(got, "next_offset");
  ASSERT_NE(offset, "");
  // It continues while no daemon is attached.
  ASSERT_EQ(call(driver, "shell.input", R"({"shell":"sh_1","text":"sleep 0.2; echo t$((3+4))\n"})"),
            "{}");
  const FrameNo last = driver.frames.back().number;
  driver_ = std::make_unique<Driver>(setup());
  driver_->execution().attach(2, last);
  ASSERT_TRUE(driver_->until([&] { return !driver_->attaches.empty(); }));
  const std::string rest = read_until(*driver_, offset, "t7");
  EXPECT_THAT(rest, HasSubstr("t7"));
  EXPECT_THAT(rest, Not(HasSubstr("one2")));
  EXPECT_EQ(member(rest, "lost_bytes"), "0");
  EXPECT_EQ(call(*driver_, "shell.close", R"({"shell":"sh_1"})"), "{}");
  EXPECT_EQ(call(*driver_, "shell.read", R"({"shell":"sh_1"})"), "error: not_found");
}

TEST_F(WorkspaceLink, PROC6_a_shell_and_its_children_end_with_the_execution) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  ASSERT_EQ(call(driver, "shell.open", R"({"command":["/bin/sh"]})"), R"({"shell":"sh_1"})");
  call(driver, "shell.input",
       R"({"shell":"sh_1","text":"setsid sleep 1000 & sleep 1001 & echo up$((1+1))\n"})");
  ASSERT_THAT(read_until(driver, "0", "up2"), HasSubstr("up2"));
  // A process in the middle of its exec briefly has no environment.
  EXPECT_TRUE(driver.until([&] { return exec_processes(driver).size() >= 4; }));
  stop(driver);
  EXPECT_TRUE(exec_processes(driver).empty());
}

TEST_F(WorkspaceLink, bad_calls_are_errors_that_change_nothing) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.until([&] { return !driver.attaches.empty(); }));
  EXPECT_EQ(call(driver, "no.such_call", "{}"), "error: invalid_argument");
  EXPECT_EQ(call(driver, "fs.read", R"({"path":"../outside"})"), "error: invalid_argument");
  EXPECT_EQ(call(driver, "fs.read", R"({"path":7})"), "error: invalid_argument");
  EXPECT_EQ(call(driver, "shell.read", R"({"shell":"sh_9"})"), "error: not_found");
  EXPECT_EQ(driver.detaches, 0U);
}

}  // namespace
}  // namespace perdure
