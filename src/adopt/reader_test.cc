// The readers against files written by the real programs (tests/golden/adopt, shortened): complete,
// cut and damaged.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "adopt/native_session.h"

namespace perdure::adopt {
namespace {

using Reader = Result<NativeSession> (*)(const NativeFile&);

struct Case {
  const char* program;
  Reader read;
  const char* name;  // of the file in the program's folder
  const char* id;
  const char* tool;
  bool talks_before_tool;
};

const Case cases[] = {
    {"claude", read_claude, "35998373-b61c-4987-b823-beca965a2a9b.jsonl",
     "35998373-b61c-4987-b823-beca965a2a9b", "Bash", true},
    {"codex", read_codex, "rollout-x.jsonl", "01a1e1fc-5961-7183-9831-73786cf97c7c", "exec_command",
     false},
    {"gemini", read_gemini, "session-x.jsonl", "2f6f5740-772f-42da-99ef-4e39a5e18b1e",
     "run_shell_command", true},
    {"qwen", read_qwen, "x.jsonl", "4d1117f1-e19e-4bda-a90b-d1d18e2d2b85", "run_shell_command",
     true},
    {"copilot", read_copilot, "events.jsonl", "15b7794f-b071-4218-9f41-2a9878c7a322", "bash", true},
    {"opencode", read_opencode, "", "ses_e1e00b74effeceFZyowZlIQ5Xt", "bash", true},
};

std::string golden(const char* program) {
  std::ifstream in(std::string(PERDURE_SOURCE_DIR "/tests/golden/adopt/") + program + ".jsonl");
  return {std::istreambuf_iterator<char>(in), {}};
}

NativeFile file_of(const Case& c, const std::string& bytes) {
  return {.bytes = bytes, .name = c.name, .cwd = "/ws/project"};
}

std::string kinds(const Turn& turn) {
  std::string out;
  for (const Piece& piece : turn.pieces) out += "txcro"[static_cast<int>(piece.kind)];
  return out;  // t text, x thought, c call, r result
}

TEST(AdoptReaders, every_program_s_file_gives_its_turns) {
  for (const Case& c : cases) {
    const std::string bytes = golden(c.program);
    const auto read = c.read(file_of(c, bytes));
    ASSERT_TRUE(read) << c.program << ": " << read.error().message();
    EXPECT_EQ(read->id, c.id) << c.program;
    EXPECT_EQ(read->cwd, "/ws/project") << c.program;
    EXPECT_EQ(read->loss, Loss{}) << c.program;
    ASSERT_EQ(read->turns.size(), 2u) << c.program;
    const Turn& first = read->turns[0];
    EXPECT_EQ(first.prompt, "Say hello with a command") << c.program;
    EXPECT_EQ(kinds(first), c.talks_before_tool ? "xtcrt" : "xcrt") << c.program;
    EXPECT_EQ(first.end, TurnEnd::completed) << c.program;
    const Piece& call = first.pieces[c.talks_before_tool ? 2 : 1];
    EXPECT_EQ(call.tool, c.tool);
    EXPECT_EQ(call.input, "echo hello-tool") << c.program;
    const Piece& result = first.pieces[c.talks_before_tool ? 3 : 2];
    EXPECT_EQ(result.tool_call_id, call.tool_call_id) << c.program;
    EXPECT_NE(result.text.find("hello-tool"), std::string::npos) << c.program;
    EXPECT_FALSE(result.has_failed) << c.program;
    EXPECT_EQ(read->turns[1].prompt, "And a second question") << c.program;
    EXPECT_EQ(kinds(read->turns[1]), "t") << c.program;
    EXPECT_EQ(format_timestamp(read->first()).substr(0, 13), "2026-11-16T01") << c.program;
    EXPECT_LE(read->first(), read->last()) << c.program;
  }
}

TEST(AdoptReaders, no_reader_takes_another_program_s_file) {
  for (const Case& c : cases) {
    for (const Case& other : cases) {
      if (c.program == other.program) continue;
      const std::string bytes = golden(other.program);
      const auto read = c.read(file_of(c, bytes));
      EXPECT_TRUE(!read || read->turns.empty()) << c.program << " took " << other.program;
    }
  }
}

TEST(AdoptReaders, a_file_cut_anywhere_gives_what_is_before_the_cut) {
  for (const Case& c : cases) {
    const std::string bytes = golden(c.program);
    std::size_t turns_before = 0;
    for (std::size_t end = 0; end <= bytes.size(); end += 97) {
      const std::string part = bytes.substr(0, end);
      const auto read = c.read(file_of(c, part));
      if (!read) continue;
      EXPECT_GE(read->turns.size(), turns_before) << c.program << " cut at " << end;
      turns_before = read->turns.size();
      // A cut within a line loses at most that line.
      EXPECT_LE(read->loss.lines, part.ends_with('\n') ? 0u : 1u) << c.program;
    }
    EXPECT_EQ(turns_before, 2u) << c.program;
    const std::string torn = bytes.substr(0, bytes.size() - 5);
    const auto read = c.read(file_of(c, torn));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->loss.lines, 1u) << c.program;
    EXPECT_NE(read->loss.why.find("was cut off"), std::string::npos) << read->loss.why;
  }
}

TEST(AdoptReaders, a_damaged_line_is_left_out_and_counted) {
  for (const Case& c : cases) {
    std::string bytes = golden(c.program);
    const std::size_t at = bytes.find("Say hello with a command");
    const std::size_t line = bytes.rfind('\n', at) + 1;
    bytes[line] = '\0';
    const auto read = c.read(file_of(c, bytes));
    ASSERT_TRUE(read) << c.program;
    EXPECT_EQ(read->loss.lines, 1u) << c.program;
    EXPECT_NE(read->loss.why.find("is damaged"), std::string::npos) << read->loss.why;
    EXPECT_EQ(read->turns.back().prompt, "And a second question") << c.program;
  }
}

TEST(AdoptReaders, an_unanswered_prompt_and_an_open_tool_leave_the_turn_open) {
  const std::string bytes = golden("claude");
  const std::size_t result = bytes.find("tool_result");
  const std::string part = bytes.substr(0, bytes.rfind('\n', result) + 1);
  const auto read = read_claude({.bytes = part, .name = "x.jsonl", .cwd = {}});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->turns.size(), 1u);
  EXPECT_EQ(read->turns[0].end, TurnEnd::open);
  EXPECT_EQ(kinds(read->turns[0]), "xtc");
}

TEST(AdoptReaders, gemini_rewinds_and_replaces) {
  const std::string bytes =
      R"({"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","kind":"main"})"
      "\n"
      R"({"id":"1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":"one"})"
      "\n"
      R"({"id":"2","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"half"})"
      "\n"
      R"({"id":"2","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"whole"})"
      "\n"
      R"({"id":"3","timestamp":"2026-01-01T00:00:03.000Z","type":"user","content":"wrong"})"
      "\n"
      R"({"$rewindTo":"3"})"
      "\n"
      R"({"id":"4","timestamp":"2026-01-01T00:00:04.000Z","type":"user","content":"right"})"
      "\n";
  const auto read = read_gemini({.bytes = bytes, .name = "session-1.jsonl", .cwd = "/p"});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->turns.size(), 2u);
  ASSERT_EQ(read->turns[0].pieces.size(), 1u);
  EXPECT_EQ(read->turns[0].pieces[0].text, "whole");
  EXPECT_EQ(read->turns[1].prompt, "right");
}

TEST(AdoptReaders, gemini_reads_the_older_whole_document) {
  const std::string bytes =
      R"({"sessionId":"s1","startTime":"2026-01-01T00:00:00.000Z","messages":[)"
      R"({"id":"1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":"one"},)"
      R"({"id":"2","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"yes"}]})";
  const auto read = read_gemini({.bytes = bytes, .name = "session-1.json", .cwd = "/p"});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->turns.size(), 1u);
  EXPECT_EQ(read->turns[0].end, TurnEnd::completed);
}

std::string claude_line(const std::string& type, const std::string& more) {
  return R"({"type":")" + type +
         R"(","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:01.000Z",)" + more + "}\n";
}

TEST(AdoptReaders, claude_leaves_out_what_no_person_typed) {
  const std::string say = R"("message":{"role":"user","content":")";
  const std::string bytes =
      claude_line("user", R"("isMeta":true,)" + say + R"(Caveat"})") +
      claude_line("user", say + R"(<command-name>/clear</command-name>"})") +
      claude_line("user", R"("isSidechain":true,)" + say + R"(for a subagent"})") +
      claude_line("user", R"("isCompactSummary":true,)" + say + R"(what was before"})") +
      claude_line("user", say + R"(typed"})") +
      claude_line("user", say + R"([Request interrupted by user]"})") +
      R"({"type":"custom-title","customTitle":"My title","sessionId":"s"})"
      "\n";
  const auto read = read_claude({.bytes = bytes, .name = "s.jsonl", .cwd = {}});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->turns.size(), 1u);
  EXPECT_EQ(read->turns[0].prompt, "typed");
  EXPECT_EQ(read->turns[0].end, TurnEnd::cancelled);
  EXPECT_EQ(read->title, "My title");
}

}  // namespace
}  // namespace perdure::adopt
