// The journal made from a session: complete, chained, reproducible, and explicit about losses.
#include "adopt/import_form.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/json_view.h"
#include "core/wire/journal/record.h"

namespace perdure::adopt {
namespace {

NativeSession sample() {
  NativeSession session;
  session.id = "native-1";
  session.cwd = "/ws/project";
  session.title = "First";
  session.turns.push_back({.at = {1000},
                           .prompt = "First",
                           .pieces = {{.kind = PieceKind::tool_call,
                                       .at = {2000},
                                       .text = {},
                                       .tool_call_id = "t1",
                                       .tool = "Bash",
                                       .input = "ls"},
                                      {.kind = PieceKind::text, .at = {1500}, .text = "done"}},
                           .end = TurnEnd::completed,
                           .why = {}});
  session.turns.push_back({.at = {3000}, .prompt = "Second", .pieces = {}, .why = {}});
  return session;
}

std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> out;
  constexpr std::string_view begin = "{\"record\":";
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t end = file.find('\n', at);
    const std::string_view line = std::string_view(file).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(begin)) continue;
    out.emplace_back(line.substr(begin.size(), line.size() - begin.size() - 1));
  }
  return out;
}

std::vector<std::string> kinds_of(const std::string& file) {
  std::vector<std::string> out;
  for (const std::string& record : records_of(file)) {
    out.push_back(JsonView(record)["kind"].text());
  }
  return out;
}

TEST(ImportForm, a_session_becomes_a_chained_journal) {
  const std::string file = make_import(sample(), {.agent = "claude", .file = "/f", .bytes = 9});
  EXPECT_TRUE(verify_chain(records_of(file)));
  const std::vector<std::string> expected = {
      "session.created", "context.boundary", "run.started",        "message.user",
      "tool.call",       "message.agent",    "repair.closed_tool", "run.completed",
      "run.started",     "message.user",     "session.adopted",    "agent.exited"};
  EXPECT_EQ(kinds_of(file), expected);
  EXPECT_EQ(JsonView(records_of(file)[1])["agent_session_id"].text(), "native-1");
  EXPECT_EQ(JsonView(records_of(file)[10])["turns"].number(), 2u);
}

TEST(ImportForm, the_same_session_gives_the_same_bytes_and_another_one_other_ids) {
  const Provenance from{.agent = "claude", .file = "/f", .bytes = 9};
  EXPECT_EQ(make_import(sample(), from), make_import(sample(), from));
  NativeSession other = sample();
  other.id = "native-2";
  const std::vector<std::string> one = records_of(make_import(sample(), from));
  const std::vector<std::string> two = records_of(make_import(other, from));
  EXPECT_NE(JsonView(one[0])["session_id"].text(), JsonView(two[0])["session_id"].text());
  EXPECT_NE(JsonView(one[2])["run_id"].text(), JsonView(two[2])["run_id"].text());
}

TEST(ImportForm, times_never_go_back) {
  const std::string file = make_import(sample(), {.agent = "claude", .file = "/f", .bytes = 9});
  std::string last;
  for (const std::string& record : records_of(file)) {
    const std::string at = JsonView(record)["ts"].text();
    EXPECT_LE(last, at);
    last = at;
  }
}

TEST(ImportForm, what_could_not_be_read_is_on_record) {
  NativeSession session = sample();
  session.loss = {.lines = 3, .why = "line 7 is damaged"};
  const std::string file = make_import(session, {.agent = "codex", .file = "/f", .bytes = 9});
  const std::vector<std::string> records = records_of(file);
  const auto at = std::ranges::find_if(records, [](const std::string& record) {
    return JsonView(record)["kind"].text() == "repair.truncated";
  });
  ASSERT_NE(at, records.end());
  EXPECT_EQ(JsonView(*at)["records_lost"].number(), 3u);
  EXPECT_EQ(JsonView(*at)["why"].text(), "line 7 is damaged");
}

}  // namespace
}  // namespace perdure::adopt
