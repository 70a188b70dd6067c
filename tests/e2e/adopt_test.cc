// Sessions that an agent's own program left on disk: found, adopted once, read, and continued. The
// scripted agent stands in for the program.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "daemon_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr const char* native_id = "35998373-b61c-4987-b823-beca965a2a9b";

class Adopt : public DaemonTest {
 protected:
  void SetUp() override {
    begin({.agents = {TestAgentSetup{.name = "claude"}}});
    if (HasFatalFailure()) return;
    project_ = daemon_->folder() + "/project";
    fs::create_directory(project_);
    fs::create_directories(folder());
  }
  std::string claude_home() const { return daemon_->folder() + "/claude-home"; }
  std::string folder() const { return claude_home() + "/projects/-ws-project"; }
  std::string file_of(const std::string& id) const { return folder() + "/" + id + ".jsonl"; }

  // A file written by the real program, with a folder that exists here.
  std::string native_text() const {
    std::string text = read_text(PERDURE_E2E "/../golden/adopt/claude.jsonl");
    const std::string from = "/ws/project";
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      text.replace(at, from.size(), project_);
    }
    return text;
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  // Prints one line of JSON per session.
  ProgramRun adopt(std::vector<std::string> words) {
    std::vector<std::string> all = {daemon_->setup().program, "adopt", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<std::string> environment = daemon_->environment();
    environment.push_back("CLAUDE_CONFIG_DIR=" + claude_home());
    return run_program(all, environment);
  }
  std::size_t sessions() {
    const std::string list = client_->get("/api/sessions").body;
    std::size_t count = 0;
    for (std::size_t at = list.find("\"session_id\""); at != std::string::npos;
         at = list.find("\"session_id\"", at + 1)) {
      ++count;
    }
    return count;
  }
  std::string record(const std::string& session, std::string_view kind) {
    std::string last;
    for (const std::string& each : client_->records(session)) {
      if (json_at(each, "kind") == kind) last = each;
    }
    return last;
  }

  std::string project_;
};

TEST_F(Adopt, a_session_is_listed_adopted_once_and_goes_on_with_its_history) {
  write(file_of(native_id), native_text());
  const ProgramRun listed = adopt({});
  ASSERT_EQ(listed.exit_code, 0) << listed.output;
  EXPECT_EQ(json_at(listed.output, "agent"), "claude") << listed.output;
  EXPECT_EQ(json_at(listed.output, "agent_session_id"), native_id);
  EXPECT_EQ(json_at(listed.output, "turns"), "2");
  EXPECT_EQ(json_at(listed.output, "session_id"), "null");
  EXPECT_EQ(adopt({"--all", "--dry-run"}).exit_code, 0);
  EXPECT_EQ(sessions(), 0u) << "looking adopts nothing";

  const ProgramRun adopted = adopt({"--all"});
  ASSERT_EQ(adopted.exit_code, 0) << adopted.output;
  EXPECT_EQ(json_at(adopted.output, "adopted"), "true") << adopted.output;
  const std::string session = json_at(adopted.output, "session_id");
  EXPECT_EQ(sessions(), 1u);
  EXPECT_EQ(field(session, "title"), "Say hello with a command");
  EXPECT_EQ(field(session, "cwd"), project_);
  EXPECT_EQ(field(session, "status"), "idle");
  EXPECT_EQ(field(session, "is_resumable"), "true");
  EXPECT_EQ(field(session, "agent_session_id"), native_id);
  const std::string transcript = client_->get("/api/sessions/" + session + "/transcript").body;
  for (const char* words : {"I look first.", "hello-tool", "And a second question"}) {
    EXPECT_NE(transcript.find(words), std::string::npos) << words << " in " << transcript;
  }

  const std::size_t records = client_->records(session).size();
  const ProgramRun again = adopt({"--all"});
  EXPECT_EQ(json_at(again.output, "adopted"), "false") << again.output;
  EXPECT_EQ(json_at(again.output, "session_id"), session);
  EXPECT_EQ(sessions(), 1u);
  EXPECT_EQ(client_->records(session).size(), records);

  // This agent does not know the session: the ladder tries it, and then sends the history.
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 3));
  EXPECT_EQ(json_at(record(session, "context.attempt"), "failure"), "session_unknown");
  EXPECT_EQ(json_at(record(session, "context.boundary"), "how"), "injected");
  const std::string injected = record(session, "context.injected");
  EXPECT_NE(injected.find("And a second question"), std::string::npos) << injected;
}

TEST_F(Adopt, a_session_that_the_agent_still_has_is_restored_by_its_own_id) {
  // Stands in for a session left by the agent's own program.
  const std::string before =
      client_->create_session({.agent = "claude", .more = R"("cwd":")" + project_ + "\""});
  ASSERT_TRUE(client_->prompt({.session = before, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(before, "run.completed", 1));
  const std::string id = field(before, "agent_session_id");
  ASSERT_TRUE(client_->post("/api/sessions/" + before + "/stop").ok());
  ASSERT_TRUE(until_count(before, "executor.stopped", 1));
  write(file_of(id), native_text());

  const ProgramRun adopted = adopt({id});
  ASSERT_EQ(adopted.exit_code, 0) << adopted.output;
  const std::string session = json_at(adopted.output, "session_id");
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 3));
  const std::string boundary = record(session, "context.boundary");
  EXPECT_EQ(json_at(boundary, "how"), "native_resume") << boundary;
  EXPECT_EQ(json_at(boundary, "agent_session_id"), id);
  EXPECT_EQ(client_->count(session, "context.injected"), 0u);
}

TEST_F(Adopt, a_longer_file_is_said_and_not_doubled) {
  const std::string text = native_text();
  // Only its first turn, then all of it.
  write(file_of(native_id),
        text.substr(0, text.rfind('\n', text.find("And a second question")) + 1));
  const std::string session = json_at(adopt({"--all"}).output, "session_id");
  ASSERT_FALSE(session.empty());
  const std::size_t records = client_->records(session).size();
  write(file_of(native_id), text);
  const ProgramRun again = adopt({"--all"});
  EXPECT_EQ(json_at(again.output, "session_id"), session) << again.output;
  EXPECT_EQ(json_at(again.output, "turns_new"), "1");
  EXPECT_EQ(json_at(again.output, "adopted"), "false");
  EXPECT_EQ(client_->records(session).size(), records);
  EXPECT_EQ(sessions(), 1u);
}

TEST_F(Adopt, a_damaged_tail_is_adopted_up_to_it_and_noted) {
  const std::string text = native_text();
  const std::size_t result = text.find("tool_result");
  write(file_of(native_id), text.substr(0, result));
  const std::string session = json_at(adopt({"--all"}).output, "session_id");
  ASSERT_FALSE(session.empty());
  EXPECT_EQ(json_at(record(session, "repair.truncated"), "records_lost"), "1");
  EXPECT_NE(json_at(record(session, "repair.truncated"), "why").find("cut off"), std::string::npos);
  EXPECT_EQ(json_at(record(session, "repair.closed_tool"), "outcome"), "unknown");
  EXPECT_EQ(client_->count(session, "run.interrupted"), 1u);
  EXPECT_EQ(field(session, "status"), "idle");
}

TEST_F(Adopt, files_are_only_read_and_links_not_followed) {
  const std::string text = native_text();
  write(file_of(native_id), text);
  const std::string elsewhere = daemon_->folder() + "/elsewhere";
  fs::create_directory(elsewhere);
  write(elsewhere + "/11111111-b61c-4987-b823-beca965a2a9b.jsonl", text);
  fs::create_directory_symlink(elsewhere, claude_home() + "/projects/link");
  fs::create_symlink(elsewhere + "/11111111-b61c-4987-b823-beca965a2a9b.jsonl",
                     folder() + "/22222222-b61c-4987-b823-beca965a2a9b.jsonl");
  const auto written = fs::last_write_time(file_of(native_id));
  ASSERT_EQ(adopt({"--all"}).exit_code, 0);
  EXPECT_EQ(sessions(), 1u);
  EXPECT_EQ(read_text(file_of(native_id)), text);
  EXPECT_EQ(fs::last_write_time(file_of(native_id)), written);
  // A named file is adopted even from elsewhere.
  const ProgramRun named = adopt({elsewhere + "/11111111-b61c-4987-b823-beca965a2a9b.jsonl"});
  EXPECT_EQ(named.exit_code, 0) << named.output;
  EXPECT_EQ(sessions(), 2u);
}

}  // namespace
}  // namespace perdure
