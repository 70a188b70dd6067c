// Tool output in pieces, from the agent's bytes to the client: each piece is its own record, and
// the transcript shows them joined, now and after a restart.
#include <gtest/gtest.h>

#include "daemon_test.h"

namespace perdure {
namespace {

class ToolOutput : public DaemonTest {
 protected:
  // The pieces of one turn in the journal.
  std::string pieces_of(const std::string& session) {
    std::string joined;
    for (const std::string& record : client_->records(session)) {
      if (json_at(record, "kind") != "tool.update") continue;
      joined += json_at(record, "added");
      EXPECT_EQ(json_at(record, "text"), "") << "a piece takes nothing's place: " << record;
    }
    return joined;
  }
  std::vector<std::string> results_of(const std::string& session) {
    std::vector<std::string> contents;
    const ApiReply reply = client_->get("/api/sessions/" + session + "/transcript");
    for (const std::string& message : json_list(reply.body, "messages")) {
      if (json_at(message, "role") == "tool_result")
        contents.push_back(json_at(message, "content"));
    }
    return contents;
  }
  // `form` names the fields that the agent's own updates have in this format.
  void expect_pieces_joined(const std::vector<std::string>& form) {
    const std::string session = client_->create_session({});
    ASSERT_TRUE(client_->prompt({.session = session, .text = "output 4; say 1"}).ok());
    ASSERT_TRUE(until_count(session, "run.completed", 1));
    const std::string whole = "<p1:o1>line\n<p1:o2>line\n<p1:o3>line\n<p1:o4>line\n";
    EXPECT_EQ(pieces_of(session), whole);
    EXPECT_EQ(results_of(session), std::vector<std::string>{whole});
    for (const std::string& name : form) {
      EXPECT_NE(client_->get("/api/sessions/" + session + "/events").body.find(name),
                std::string::npos)
          << name;
    }
    daemon_->kill_daemon();
    const Result<> again = daemon_->start();
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(results_of(session), std::vector<std::string>{whole});
  }
};

TEST_F(ToolOutput, A24_pieces_beside_updates_as_codex_sends_them_reach_the_transcript) {
  begin();
  expect_pieces_joined({"terminal_output_delta"});
}

TEST_F(ToolOutput, A24_pieces_of_version_2_as_content_and_as_terminal_reach_the_transcript) {
  begin({.agents = {{.switches = {"protocol=2"}}}, .agent_lines = "protocol_version = 2\n"});
  expect_pieces_joined({"tool_call_content_chunk", "terminal_output_chunk"});
}

}  // namespace
}  // namespace perdure
